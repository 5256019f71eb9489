"""Outbox: changes that were made offline, to be replayed where the package is stored.

An outbox is a text of one command a line. Who writes it can't know the ids that the
store will give, so a command may say that it follows an earlier one of the same box.
Replaying is safe to repeat: a command that was applied answers as the first time.

Whoever can write a file could write an authorisation into it, so none counts that a box
carries: those who replay it give their own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from uaix_core.packages.entry_edits import checked_entry
from uaix_core.values.arguments import check_items, check_type
from uaix_core.values.canonical import from_base64url, to_base64url
from uaix_core.values.errors import CallerError
from uaix_core.values.ids import check_id
from uaix_core.values.strict_json import parse
from uaix_core.values.text import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from uaix_core.packages.anchors import Authorisation, ProtectedOperation
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
#: stood; it changes a protected file, and whoever replays didn't authorise that; it
#: was refused; or it follows one that came to nothing.
Outcome = Literal[
    "applied", "already", "conflict", "unauthorised", "refused", "skipped"
]


@attrs.frozen
class QueuedChange:
    """One queued change of one record.

    ``command_id`` names it in its box. ``content`` is None for a tombstone, ``reason``
    says why there is one. ``expected_revision`` is what was seen before, None for a new
    record; ``after`` names the earlier command of the box that it follows instead.
    ``claims_authorisation`` says that the box authorised it by itself, which counts for
    nothing.

    Raises:
        CallerError: ``id.syntax`` for the command, ``input.type``, ``text.type``,
            ``text.not-storable``, ``revise.entry``.

    """

    command_id: str
    package_id: str
    path: str
    content: bytes | None = attrs.field(default=None, repr=False)
    reason: str | None = attrs.field(default=None, repr=False)
    expected_revision: str | None = None
    after: str | None = None
    entry: Mapping[str, Any] | None = attrs.field(default=None, converter=checked_entry)
    claims_authorisation: bool = False

    def __attrs_post_init__(self) -> None:
        check_id(self.command_id, "command_id")
        check_text(self.package_id, "package_id")
        check_text(self.path, "path")
        check_type(self.content, (bytes, type(None)), "content")
        for name in ("reason", "expected_revision", "after"):
            said = getattr(self, name)
            if said is not None:
                check_text(said, name)

    @property
    def operation(self) -> ProtectedOperation:
        """What it does to its file, in the words of an authorisation."""
        if self.content is None:
            return "tombstone"
        is_new = self.after is None and self.expected_revision is None
        return "create" if is_new else "replace"


@attrs.frozen
class Replayed:
    """What became of one command.

    ``revised`` is there when it was applied, now or before; else ``code`` says why it
    wasn't, ``conflict_id`` what keeps it when another revision stood, and ``needs``
    which authorisation it lacks. ``claims_authorisation`` is as of the command.
    """

    command_id: str
    outcome: Outcome
    revised: Revised | None = None
    code: str | None = None
    conflict_id: str | None = None
    needs: Authorisation | None = None
    claims_authorisation: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return {
            **attrs.asdict(self, recurse=False),
            "revised": None if self.revised is None else self.revised.as_dict(),
            "needs": None if self.needs is None else attrs.asdict(self.needs),
        }


def write_outbox(changes: Iterable[QueuedChange]) -> bytes:
    """The bytes of an outbox with these changes, in their order.

    Raises:
        CallerError: ``input.list``, ``input.type``, ``outbox.repeated``.

    """
    queued = check_queued(changes)
    lines = [{"format": FORMAT}, *map(_form, queued)]
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
    if len(check_type(data, bytes, "outbox")) > MAX_BYTES:
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
            raise _repeated(f"line {number}")
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


def check_queued(changes: Iterable[QueuedChange]) -> tuple[QueuedChange, ...]:
    """Queued changes as a tuple, each with a name of its own.

    Raises:
        CallerError: ``input.list``, ``input.type``, ``outbox.repeated``.

    """
    queued = check_items(changes, QueuedChange, "changes")
    seen: set[str] = set()
    for index, change in enumerate(queued):
        if change.command_id in seen:
            raise _repeated(f"changes[{index}]")
        seen.add(change.command_id)
    return queued


def _repeated(place: str) -> CallerError:
    """The error for a second command of one id."""
    return CallerError("a command id stands twice", code="outbox.repeated", path=place)


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
    content, claims = _bytes(form, number), _claims(form.get("authorise", []), number)
    try:
        return QueuedChange(
            form["id"],
            form["package"],
            form["path"],
            content,
            form.get("tombstone"),
            form.get("expected"),
            form.get("after"),
            entry,
            claims,
        )
    except CallerError as error:
        raise CallerError(
            error.message, code=error.code, path=f"line {number}", hint=error.hint
        ) from None


def _bytes(form: dict[str, Any], number: int) -> bytes | None:
    if "base64" in form:
        try:
            return from_base64url(form["base64"])
        except CallerError:
            raise _broken(number, "base64 isn't base64url without padding") from None
    text = form.get("text")
    return None if text is None else str(text).encode("utf-8")


def _claims(named: Any, number: int) -> bool:
    """Whether a line authorises itself, as the first writers of boxes let it."""
    if not isinstance(named, list) or not all(isinstance(n, str) for n in named):
        raise _broken(number, "authorise is a list of PATH:OPERATION")
    return bool(named)


def _broken(number: int, why: str) -> CallerError:
    return CallerError(
        f"a line of an outbox can't be read: {why}",
        code="outbox.format",
        path=f"line {number}",
    )
