"""Outbox: changes that were made offline, to be replayed where the package is stored.

An outbox is a text of one command a line. Who writes it can't know the ids that the
store will give, so a command may say that it follows an earlier one of the same box.
Replaying is safe to repeat: a command that was applied answers as the first time.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from uaix_core.packages.anchors import Authorisation
from uaix_core.values.canonical import from_base64url, to_base64url
from uaix_core.values.errors import CallerError
from uaix_core.values.ids import check_id
from uaix_core.values.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from uaix_core.packages.revisions import Revised

FORMAT: Final = "uaix.outbox.v1"
#: The most commands of a box, and its greatest size in bytes.
MAX_COMMANDS: Final = 10_000
MAX_BYTES: Final = 256 * 2**20

_DEPTH: Final = 8
_MEMBERS: Final = frozenset(
    (
        "id",
        "package",
        "path",
        "expected",
        "after",
        "text",
        "base64",
        "tombstone",
        "entry",
        "authorise",
    )
)

#: What became of a command: it was applied now; it had been before; another revision
#: stood; it was refused; or it follows one that came to nothing.
Outcome = Literal["applied", "already", "conflict", "refused", "skipped"]


@attrs.frozen
class QueuedChange:
    """One queued change of one record.

    ``command_id`` names it in its box. ``content`` is None for a tombstone, ``reason``
    says why there is one. ``expected_revision`` is what was seen before, None for a new
    record; ``after`` names the earlier command of the box that it follows instead.
    """

    command_id: str
    package_id: str
    path: str
    content: bytes | None = attrs.field(default=None, repr=False)
    reason: str | None = attrs.field(default=None, repr=False)
    expected_revision: str | None = None
    after: str | None = None
    entry: Mapping[str, Any] | None = None
    authorisations: tuple[Authorisation, ...] = ()


@attrs.frozen
class Replayed:
    """What became of one command.

    ``revised`` is there when it was applied, now or before; else ``code`` says why it
    wasn't, and ``conflict_id`` what keeps it when another revision stood.
    """

    command_id: str
    outcome: Outcome
    revised: Revised | None = None
    code: str | None = None
    conflict_id: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return {
            **attrs.asdict(self, recurse=False),
            "revised": None if self.revised is None else self.revised.as_dict(),
        }


def write_outbox(changes: Iterable[QueuedChange]) -> bytes:
    """The bytes of an outbox with these changes, in their order."""
    lines = [{"format": FORMAT}, *map(_form, changes)]
    return b"".join(
        json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        for line in lines
    )


def _form(change: QueuedChange) -> dict[str, Any]:
    form: dict[str, Any] = {
        "id": change.command_id,
        "package": change.package_id,
        "path": change.path,
    }
    if change.after is not None:
        form["after"] = change.after
    elif change.expected_revision is not None:
        form["expected"] = change.expected_revision
    if change.content is None:
        form["tombstone"] = change.reason or ""
    else:
        form |= _content(change.content)
    if change.entry is not None:
        form["entry"] = dict(change.entry)
    if change.authorisations:
        form["authorise"] = [f"{a.path}:{a.operation}" for a in change.authorisations]
    return form


def _content(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": to_base64url(content)}


def read_outbox(data: bytes) -> list[QueuedChange]:
    """The changes of an outbox, in their order.

    Raises:
        CallerError: ``outbox.format`` when it is none or a line is none, with the
            number of the line; ``outbox.limit`` for more than 10,000 commands or
            256 MiB; ``outbox.repeated`` for a command id that stands twice;
            ``outbox.after`` for one that follows none of the commands before it.

    """
    if len(data) > MAX_BYTES:
        raise CallerError("an outbox is too large", code="outbox.limit", path="outbox")
    first, *rest = data.split(b"\n")
    if _line(first, 1) != {"format": FORMAT}:
        raise _broken(1, "the first line names the format")
    lines = [(number, text) for number, text in enumerate(rest, 2) if text.strip()]
    if len(lines) > MAX_COMMANDS:
        raise CallerError(
            f"an outbox holds at most {MAX_COMMANDS:,} commands",
            code="outbox.limit",
            path="outbox",
        )
    changes: list[QueuedChange] = []
    places: dict[str, tuple[str, str]] = {}
    for number, text in lines:
        change = _change(_line(text, number), number)
        if change.command_id in places:
            raise CallerError(
                "a command id stands twice",
                code="outbox.repeated",
                path=f"line {number}",
            )
        place = change.package_id, change.path
        if change.after is not None and places.get(change.after) != place:
            raise CallerError(
                "a command follows an earlier one about the same file",
                code="outbox.after",
                path=f"line {number}",
            )
        places[change.command_id] = place
        changes.append(change)
    return changes


def _line(text: bytes, number: int) -> dict[str, Any]:
    try:
        form = parse(text.removesuffix(b"\r"), max_depth=_DEPTH)
    except CallerError as error:
        raise _broken(number, f"no strict JSON ({error.code})") from None
    if not isinstance(form, dict):
        raise _broken(number, "no object")
    return form


def _change(form: dict[str, Any], number: int) -> QueuedChange:
    unknown = form.keys() - _MEMBERS
    if unknown:
        raise _broken(number, "a member that isn't known")
    texts = (
        "id",
        "package",
        "path",
        "expected",
        "after",
        "text",
        "base64",
        "tombstone",
    )
    if any(not isinstance(form.get(name, ""), str) for name in texts):
        raise _broken(number, "a member is no text")
    if not {"id", "package", "path"} <= form.keys():
        raise _broken(number, "id, package and path are needed")
    if len({"text", "base64", "tombstone"} & form.keys()) != 1:
        raise _broken(number, "one of text, base64 and tombstone is needed")
    if {"expected", "after"} <= form.keys():
        raise _broken(number, "expected and after exclude each other")
    entry = form.get("entry")
    if entry is not None and not isinstance(entry, dict):
        raise _broken(number, "entry is no object")
    return QueuedChange(
        check_id(form["id"], f"line {number}"),
        form["package"],
        form["path"],
        _bytes(form, number),
        form.get("tombstone"),
        form.get("expected"),
        form.get("after"),
        entry,
        _authorisations(form.get("authorise", []), number),
    )


def _bytes(form: dict[str, Any], number: int) -> bytes | None:
    if "base64" in form:
        try:
            return from_base64url(form["base64"])
        except CallerError:
            raise _broken(number, "base64 isn't base64url without padding") from None
    text = form.get("text")
    return None if text is None else str(text).encode("utf-8")


def _authorisations(named: Any, number: int) -> tuple[Authorisation, ...]:
    if not isinstance(named, list) or not all(isinstance(n, str) for n in named):
        raise _broken(number, "authorise is a list of PATH:OPERATION")
    found = []
    for text in named:
        path, _, operation = text.rpartition(":")
        found.append(Authorisation(path, operation))
    return tuple(found)


def _broken(number: int, why: str) -> CallerError:
    return CallerError(
        f"a line of an outbox can't be read: {why}",
        code="outbox.format",
        path=f"line {number}",
    )
