"""A profile for stores that are broken on purpose: find the fault, don't shrink it."""

from hypothesis import Phase, settings

settings.register_profile(
    "unshrunk", max_examples=60, phases=[Phase.generate], derandomize=True
)
