"""Stand-ins for secrets: ``<...>``, ``${...}``, xxxx and EXAMPLE.

They excuse every rule but armour. Source: the gate rules of the memory semantics.
"""

from __future__ import annotations

import re
from typing import Final

#: A default inside ``${NAME:-default}`` that is long enough to be a secret is none.
_STAND_IN: Final = re.compile(
    r"[xX]{4,}|EXAMPLE|\$\{[^{}:\n]{0,80}\}|\$\{[^{}:\n]{1,80}:[-=?+]?[^{}\n]{0,11}\}"
    r"|<[A-Za-z][^<>\n]{0,80}>|\{\{[^{}\n]{0,80}\}\}"
)

#: What a template engine or a shell fills in: the whole value has this form.
_TEMPLATE: Final = re.compile(
    r"\$\(.*|\$\{\{.*|\{\{.*|\{%.*|#\{.*|\{[A-Za-z_][\w.\[\]'\"()!:-]{0,80}\}"
    r"|%\([A-Za-z_]\w{0,80}\)[sd]?|%[A-Z_][A-Z0-9_]{0,80}%|%\{.*"
    r"|\$[A-Z_][A-Z0-9_]{0,80}|\$env:\w{1,80}|@[A-Za-z_]\w{0,80}@|\*+|\.{3,}|ENC\[.*",
    re.DOTALL,
)


def is_placeholder(text: str) -> bool:
    """Whether a matched span holds a stand-in."""
    return _STAND_IN.search(text) is not None


def is_template(text: str) -> bool:
    """Whether a whole value is something that is filled in elsewhere."""
    return _TEMPLATE.fullmatch(text) is not None
