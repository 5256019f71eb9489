"""Bodies that speak of privacy, or open something, and hide nothing."""

from __future__ import annotations

#: Plain texts, all of which is shown.
PLAIN = {
    "prose": "# T\n\nShe keeps a private diary, and what is confidential stays so.\n",
    "emphasis": "# T\n\nShe keeps a *private* diary, **strictly** so.\n",
    "limits": "# T\n\n## Privacy limits\n\nKeeps nothing private about a visitor.\n",
    "no private bond": (
        "# T\n\nFriendly, never a confidant; no private bond is played.\n"
    ),
    "sensitivity": "# T\n\n## Sensitivity\n\nNo personal data of visitors.\n",
    "a trait": "# T\n\n## Temperament\n\nSensitive.\n",
    "traits": "# T\n\n## Temperament\n\n- sensitive\n- private\n- secret\n",
    "trait with a text": "# T\n\nSensitive: cries at films.\n",
    "rule": "# T\n\nRule: never share a password; do not share names.\n",
    "rule, order": "# T\n\n- Do not share names.\n- Keep it to yourself.\n",
    "audience": "# T\n\nAudience: harbour visitors\n",
    "access": "# T\n\nAccess: by ladder\n",
    "visibility": (
        "# T\n\nVisibility: public\n\n## Sight\n\nVisibility: poor in thick fog\n"
    ),
    "brackets": "# T\n\n## Diary (May)\n\nEyes: grey (sensitive to light)\n",
    "compounds": "# T\n\n(internal clock) and (secret ingredient), [see below]\n",
    "paths": "# T\n\nIn (src/private/key.pem) and (private-key).\n",
    "link": "# T\n\nHer [private tutor](https://example.org/private) said so.\n",
    "choice": "# T\n\nSet the level and the disclosure (none, private or public).\n",
    "sentences of others": (
        "# T\n\nConfidential. It rained.\n\n## A\n\nPrivate.\n\nThe diary is private.\n"
        "\nAll entries below are private.\n\n## B\n\n"
        "The contents of this section are confidential.\n"
    ),
    "opened name": "# T\n\nPrivate school (public): Bern\n\n## Private side (public)\n",
    "idiom": "# T\n\nFull disclosure: she never was a captain.\n",
    "rules of disclosure": "# T\n\n## Disclosure rules\n\nTells what it is asked.\n",
    "headings": "# T\n\n## Secret ingredients\n\nx\n\n## Internal affairs\n\nx\n",
    "labels": "Secret wish: the sea\nInternal conflict: duty\nNone: x\n",
    "labels that deny": (
        "Nothing private: so\n\nNot confidential: so\n\nPublic and private: so\n"
    ),
    "labels of a sentence": (
        "How she is in private: so\n\nKeeps private: so\n\nWhat is confidential: so\n"
    ),
    "first word in prose": "# T\n\nShe says this.\nPrivate talk: so; more of it: so.\n",
    "private in a list": "# T\n\n- Private address: asked for by the form\n",
    "no pets": "# T\n\n## Pets: none\n\nx\n",
    "level of a sentence": (
        "# T\n\n## Tone\n\nDisclosure: says that it is an AI when asked\n\nStyle: x\n"
    ),
    "level of a sentence in a list": (
        "# T\n\n- Disclosure: says that it is an AI when asked\n"
    ),
    "level of a sentence below": (
        "# T\n\n## Disclosure\n\nIt says that it is an AI.\n\n## B\n\nx\n"
    ),
    "order as a rule": "# T\n\n## Never share\n\n- passwords\n",
    "none of something": "# T\n\nWheelchair access: none\n\nPrivacy: none\n",
    "code of a key": "# T\n\n-----BEGIN PRIVATE KEY-----\n",
    "not disclosed": "# T\n\n## Religion\n\nnot disclosed\n\nBorn: (not disclosed)\n",
    "open": "---\npublic: true\nprivate: false\ndisclosure: public\n---\n\n# T\n\nx\n",
    "open beside": "diary: x\ndiary_disclosure: public\ndiary_private: no\n",
    "open column": "# T\n\n| A | Disclosure |\n|---|---|\n| x | public |\n",
    "column of no": "# T\n\n| A | Private |\n|---|---|\n| x | no |\n",
    "code": "# T\n\n```\nclass A { secret_t x; }\nsecret: ${X}\n```\n",
}
