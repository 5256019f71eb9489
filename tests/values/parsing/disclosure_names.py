"""Names and lines that are marks, and names of levels whose value is none."""

from __future__ import annotations

#: Names that begin or end with a limit, which are marks in labels and headings.
LIMITED_NAMES = [
    "Private information",
    "Private data",
    "Private email",
    "Private address",
    "Private phone number",
    "Confidential information",
    "Private and confidential",
    "Private & confidential",
    "Strictly private memories",
    "Private notes (2026)",
    "Private notes of Ada",
    "My private diary",
    "Ada's private notes",
    "Diary private",
    "Diary PRIVATE",
    "PRIVATE diary",
    "Notes priv\u00e9es",
    "Notas privadas",
    "Privates Tagebuch",
    "Vertrauliche Notizen",
    "Note confidenziali",
    "Secret data",
    "Sensitive information",
    "Do not share",
    "Diary (Eva only)",
    "Diary (only Eva)",
    "Diary (author only)",
    "Diary (staff only)",
    "Diary (undisclosed)",
    "Diary (unpublished)",
    "Diary (sensitive data)",
    "Diary (no sharing)",
]

#: Where a name stands, by dialect.
DIALECTS = {
    "heading": (
        "# T\n\n## {}\n\nDay: hush\n\nhush\n\n### Deep\n\nhush\n\n## B\n\nseen\n"
    ),
    "label": "# T\n\n{}: hush\n\n- hush\n\nTown: seen\n",
    "flat": "town: seen\n{}: hush\n",
    "front matter": "---\ntown: seen\n{}: hush\n---\n# T\n",
    "JSON": '{"{}": "hush", "town": "seen"}',
    "JSON, object": '{"{}": {"a": "hush"}, "town": "seen"}',
}

#: Marks that stand in a section for all of it.
SECTION_MARKS = [
    "Disclosure - private",
    "Disclosure \u2014 none",
    "Disclosure level = private",
    "Visibility: none",
    "Audience: none",
    "Access: none",
    "Sharing: none",
    "Access: internal",
    "Tags: diary, private",
    "#diary #private",
    "#private",
    '<div class="private">',
    "<private>",
    "<details><summary>Private</summary>",
    "<!-- private -->",
    "<!-- begin private -->",
    "<!-- private:start -->",
    "--- begin private ---",
    "BEGIN PRIVATE",
    "Begin private section",
    "> [!private]",
    "> [!NOTE] Private\n> hush",
    "\u1d18\u0280\u026a\u1d20\u1d00\u1d1b\u1d07",
    "Private and confidential",
    "Internal: true",
    "Do not share: yes",
]

#: Names in front matter that with ``true`` hide the file.
TRUE_NAMES = ["internal", "isInternal", "nonpublic", "not_public", "do_not_share"]

#: Values of names for levels that are no limit, and neither hide nor keep back.
NO_LIMITS = {
    "Access": [
        "internal tools, read only",
        "only through the northern gate",
        "members",
    ],
    "Audience": ["team", "only adults", "family", "customers and the general public"],
    "Visibility": ["web widget", "low on foggy days", "amber", "limited"],
    "Sensitivity": ["high", "high (to noise)", "none", "careful with bereavement"],
    "Privacy": ["only on request", "high", "none"],
    "Social access": ["members", "none"],
}
