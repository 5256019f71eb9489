"""Ways to write a secret so that a plain search misses it."""

from __future__ import annotations

import base64

_ALIKE = str.maketrans(
    "aceiopsxyABCEHIKMOPSTX",
    "\u0430\u0441\u0435\u0456\u03bf\u0440\u0455\u0445\u0443"
    "\u0391\u0412\u0421\u0415\u041d\u0406\u039a\u041c\u039f\u0420\u0405\u0422\u03a7",
)


def _fullwidth(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _tags(text: str) -> str:
    return "".join(chr(ord(c) + 0xE0000) for c in text)


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _mixed(text: str) -> str:
    return "".join(c if i % 3 else f"%{ord(c):02x}" for i, c in enumerate(text))


#: Each way by name; what it gives stands for the whole secret.
DISGUISES = {
    "zero-width": "\u200b".join,
    "soft-hyphen": "\u00ad".join,
    "variation-selector": "\ufe0f".join,
    "combining": "\u0301".join,
    "fullwidth": _fullwidth,
    "look-alikes": lambda text: text.translate(_ALIKE),
    "tags": _tags,
    "override": lambda text: f"\u202e{text[::-1]}\u202c",
    "percent": _percent,
    "percent-partly": _mixed,
    "percent-twice": lambda text: _percent(_percent(text)),
    "percent-units": lambda text: "".join(f"%u{ord(c):04x}" for c in text),
    "units": lambda text: "".join(f"\\u{ord(c):04x}" for c in text),
    "braces": lambda text: "".join(f"\\u{{{ord(c):x}}}" for c in text),
    "byte-escapes": lambda text: "".join(f"\\x{ord(c):02x}" for c in text),
    "octal": lambda text: "".join(f"\\{ord(c):03o}" for c in text),
    "entities": lambda text: "".join(f"&#{ord(c)};" for c in text),
    "hex-entities": lambda text: "".join(f"&#x{ord(c):x};" for c in text),
    "code-points": lambda text: " ".join(f"U+{ord(c):04X}" for c in text),
    "quoted-printable": lambda text: "".join(f"={ord(c):02X}" for c in text),
    "hex": lambda text: text.encode().hex(),
    "hex-upper": lambda text: text.encode().hex().upper(),
    "hex-bytes": lambda text: text.encode().hex(" "),
    "hex-colons": lambda text: text.encode().hex(":"),
    "hex-list": lambda text: ", ".join(f"0x{ord(c):02x}" for c in text),
    "base64": _base64,
    "base64-bare": lambda text: _base64(text).rstrip("="),
    "base64-url": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64-wide": lambda text: base64.b64encode(text.encode("utf-16-le")).decode(),
    "base64-twice": lambda text: _base64(_base64(text)),
    "base64-hex": lambda text: _base64(text.encode().hex()),
    "base64-fullwidth": lambda text: _fullwidth(_base64(text)),
    "base64-lines": lambda text: base64.encodebytes(
        f"{text}\n{text}".encode()
    ).decode(),
    "tags-zero-width": lambda text: "\u200d".join(_tags(text)),
}
