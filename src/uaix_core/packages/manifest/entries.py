"""The judgement of each entry of ``files``: words, digests' form, repeats.

Source: UAIX package format v0.1, "Words on the wire".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from uaix_core.packages.manifest import words
from uaix_core.packages.manifest.words import fold
from uaix_core.packages.paths import shown
from uaix_core.packages.required.sets import MANIFEST_PATH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from uaix_core.packages.findings import Findings
    from uaix_core.packages.manifest.shape import Fields
    from uaix_core.packages.required.sets import Ruleset


class EntryJudge:
    """Judges the entries of one manifest, field by field.

    ``declared`` are the declared scopes in canonical spelling, or None when they
    couldn't be read. ``listed`` collects the usable fields of each entry by path (of
    repeated paths the first), without the manifest's own.
    """

    def __init__(
        self, ruleset: Ruleset, declared: frozenset[str] | None, findings: Findings
    ) -> None:
        self._ruleset = ruleset
        self._declared = declared
        self._findings = findings
        self._stable_ids: set[str] = set()
        self._claimed = 0
        self.listed: dict[str, Fields] = {}
        self.self_entry: Fields | None = None

    def judge(self, entries: Iterable[Fields]) -> None:
        """Judge all entries, in their order."""
        for index, fields in enumerate(entries):
            path = fields.get("path")
            if path is None:
                place, judges = f"files[{index}]", _PLACELESS_JUDGES
            else:
                place, judges = path, _JUDGES
                self._list(path, fields)
            for name, value in fields.items():
                judge = judges.get(name)
                if judge is not None:
                    judge(self, value, place)
        if self._claimed:
            count = self._claimed
            self._findings.add(
                "review.claimed",
                "files[].reviewState",
                f"files that claim a review: {count}; a package can't approve itself",
            )

    def _add(self, code: str, place: str, message: str | None = None) -> None:
        self._findings.add(code, shown(place), message)

    def _list(self, path: str, fields: Fields) -> None:
        if path == MANIFEST_PATH:
            if self.self_entry is not None:
                self._add("inventory.repeated", path)
            else:
                self._add("inventory.self", path)
                self.self_entry = fields
        elif path in self.listed:
            self._add("inventory.repeated", path)
        else:
            self.listed[path] = fields

    def _scope(self, word: str, place: str) -> None:
        declared = self._declared
        scope = word
        if declared is None or word not in declared:
            scope = fold(word)
        if scope != word:
            self._add("scope.folded", place)
        if declared is not None and scope in declared:
            return
        if scope not in self._ruleset.scopes:
            self._add("scope.unknown", place, "the file's scope isn't a known one")
        if declared is not None:
            self._add("scope.undeclared", place)

    def _required_status(self, word: str, place: str) -> None:
        status = word if word in words.REQUIRED_STATUSES else fold(word)
        if status not in words.REQUIRED_STATUSES:
            if status == words.OUT_OF_SCOPE:
                self._add("required.out-of-scope", place)
            is_soft = status in words.SOFT_STATUSES
            self._add("required.soft" if is_soft else "required.unknown", place)
            return
        if status != word:
            self._add("required.folded", place)
        row = self._ruleset.files.get(place)
        if row is not None and status not in row.statuses:
            self._add(
                "required.status",
                place,
                f"{row.path} is registered as {' or '.join(row.statuses)}",
            )

    def _role(self, word: str, place: str) -> None:
        if place == MANIFEST_PATH:
            roles: tuple[str, ...] = ("manifest",)
        else:
            row = self._ruleset.files.get(place)
            if row is None and word == "memory" and place.endswith(".uai"):
                return
            roles = row.roles if row is not None else words.roles_at(place)
        if word in roles:
            return
        if fold(word) in roles:
            self._add("role.folded", place, f"the role is written {fold(word)}")
        else:
            usual = " or ".join(roles)
            self._add("role.word", place, f"the role word of this file is {usual}")

    def _media_type(self, word: str, place: str) -> None:
        if word in words.TEXT_MEDIA:
            return
        if word not in words.IMAGE_MEDIA:
            self._add("media.unsupported", place)
        elif not place.startswith(words.IMAGE_FOLDER):
            self._add("media.image", place)

    def _review_state(self, word: str, place: str) -> None:
        state = word if word in words.REVIEW_STATES else fold(word)
        if state not in words.REVIEW_STATES:
            self._add("review.state", place)
            return
        if state != word:
            self._add("review.folded", place)
        self._claimed += state in words.CLAIMED_STATES

    def _sha256(self, digest: str, place: str) -> None:
        if not words.is_sha256(digest):
            self._add("hash.format", place)

    def _stable_id(self, text: Any, place: str) -> None:
        if not words.is_usable_id(text):
            self._add("id.stable", place)
        elif text in self._stable_ids:
            self._add("id.stable-repeated", place)
        else:
            self._stable_ids.add(text)


_JUDGES: Final[dict[str, Callable[[EntryJudge, Any, str], None]]] = {
    "scope": EntryJudge._scope,  # noqa: SLF001 - a table of this class's own methods
    "required_status": EntryJudge._required_status,  # noqa: SLF001
    "role": EntryJudge._role,  # noqa: SLF001
    "media_type": EntryJudge._media_type,  # noqa: SLF001
    "review_state": EntryJudge._review_state,  # noqa: SLF001
    "sha256": EntryJudge._sha256,  # noqa: SLF001
    "stable_id": EntryJudge._stable_id,  # noqa: SLF001
}

#: For entries without a usable path: what an entry's place decides is left out.
_PLACELESS_JUDGES: Final = {
    name: judge for name, judge in _JUDGES.items() if name not in ("role", "media_type")
}
