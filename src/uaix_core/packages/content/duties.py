"""Content duties: what certain files must speak of, looked for by label.

A duty is met when a label or a heading names it and something stands under it. What
stands there isn't judged. The labels are words by their beginnings, since packages
call the same thing by several names.

Source: UAIX package format v0.1, "Required sets" (content duties).
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.packages.required import files as registered

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from uaix_core.packages.findings import Findings
    from uaix_core.values.parsing.view import ParsedBody

#: So many labels of a file are looked at.
MOST_LABELS: Final = 5000

MAINTENANCE_FILE: Final = ".uai/memory-maintenance.uai"
HANDOFF_FILE: Final = ".uai/file-handoff.uai"

#: The beginnings of words that a label must all hold.
Label = tuple[str, ...]


@attrs.frozen
class Duty:
    """One thing that must be spoken of.

    ``id`` is stable and unique. ``files`` are the paths in which it may stand, the
    usual one first; nothing is asked while none of them is there. ``scope`` asks for
    it; None: every package that holds the file. ``labels`` are the ways to name it.
    """

    id: str
    meaning: str
    files: tuple[str, ...]
    labels: tuple[Label, ...]
    scope: str | None = None

    def is_named_by(self, words: Collection[str]) -> bool:
        """Whether a label of these words names the duty."""
        return any(
            all(any(word.startswith(stem) for word in words) for stem in label)
            for label in self.labels
        )


def _duties(
    group: str,
    files: tuple[str, ...],
    rows: tuple[tuple[str, str, str], ...],
    scope: str | None = None,
) -> tuple[Duty, ...]:
    """Rows of (name, meaning, labels); ``+`` joins words, ``|`` parts alternatives."""
    return tuple(
        Duty(
            f"{group}.{name}",
            meaning,
            files,
            tuple(tuple(label.split("+")) for label in labels.split("|")),
            scope,
        )
        for name, meaning, labels in rows
    )


_PERSONA: Final = (
    ("name", "the persona's name", "name"),
    ("purpose", "what it is for", "purpose"),
    ("voice", "how it speaks", "voice"),
    ("symbolic-posture", "its symbolic posture", "symbolic|posture"),
    ("interaction-position", "where it stands in a conversation", "interaction"),
    ("relationship-limits", "the limits of relationships", "relation"),
    ("blocked-claims", "what it doesn't claim", "claim"),
    ("switching-behaviour", "how it comes and goes", "switch"),
    ("privacy-limits", "the limits of privacy", "privacy"),
    ("consent-limits", "the limits of consent", "consent"),
    ("preservation-policy", "how the persona is preserved", "preserv"),
)
_ASSISTANT: Final = (
    ("identity", "who the assistant is", "assistant+identity|identity"),
    ("purpose", "what it does for its users", "purpose"),
    ("interaction-boundary", "where interaction ends", "interaction"),
    ("privacy-boundary", "where privacy begins", "privacy"),
    ("memory-update-rules", "how its memory changes", "memory"),
    ("refusal-triggers", "when it refuses or does nothing", "refus|no+op|noop"),
    (
        "review-cadence",
        "how often it is reviewed",
        "cadence|review+schedule|review+interval|review+rhythm",
    ),
    ("import-notice", "what a receiver should know", "import+not|import+warn"),
)
_CODE: Final = (
    (
        "source-roots",
        "where the sources stand",
        (
            "source+root|source+folder|source+director|source+layout|source+tree"
            "|repository+layout|code+root"
        ),
    ),
    ("commands", "the commands to work with", "command"),
    ("test-surfaces", "what is tested", "test+surface|test+suite|test+cover|tested"),
    ("support-limits", "what isn't supported", "support|limit"),
    ("next-work", "what comes next", "next"),
)
_MAINTENANCE: Final = (
    ("lifecycle", "the life of a note", "lifecycle|life+cycle"),
    ("hot-cold-boundary", "what is hot and what is cold", "hot|cold"),
    ("compaction-cadence", "when notes are merged", "compact"),
    ("archival-policy", "what is archived", "archiv"),
    ("promotion", "how notes are promoted and demoted", "promot|demot"),
    ("access-control", "who may read and write", "access"),
    ("active-anchors", "the anchors that hold", "anchor"),
    ("review-gates", "what must be reviewed", "review"),
    ("validation", "how the memory is validated", "validat"),
    ("write-safety", "how it is written safely", "writ"),
)
_HANDOFF: Final = (
    ("intake-bucket", "where files arrive", "intake|bucket"),
    ("disposition-rules", "how files are settled", "disposition|outcome"),
    ("redaction-rules", "what is redacted", "redact"),
    ("evidence-retention", "where evidence is kept", "retention|evidence"),
    ("checksum-ledger", "the checksum ledger or receipt route", "checksum|receipt"),
    ("source-removal", "when the source site is cleared", "remov"),
    ("final-report", "the fields of the final report", "final+report|report+field"),
)

_CODE_FILES: Final = (
    ".uai/architecture.uai",
    ".uai/coding-standards.uai",
    ".uai/test-plan.uai",
    ".uai/next-recursive-prompt.uai",
)
#: What an assistant owes may stand in its persona or in what every package holds.
_ASSISTANT_FILES: Final = (
    registered.PERSONA_FILE,
    *(row.path for row in registered.universal_files()),
)

#: Every duty, in the order in which findings list them.
DUTIES: Final[tuple[Duty, ...]] = (
    *_duties("persona", (registered.PERSONA_FILE,), _PERSONA),
    *_duties("assistant", _ASSISTANT_FILES, _ASSISTANT, registered.ASSISTANT),
    *_duties("code", _CODE_FILES, _CODE, registered.CODE_BEARING),
    *_duties("maintenance", (MAINTENANCE_FILE,), _MAINTENANCE),
    *_duties("handoff", (HANDOFF_FILE,), _HANDOFF),
)

#: Every file in which a duty may stand.
DUTY_FILES: Final = frozenset(path for duty in DUTIES for path in duty.files)


def labels_of(parsed: ParsedBody) -> Iterator[tuple[str, ...]]:
    """The words of each label or heading that something stands under."""
    for field in parsed.fields:
        if field.text.strip():
            yield tuple(field.name.split("_"))
    sections = parsed.sections
    levels = [section.level for section in sections]
    for section, following in zip(sections, (*levels[1:], 0), strict=False):
        is_outer = following > section.level
        if section.heading and (section.text.strip() or is_outer):
            yield tuple(section.name.split("_"))


def duties_named_in(path: str, parsed: ParsedBody) -> frozenset[str]:
    """The ids of the duties that the labels of a file name."""
    duties = [duty for duty in DUTIES if path in duty.files]
    labels = list(islice(labels_of(parsed), MOST_LABELS)) if duties else []
    return frozenset(duty.id for duty in duties if any(map(duty.is_named_by, labels)))


def judge_duties(
    named: Mapping[str, Collection[str]],
    scopes: Collection[str],
    findings: Findings,
    *,
    unread: Collection[str] = (),
) -> None:
    """Warn about each duty that no label names.

    ``named`` maps each file that was read to the duties that are named there;
    ``scopes`` are the declared ones. A duty that may stand in one of the ``unread``
    files isn't judged.
    """
    for duty in DUTIES:
        if duty.scope is not None and duty.scope not in scopes:
            continue
        if any(path in unread for path in duty.files):
            continue
        there = [path for path in duty.files if path in named]
        if there and not any(duty.id in named[path] for path in there):
            message = f"nothing is labelled {duty.id}: {duty.meaning}"
            findings.add("duty.missing", there[0], message)
