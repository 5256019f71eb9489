"""The words of a limit, and where they may stand, as patterns for `limits`.

All of them are for text in plain spelling, in lower case or with case ignored. English
is taken widely; of German, French, Spanish, Portuguese, Italian and Dutch there are the
common words.
"""

from __future__ import annotations

from typing import Final

#: Words that limit wherever they stand in brackets.
CLEAR: Final = (
    r"(?:pr[i1l!|]vate|privat(?:e[rsmn]|o|a|i)?|privad[oa]s?|privee?s?"
    r"|c[o0]nf[i1l!|]dent[i1l!|]al|confidentiel(?:le)?s?|confidencia(?:l|is|les)"
    r"|confidenzial[ei]|riservat[oaie]|vertraulich(?:e[rsmn]?)?|vertrouwelijk|geheim)"
)
#: Words that mean something else as well, and limit only where they stand alone.
SOFT: Final = (
    r"(?:secret|restricted|internal|intern|interno|interne|classified|unlisted|secreto"
    r"|segreto|reservado)"
)
#: Orders, which may as well be rules for other things where something follows them.
ORDER: Final = (
    r"(?:(?:do not|don'?t|never|not to|please do not) (?:be )?(?:share|disclose|publish"
    r"|show|quote|read)d?|nicht (?:weitergeben|teilen)|ne pas (?:partager|diffuser)"
    r"|no (?:compartir|divulgar)|nao (?:compartilhar|partilhar)|non (?:condividere"
    r"|divulgare)|niet delen)"
)
#: Phrases that say no other thing.
PHRASE: Final = (
    r"(?:not (?:for|to be) (?:shar(?:ing|ed)|publication|published|disclosed"
    r"|disclosure|shown)|not public|non[ -]?public"
    r"|not (?:for|meant for|intended for) (?:the )?(?:public|others|anyone|everyone"
    r"|everybody|outsiders|strangers)"
    r"|(?:for )?(?:(?:my|your|his|her|its|our|their|the) )?(?:own )?eyes[ -]only"
    r"|(?:for )?(?:friends|family|team|owner|authors?|staff|admins?|me|us|insiders)"
    r"[ -]only"
    r"|(?:only|just) (?:for )?(?:friends|family|me|us|myself)|off the record"
    r"|need to know|nicht offentlich|niet openbaar)"
)
#: What may stand before a limit.
BEFORE: Final = (
    r"(?:(?:strictly|very|highly|absolutely|completely|entirely|please|keep|kept|this"
    r"|it|all|is|are|still|for now|top|streng|strikt|bitte|sehr|tres|strictement"
    r"|estrictamente|strettamente)[ ,:-]+){0,3}"
)
_WORD: Final = rf"(?:{CLEAR}|{SOFT}|{PHRASE}|{ORDER}|sensitive|hidden|not shared)"
#: A limit, and nothing else.
EXACT: Final = (
    rf"{BEFORE}{_WORD}(?:,? (?:and|&|und|et|y|e) {_WORD})?"
    r"(?:[ ,-]+(?:only|please|use only))?"
)
#: What is a limit at the head of a text; "sensitive" is a trait there.
HEAD: Final = rf"{BEFORE}(?:{CLEAR}|{SOFT}|{PHRASE})(?:[ ,-]+only)?"
_TEXTS: Final = (
    r"(?:notes?|diar(?:y|ies)|journals?|entr(?:y|ies)|logs?|memos?|remarks?|comments?"
    r"|thoughts?|letters?|sections?|parts?|paragraphs?|fields?|texts?|notiz(?:en)?"
    r"|data|info(?:rmation)?|details)"
)
#: A label that begins with a limit, or ends with one that isn't part of a sentence.
_EDGE: Final = (
    rf"(?:(?:my|your|his|her|its|our|their|the|\w+['_ ]s) )?{BEFORE}{CLEAR}"
    r"(?:\W+\w+){1,7}"
    r"|(?!.*\b(?:public|no|not|non|nothing|never)\b)(?:\w+[^\w(\[{<]+){1,7}"
    r"(?<!\b(?:is|in|be|of|as|to)\W)(?<!\b(?:are|the|for|how)\W)"
    rf"(?<!\b(?:what|kept|keep)\W)(?<!\b(?:keeps|stays)\W){CLEAR}"
)
#: Orders that as a label are about what follows them.
_ORDER_LABEL: Final = rf"(?!never ){ORDER}"
#: A text that is called private by what it is called.
LABEL: Final = (
    rf"(?:{HEAD}|{_ORDER_LABEL}|{BEFORE}(?:{CLEAR}|{SOFT}|sensitive) (?:\w+ )?{_TEXTS}"
    rf"|{_EDGE})"
)
#: What limits in brackets behind a label or heading, and is a value or code elsewhere.
BEHIND: Final = (
    r"(?:undisclosed|not disclosed|non-?disclos\w+|unpublished|no sharing"
    r"|sensitive (?:data|info(?:rmation)?)|(?-i:[A-Z])\w+ only|only (?-i:[A-Z])\w+)"
)
#: The same within a text, where a line of code may begin with the others.
AHEAD: Final = (
    rf"(?:{BEFORE}(?:{CLEAR}|{PHRASE}|(?-i:SECRET|INTERNAL|RESTRICTED|SENSITIVE))"
    rf"(?:[ ,-]+only)?|{_ORDER_LABEL}"
    rf"|{BEFORE}(?:{CLEAR}|{SOFT}|sensitive) (?:\w+ )?{_TEXTS})"
)

#: Brackets of all kinds, which a remark may stand in.
BRACKETS_OPEN: Final = (
    "(\uff08\uff3b\uff5b[{<\u00ab\u2039\u300c\u300e\u3010\u3014\u3008\u300a\u27e8\u2768"
)
BRACKETS_CLOSE: Final = (
    ")\uff09\uff3d\uff5d]}>\u00bb\u203a\u300d\u300f\u3011\u3015\u3009\u300b\u27e9\u2769"
)
#: Names of levels beside disclosure.
NAME: Final = (
    r"(?:visibility|confidentiality|sensitivity|audience|privacy|secrecy|classification"
    r"|sharing|access)(?:[ -]?(?:level|tag))?"
)

#: What every text holds that names a limit; one of them is enough.
STEMS: Final = (
    *("disclos", "priv", "confid", "vertr", "riserv", "geheim", "sensitive", "secre"),
    *("segret", "restrict", "intern", "classified", "unlisted", "reservad", "hidden"),
    *("share", "sharing", "publish", "publicat", "quote", "t show", "r show", "e show"),
    *(
        "not meant",
        "not intended",
        "not for",
        "t read",
        "just for",
        "just f",
        "just me",
    ),
    *("t public", "n-public", "nonpublic", "the record", "need to know", " only"),
    *("-only", "only f", "only me", "only us", "nicht", "ne pas", "compart", "partilh"),
    *("divulg", "condivid", "niet", "visib", "pr1v", "prlv", "pr!v", "pr|v", "c0nf"),
    *("audience", "access", "conf1d", "confld", "conf!d", "conf|d"),
    *("public:", 'public"', "public'", "public=", "public ="),
)
#: What stands in the names of marks beside that, and in brackets behind a label.
NAMES: Final = (
    *("none", "public", "classif", "privacy", "secrecy"),
    *("sensitivity", "only"),
)
EVERY: Final = (*STEMS, *NAMES)
