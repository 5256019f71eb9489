from tests.packages.package_maker import X
def test_a():
    """A."""
    assert X
