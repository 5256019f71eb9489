"""What a check finds: rules as data, findings as values, one collector."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Severity = Literal["error", "warning", "info"]

#: So many findings of one code are told apart; the rest is only counted.
MOST_FINDINGS: Final = 50


@attrs.frozen
class Rule:
    """One row of the rule table.

    ``family`` is the kind of reason in one word, ``trigger`` one of the standard's
    twelve no-op names (or None) and ``triggers`` further ones that can stand in its
    place, ``meaning`` the sentence shown when a check gives no better one, ``hint``
    what an honest author can do, ``lenient`` the severity under lenient reading where
    that differs.
    """

    code: str
    family: str
    severity: Severity
    meaning: str
    trigger: str | None = None
    hint: str | None = None
    lenient: Severity | None = None
    triggers: tuple[str, ...] = ()


@attrs.frozen
class Finding:
    """One thing found. ``message`` never carries content of a package's bodies."""

    code: str
    severity: Severity
    family: str
    path: str | None
    message: str
    trigger: str | None

    def as_dict(self) -> dict[str, str | None]:
        """The finding as plain data, for JSON."""
        return attrs.asdict(self)


class Findings:
    """Collects findings against a rule table.

    ``halted`` turns true with the first finding of a limit or a bomb: reading ends
    there, since what lies behind it can't be computed safely. Of one code no more than
    `MOST_FINDINGS` are kept; one more, without a path, then says how many followed.
    Those at the path ``always`` are kept in any case.
    """

    def __init__(
        self,
        rules: Mapping[str, Rule],
        *,
        lenient: bool = False,
        always: str | None = None,
    ) -> None:
        self._rules = rules
        self._always = always
        self._lenient = lenient
        self._found: dict[tuple[str, str | None, str], Finding] = {}
        self._kept: Counter[str] = Counter()
        self._further: dict[str, int] = {}
        self.halted = False

    def is_full(self, code: str) -> bool:
        """Whether further findings of this code are only counted.

        What a finding would show needn't be worked out then.
        """
        return self._kept[code] >= MOST_FINDINGS

    def add(
        self,
        code: str,
        path: str | None = None,
        message: str | None = None,
        *,
        trigger: str | None = None,
    ) -> None:
        """Note a finding; the same code, path and message counts once.

        ``trigger`` is one of the rule's further ones, where that fits better.
        """
        rule = self._rules[code]
        text = message or rule.meaning
        if rule.hint:
            text = f"{text} ({rule.hint})"
        if (code, path, text) in self._found:
            return
        if self.is_full(code) and (path is None or path != self._always):
            self._further[code] = self._further.get(code, 0) + 1
            return
        self._kept[code] += 1
        self._found[code, path, text] = Finding(
            code,
            self._severity(rule),
            rule.family,
            path,
            text,
            trigger or rule.trigger,
        )

    def _severity(self, rule: Rule) -> Severity:
        if self._lenient and rule.lenient is not None:
            return rule.lenient
        return rule.severity

    def halt(
        self, code: str, path: str | None = None, message: str | None = None
    ) -> None:
        """Note a finding after which the reading ends."""
        self.add(code, path, message)
        self.halted = True

    @property
    def has_error(self) -> bool:
        """Whether any finding so far refuses the package."""
        return any(finding.severity == "error" for finding in self._found.values())

    def __iter__(self) -> Iterator[Finding]:
        yield from self._found.values()
        for code, count in self._further.items():
            rule = self._rules[code]
            text = f"further findings of this code: {count}"
            severity = self._severity(rule)
            yield Finding(code, severity, rule.family, None, text, rule.trigger)

    def __len__(self) -> int:
        return len(self._found) + len(self._further)
