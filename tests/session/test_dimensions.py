"""Laws of the dimension view: what files say can be asked, and follows the files."""

from __future__ import annotations

import hashlib

import pytest
from tests.packages.package_maker import Maker

from uaix_core import Authorisation, NotFoundError, Session
from uaix_core.schema.commits import Commit

ID = "made-by-code"
PERSONA = ".uai/persona.uai"
VOICE = ".uai/personality/voice.uai"


def persona(name: str, package_id: str = ID, more: str = "") -> Maker:
    """A persona package with this name; ``more`` are further lines."""
    maker = Maker("persona_profile")
    maker.manifest["packageId"] = package_id
    body = f"name: {name}\nvoice: calm\n{more}".encode()
    maker.files[PERSONA] = body
    maker.entry(PERSONA).update(
        sizeBytes=len(body), sha256=hashlib.sha256(body).hexdigest()
    )
    return maker


def said(session: Session, field: str, package_id: str = ID) -> list[str]:
    """The values of one field."""
    rows = session.packages.dimensions(package_id, field=field)
    return [row.value for row in rows]


def test_fields_are_asked_by_name(session: Session) -> None:
    """Each labelled field is a row with its value as said, none and mixed too."""
    session.packages.install(
        persona("Ada", more="religion: none\nvalues: mixed\n").archive()
    )

    assert ["Ada"] == said(session, "name")
    assert ["none"] == said(session, "religion")
    assert ["mixed"] == said(session, "values")
    assert [] == said(session, "politics")


@pytest.mark.every_backend
def test_fields_page_in_order(session: Session) -> None:
    """Pages of fields join to all of them, each once."""
    more = "".join(f"field {i}: {i}\n" for i in range(5))
    session.packages.install(persona("Ada", more=more).archive())
    every = session.packages.dimensions(ID, limit=1_000)

    found, after = [], None
    while page := session.packages.dimensions(ID, after=after, limit=2):
        found += page
        after = (page[-1].record_id, page[-1].ordinal)

    assert len(every) > 5
    assert list(every) == found


def test_fields_follow_an_update(session: Session) -> None:
    """After an update only what the new text says stands."""
    one, two = persona("Ada", more="old: yes\n"), persona("Bo")
    session.packages.install(one.archive())
    base = hashlib.sha256(one.manifest_bytes()).hexdigest()

    session.packages.update(
        two.archive(),
        based_on=base,
        authorisations=[Authorisation(PERSONA, "replace")],
    )

    assert ["Bo"] == said(session, "name")
    assert [] == said(session, "old")


@pytest.mark.every_backend
def test_fields_go_with_an_erased_text(session: Session) -> None:
    """What an erased body said is in no row any more."""
    session.packages.install(persona("Ada").archive())
    revisions = session.packages.history(ID).revisions
    erased = next(r.revision_id for r in revisions if r.path == PERSONA)

    session.store.append(Commit(session.scope, 0, erases=(("revision", (erased,)),)))

    assert [] == said(session, "name")


def test_fields_of_a_missing_package_are_not_found(session: Session) -> None:
    """Asking what isn't there is an error and no empty answer."""
    with pytest.raises(NotFoundError):
        session.packages.dimensions("no-such-package")


@pytest.mark.parametrize(
    ("name", "same"), [("Ada", True), ("ADA", True), (" ada ", True), ("Adah", False)]
)
def test_a_persona_of_the_same_name_is_noticed(
    session: Session, name: str, same: bool
) -> None:
    """Another package with the same persona name is told, and stored all the same."""
    first = session.packages.install(persona("Ada").archive())
    second = session.packages.install(persona(name, "other").archive())

    codes = [finding.code for finding in second.notices]
    assert same == ("package.same-persona" in codes)
    assert "package.same-persona" not in [f.code for f in first.notices]
    assert ["made-by-code", "other"] == [p.package_id for p in session.packages.list()]


def test_registered_texts_have_a_canonical_digest(session: Session) -> None:
    """A text with other line ends has the same canonical digest and other bytes."""
    one = persona("Ada", "one", more="values: truth\n")
    two = persona("Ada", "two", more="values: truth\n")
    body = two.files[PERSONA].replace(b"\n", b"\r\n")
    two.files[PERSONA] = body
    two.entry(PERSONA).update(
        sizeBytes=len(body), sha256=hashlib.sha256(body).hexdigest()
    )
    for maker in (one, two):
        session.packages.install(maker.archive())

    files = [
        next(f for f in session.packages.show(name).files if f.path == PERSONA)
        for name in ("one", "two")
    ]
    assert files[0].sha256 != files[1].sha256
    assert files[0].canonical_sha256 == files[1].canonical_sha256 != ""
