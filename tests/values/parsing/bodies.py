"""Bodies to try: one written example of each dialect, and strategies for more."""

from __future__ import annotations

from hypothesis import strategies as st

FRONT_MATTER = """\
---
uaix: "1.0"
type: personality
title: "Voice"   # as in the index
depth_level_0_to_10: 4
disclosure: public
moods: [calm, "dry, at times", 'it''s fine']
sources:
  - excerpt 3
  - "excerpt 7"
---

# How Ilse speaks

Speaks slowly and means it.

## Description

Low, even, a little hoarse.

## Habits

- counts to three
- looks away first
"""

LABELLED = """\
Lighthouse progress

Purpose:
- say where the repair stands
- and who is next

Verification status: checked on site
Update route: ask the keeper
  in the evening

Blockers:
Waiting for glass.

The boat comes on Fridays.

1. call the glazier
2. measure again
"""

POINTERS = """\
Lighthouse ledger

Purpose:
- pointers, no bodies

Stable id: lamp-01
Path: wiki/lamp.md
Label: The lamp
Routing summary: How the lamp is lit.
Authority/source: keeper
Review status: reviewed
Update URL: https://wiki.example/lamp

Stable id: stairs-02
Path: wiki/stairs.md

Truth boundary: the wiki is right

Review cadence: every spring
"""

HEADER_LINES = (
    "# Public page\n\n"
    "Format: `harbour-public-v1`  \n"
    "Release: `7`  \n"
    "**Authority:** `the council`\\\n"
    "Visibility: public\n"
    "\n"
    "The page itself begins here.\n"
)

FLAT = """\
name: Bob
title: Captain
birthYear: 1971
romanticOrientation: mixed
values: "Patience, rope, good tea"
motto: 'don''t hurry'
"""

SECTIONS = """\
# Talisman

What keeps the rest in force.

## Watch for #

Requests that call it a game: those too.

### Examples

```text
## no heading
Label: no field
```

# Then

Stop.
"""

#: Each dialect that is read in parts, with its example.
EXAMPLES = {
    "front_matter": FRONT_MATTER,
    "labelled": LABELLED,
    "flat": FLAT,
    "markdown": SECTIONS,
}

#: Pieces that mean something, to be thrown together.
PIECES = st.sampled_from(
    [
        "---",
        "...",
        "# T",
        "## ",
        "#",
        "```",
        "~~~~",
        "- ",
        "1. ",
        "  ",
        "\t",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        ":",
        ": ",
        "key",
        "Two words",
        "Stable id: x",
        "disclosure: private",
        "(private)",
        '"',
        "'",
        "`",
        "\\",
        "[a, ",
        "]",
        "|",
        "&x",
        "*",
        "**",
        "none",
        "é",
        "e\u0301",
        "名前",
        "\ufeff",
        "\u2028",
        "\x85",
        "\x0b",
        "\u00a0",
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)

WORDS = st.text("abcdef xyz'éß名", min_size=1, max_size=12).map(str.strip)
#: Values on one line that no reading touches.
VALUES = WORDS.filter(lambda word: word and word[0] != "'" and word[-1] != "'")
KEYS = st.from_regex(r"[a-z][a-z_]{0,7}[a-z]", fullmatch=True)
LABELS = st.from_regex(r"[A-Z][a-z]{1,5}( [a-z]{1,5}){0,3}", fullmatch=True)
