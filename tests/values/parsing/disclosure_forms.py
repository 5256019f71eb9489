"""Forms of marks to try: bodies in which ``hush`` stands under a mark, and others.

In a form ``hush`` is the text that isn't to be shown, and ``seen`` one that is.
"""

from __future__ import annotations

#: What stands in brackets behind a label, a heading or a text.
REMARKS = [
    "private",
    "PRIVATE",
    "sensitive",
    "strictly private",
    "very private",
    "kept private",
    "private, since May",
    "private since 2019",
    "private; ask first",
    "private - do not share",
    "private: do not show this to anybody outside of the family",
    "for now private",
    "kept private by the family",
    "confidential",
    "highly confidential",
    "secret",
    "top secret",
    "restricted",
    "restricted to the family",
    "internal",
    "internal use only",
    "hidden",
    "do not share",
    "don't share",
    "don\u2019t share this",
    "not for sharing",
    "not to be shared",
    "not for publication",
    "not public",
    "non-public",
    "not shared",
    "not meant for others",
    "do not read",
    "just for me",
    "private/family",
    "for my eyes only",
    "family only",
    "off the record",
    "privat",
    "streng vertraulich",
    "nicht weitergeben",
    "priv\u00e9",
    "confidentiel",
    "privado",
    "confidencial",
    "riservato",
    "vertrouwelijk",
    "*private*",
    "`private`",
    '"private"',
    "\u201cprivate\u201d",
    "disclosure: private",
    "disclosure none",
    "visibility: family",
]

BRACKETS = ["()", "[]", "\uff08\uff09", "\u3010\u3011", "\uff3b\uff3d", "\u300c\u300d"]

#: Where a remark in brackets may stand, and what is hidden with it.
PLACES = {
    "heading": "# T\n\n## Diary {}\n\nhush\n\nDay: hush\n\n### Deep\n\nhush\n",
    "heading, before": "# T\n\n## {} Diary\n\nhush\n",
    "heading, bold": "# T\n\n## **Diary {}**\n\nhush\n",
    "label": "Diary {}: hush\n\nhush\n\n- hush\n\nTown: seen\n",
    "label in bold": "# T\n\n**Diary {}:** hush\n",
    "label above": "# T\n\n## Other\n\nDiary {}:\n- hush\n\n> hush\n",
    "front matter": "---\ntitle: x\ndiary {}: hush\n---\n\n# T\n",
    "flat": "name: seen\ndiary {}: hush\n",
    "line": "# T\n\n## Other\n\nhush {}\n\n## More\n\nseen\n",
    "item": "# T\n\n- seen\n- hush {}\n",
    "quote": "# T\n\n> hush {}\n",
    "line of its own": (
        "# T\n\n## Other\n\n{}\n\nhush\n\nDay: hush\n\n### Deep\n\nhush\n"
    ),
    "heading without marks": "# T\n\n## Other\n\n**Diary {}**\n\nMonday: hush\n",
    "underlined heading": "# T\n\n## Other\n\nDiary {}\n------\n\nMonday: hush\n",
    "inside": "# T\n\n## Other\n\nThe diary {} says hush, and hush.\n",
}

#: Bodies in which the mark isn't in brackets, by what they show.
FORMS = {
    # What a marked field holds, up to the next label or heading.
    "paragraphs": "# T\n\nDiary (private): hush\n\nhush\n\nhush\n\nTown: seen\n",
    "blocks": (
        "# T\n\nDiary (private): hush\n\n- hush\n- hush\n\n```\nhush: hush\n\n"
        "## hush\n```\n\n| hush |\n|---|\n| hush |\n\n> hush\n\n"
        "    hush\n\n## B\n\nseen\n"
    ),
    "blocks below": (
        "# T\n\nDiary (private):\n\nhush\n\n1. hush\n\nhush\n\nTown: seen\n"
    ),
    "mark before, blocks": "# T\n\nDiary_disclosure: none\nDiary: hush\n\nhush\n",
    "mark behind, blocks": (
        "# T\n\nDiary: hush\nDiary_disclosure: none\n\nhush\n\nhush\n\nTown: seen\n"
    ),
    # Marks as fields of their own.
    "level beside": "diary: hush\nDiary_disclosure_level: private\ntown: seen\n",
    "tag beside": "diary: hush\ndiary_disclosure_tag: private\n",
    "words beside": "Diary: hush\nDiary disclosure level: friends only\n",
    "camel case beside": "diary: hush\ndiaryDisclosureLevel: private\n",
    "front matter, level": "---\ndiary: hush\ndiary_disclosure_level: none\n---\n# T\n",
    "of diary": "# T\n\nDisclosure of diary: private\n\n## Diary\n\nhush\n",
    "visibility": "# T\n\n## A\n\nVisibility: private\n\nDay: hush\n",
    "visibility beside": "diary: hush\ndiary_visibility: private\n",
    "confidentiality": (
        "---\nconfidentiality: strictly confidential\n---\n# T\n\nhush\n"
    ),
    "audience": "---\naudience: [family only, me only]\n---\n# T\n\nhush\n",
    "access": "# T\n\n## A\n\nAccess level: internal\n\nhush\n",
    "tags": "---\ntags: [sea, private]\n---\n# T\n\nhush\n",
    "is private": "# T\n\n## A\n\nPrivate: yes\n\nDay: hush\n",
    "is private beside": "diary: hush\ndiary_private: true\n",
    "is not shared": "---\nshare: no\n---\n# T\n\nhush\n",
    "is hidden": "# T\n\n## A\n\nHidden: true\n\nDay: hush\n",
    "is not public": "---\npublic: false\n---\n# T\n\nhush\n",
    "list of names": "---\nprivate_fields: [diary]\n---\n# T\n\n## Diary\n\nhush\n",
    "names after private": "# T\n\nPrivate: diary, town\n\n## Diary\n\nhush\n",
    # A section's own mark, by its name.
    "own": "# T\n\n## Diary\n\nDiary disclosure: private\n\nhush\n\nDay: hush\n",
    "own, below": "# T\n\n## Diary\n\nhush\n\n### Diary disclosure\n\nprivate\n",
    "within": "# T\n\n## A\n\nDiary disclosure: private\n\n### Diary\n\nDay: hush\n",
    "deep within": (
        "# T\n\n## A\nDiary disclosure: none\n\n### B\n\n#### Diary\n\nhush\n"
    ),
    "heading": "# T\n\n## Diary disclosure\n\nprivate\n\n## Diary\n\nhush\n",
    "heading, visibility": (
        "# T\n\n## A\n\n### Visibility\n\nprivate\n\n### B\n\nhush\n"
    ),
    "elsewhere": "# T\n\n## A\n\nDiary disclosure: private\n\n## B\n\nDiary: hush\n",
    # Marks where no field is read.
    "in a list": "# T\n\n## A\n\n- Disclosure: private\n- x\n\nDay: hush\n",
    "in a list, by name": "# T\n\n- Diary disclosure: private\n\n## Diary\n\nhush\n",
    "in a field": "# T\n\nNotes:\n- Diary disclosure: private\n\n## Diary\n\nhush\n",
    "in a quote": "# T\n\n## A\n\n> Disclosure: private\n\nDay: hush\n",
    "in a paragraph": "# T\n\n## A\n\nText.\nDisclosure: private\n\nDay: hush\n",
    "equals": "# T\n\n## A\n\nDisclosure = private\n\nDay: hush\n",
    "dash": "# T\n\n## A\n\nDisclosure - private\n\nhush\n",
    "comment": "# T\n\n## A\n\n<!-- private -->\n\nDay: hush\n",
    "comment, named": "# T\n\n## A\n\n<!-- Disclosure: private -->\n\nDay: hush\n",
    "file of another kind": '+++\ndisclosure = "private"\n+++\n# T\n\nDay: hush\n',
    "sentence": "# T\n\n## A\n\nThis section is strictly private.\n\nDay: hush\n",
    "sentence, order": "# T\n\n## A\n\nPlease do not share this.\n\nDay: hush\n",
    "sentence, keep": "# T\n\n## A\n\nKeep this private.\n\nDay: hush\n",
    "sentence, short": "# T\n\n## A\n\nNot for sharing.\n\nDay: hush\n",
    "sentence, file": "# T\n\n## A\n\nThis file is confidential.\n\n## B\n\nhush\n",
    "indented": "Town: seen\n\n  Diary_disclosure: private\n\nDiary: hush\n",
    "dash in a field": "# T\n\nDiary disclosure - private\n\n## Diary\n\nDay: hush\n",
    "by order": "# T\n\nDo not share: hush\n\nhush\n\nTown: seen\n",
    "by order, German": "Town: seen\nNicht weitergeben: hush\n",
    "by order, in a list": "# T\n\n- Do not share: hush\n",
    "names by order": "---\nnever_disclose: [diary]\ndiary: hush\n---\n# T\n",
    "names that are hidden": "---\nhidden: [diary]\ndiary: hush\n---\n# T\n",
    "names below a heading": (
        "# T\n\n## Disclosure\n\n### Private\n\n- Diary\n\n## Diary\n\nhush\n"
    ),
    "disclosures": (
        "---\ndisclosures:\n  diary: private\n---\n# T\n\n## Diary\n\nhush\n"
    ),
    "tags, plain": "# T\n\n## A\n\nTags: diary, private\n\nhush\n\nDay: hush\n",
    "audience of many": "# T\n\n## A\n\nAudience: me only, family only\n\nDay: hush\n",
    "visibility of a name": "# T\n\nDiary visibility: none\n\n## Diary\n\nDay: hush\n",
    "none, brackets": "# T\n\nDiary [none]: hush\n",
    "none, dash": "# T\n\nDiary - none: hush\n\nTown: seen\n",
    "none, comma": "# T\n\nDiary, none: hush\n",
    "none, heading": "# T\n\n## Diary - none\n\nhush\n\nDay: hush\n",
    # Tables.
    "column of private notes": "# T\n\n| a | Private notes |\n|--|--|\n| b | hush |\n",
    "column": (
        "# T\n\n| Field | Value | Disclosure |\n|---|---|---|\n"
        "| diary | hush | private |\n"
    ),
    "column, unknown": (
        "# T\n\nField | Value | Visibility\n:--|--|--:\nday | hush | friends\n"
    ),
    "column of yes": (
        "# T\n\n| Field | Value | Private? |\n|--|--|--|\n| a | hush | \u2713 |\n"
    ),
    "column of names": (
        "# T\n\n| Part | Disclosure |\n|---|---|\n"
        "| Diary | private |\n\n## Diary\n\nhush\n"
    ),
    "cell": "# T\n\n| diary | hush | private |\n",
    "row": "# T\n\n| Disclosure | friends |\n|---|---|\n| diary | hush |\n",
    "cell of HTML": "# T\n\n<table><td>hush</td><td>private</td></table>\n",
    # A word before or behind.
    "prefix": "# T\n\nPRIVATE: hush\n",
    "prefix in a list": "# T\n\n- PRIVATE: hush\n",
    "prefix in a paragraph": "# T\n\nText.\nprivate: hush\n",
    "prefix, bold": "# T\n\n**PRIVATE** hush\n",
    "note": "# T\n\nprivate note: hush\n\nhush\n",
    "note in a list": "# T\n\n- Private note: hush\n",
    "notes": "# T\n\n## Private notes\n\nhush\n\nDay: hush\n",
    "diary": "# T\n\n## Private diary\n\nhush\n",
    "confidential": "# T\n\n## Confidential\n\nDay: hush\n",
    "heading, dash": "# T\n\n## Diary - private\n\nhush\n",
    "heading, long dash": "# T\n\n## Diary \u2014 strictly private\n\nhush\n",
    "heading, comma": "# T\n\n## Diary, private\n\nhush\n",
    "heading, colon": "# T\n\n## Diary: private\n\nhush\n",
    "heading, prefix": "# T\n\n## Private: diary\n\nhush\n",
    "heading, tag": "# T\n\n## Diary #private\n\nhush\n",
    "heading, braces": "# T\n\n## Diary {private}\n\nhush\n",
    "heading, angles": "# T\n\n## Diary <private>\n\nhush\n",
    "heading, class": "# T\n\n## Diary {#diary .private}\n\nhush\n",
    "label, comma": "# T\n\nDiary, private: hush\n",
    "label, dash": "# T\n\nDiary - private: hush\n",
    "between dashes": "# T\n\n## A\n\n- private -\n\nhush\n\nDay: hush\n",
    "tag": "# T\n\nhush #private\n",
    "element": '# T\n\n<div class="private">hush</div>\n',
    "callout": "# T\n\n> [!private]\n> hush\n",
    "over a line end": "# T\n\nhush (strictly\nprivate)\n",
}

#: Objects in which ``hush`` isn't to be shown.
OBJECTS = [
    {"diary": "hush", "diaryDisclosure": "private"},
    {"diary": "hush", "diaryDisclosureLevel": "private"},
    {"diary": ["hush"], "diary_disclosure_tag": "private"},
    {"diary": {"a": {"b": "hush"}}, "diaryDisclosureLevel": "none"},
    {"diary": {"text": "hush", "disclosure": {"level": "private"}}},
    {"diary": {"text": "hush", "disclosure": {"since": "May"}}},
    {"diary": "hush", "diary_disclosure": {"level": "private"}},
    {"disclosure": {"level": "private"}, "diary": "hush"},
    {"disclosure": {"diary": "private"}, "diary": {"day": "hush"}},
    {"visibility": {"diary": "private"}, "diary": "hush"},
    {"x": {"private": True, "t": "hush"}},
    {"x": {"isPrivate": True, "t": "hush"}},
    {"x": {"public": False, "t": "hush"}},
    {"diary": "hush", "diaryPrivate": True},
    {"t": {"value": "hush", "visibility": "private"}},
    {"private": {"diary": "hush"}},
    {"privateNote": "hush"},
    {"private_note": {"a": {"b": "hush"}}},
    {"privateFields": ["diary"], "diary": "hush"},
    {"diary [private]": "hush"},
    {"diary (private, since May)": {"a": "hush"}},
    {"[private] diary": ["hush"]},
    {"list": [{"text": "hush", "disclosureLevel": "private"}]},
    {"list": [{"privateNote": "hush"}]},
    {"list": [{"text": "hush", "private": True}]},
    {"list": [{"text": "hush", "visibility": "hidden"}]},
    {"list": ["PRIVATE: hush"]},
    {"privateData": {"a": "hush"}},
    {"private_info": "hush"},
    {"diary_private": "hush"},
    {"diaryPrivate": ["hush"]},
    {"$disclosure": "private", "diary": "hush"},
    {"@disclosure": "private", "diary": "hush"},
    {"diary": "hush", "diary:disclosure": "private"},
    {"diary": {"t": "hush", "disclosure": {"value": {"level": "private"}}}},
    {"x": {"internal": True, "t": "hush"}},
    {"list": [{"internal": True, "t": "hush"}]},
    {"d\u0456sclosure": "private", "t": "hush"},
    {"t": "hush", "t_disclosure": "priv\u0430te"},
    {"t (\u0440rivate)": "hush"},
]

#: Ways to write a word so that it looks as before, or nearly so.
DISGUISES = {
    "wide": lambda word: "".join(chr(ord(c) + 0xFEE0) for c in word),
    "bold letters": lambda word: "".join(chr(0x1D41A + ord(c) - 97) for c in word),
    "small capitals": lambda word: word.translate(
        str.maketrans(
            "acdeilnoprtuvy",
            "\u1d00\u1d04\u1d05\u1d07\u026a\u029f\u0274\u1d0f\u1d18\u0280\u1d1b\u1d1c"
            "\u1d20\u028f",
        )
    ),
    "squares": lambda word: "".join(chr(0x1F170 + ord(c) - 97) for c in word),
    "circles": lambda word: "".join(chr(0x1F150 + ord(c) - 97) for c in word),
    "zero width": "\u200b".join,
    "soft hyphen": lambda word: word[:3] + "\u00ad" + word[3:],
    "joiner": lambda word: word + "\u2060",
    "combining": lambda word: "\u0301".join(word) + "\u0301",
    "Cyrillic": lambda word: word.translate(
        str.maketrans(
            "acdeiopsxy", "\u0430\u0441\u0501\u0435\u0456\u043e\u0440\u0455\u0445\u0443"
        )
    ),
    "tags": lambda word: "".join(chr(0xE0000 + ord(c)) for c in word),
    "references": lambda word: "".join(f"&#{ord(c)};" for c in word),
    "soft reference": lambda word: word[:2] + "&shy;" + word[2:],
    "upper case": str.upper,
    "no break space": lambda word: f"\u00a0{word}\u2003",
    "escaped": lambda word: "\\" + word,
}

#: Bodies that limit something, where nobody can say what: all of it is kept back.
KEPT_BACK = {
    "title": "# Diary (strictly private)\n\nhush\n",
    "title above labels": "Diary [private]\n\nday: hush\n",
    "middle of a heading": "# T\n\n## Diary (private) of Ada\n\nhush\n",
    "middle of a label": "her (confidential) day: hush\n",
    "over a label's end": "# T\n\nDiary (private see: hush)\n",
    "unknown name": "# T\n\nDairy disclosure: private\n\n## Diary\n\nhush\n",
    "unknown name, visibility": (
        "# T\n\nDairy visibility: private\n\n## Diary\n\nhush\n"
    ),
    "confidentiality": "---\nconfidentiality: high\n---\n# T\n\nhush\n",
    "confidentiality level": "# T\n\n## A\n\nConfidentiality level: amber\n\nhush\n",
    "tag of YAML": "---\ndiary: !private hush\n---\n# T\n",
    "comment behind": "---\ndiary: hush # private\n---\n# T\n",
    "comment above": "---\n# Private:\ndiary: hush\n---\n# T\n",
    "front matter of another form": "---\nmeta:\n  isPrivate: true\n---\n# T\n\nhush\n",
    "front matter, quoted": (
        '---\n"diary_disclosure": private\nz (private): a\n---\n# T\n'
        "\n## Diary\n\nhush\n"
    ),
    "no structure": "A diary (kept private) as it came: hush.\n",
    "JSON as text": '{"x": {"isPrivate": true, "t": "hush"}}',
    "JSON as text, escaped": '{"d\\u0456sclosure": "private", "t": "hush"}',
}
