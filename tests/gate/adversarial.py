"""Texts made to slow a scanner down; run as a script to time them at one MiB.

Usage: ``python -m tests.gate.adversarial [KIB]``. Each line is the seconds of one text
in all functions of the gate; all of them grow with the length and no faster.
"""

from __future__ import annotations

import sys
import time

from uaix_core.gate.commands import destructive_commands
from uaix_core.gate.hidden import hidden_text
from uaix_core.gate.probes import private_probes
from uaix_core.gate.scan import scan_all
from uaix_core.gate.table import DETECTORS

KIB = 1024

#: Pieces that are repeated up to a length; most of them nearly match something.
PIECES = [
    "a",
    "A",
    "0",
    "aA0",
    "-",
    "_",
    ".",
    "/",
    "=",
    ":",
    "@",
    "\\",
    "%",
    "&",
    "<",
    "\n",
    " ",
    "\t",
    "a ",
    "a\n",
    "a1-",
    "aB.",
    "a/",
    "://",
    "a://",
    "://a:",
    "a://b:c",
    "@a:",
    "%41",
    "%4",
    "\\u0041",
    "\\x4",
    "&#65;",
    "U+0041 ",
    "=41",
    "41 ",
    "0x41, ",
    "41:",
    "QUFB",
    "QUFB\n",
    "aaaaaaaaaaaaaaaaaaaa\n",
    "AAAAAAAAAAAA1\n ",
    "eyJ",
    "eyJ.",
    "-eyJ",
    "password",
    "password=",
    "password: ",
    "password='",
    'key="',
    "api_key",
    "secret:::",
    "token = (",
    "Authorization: ",
    "Bearer ",
    "Basic QUFB ",
    "login a password ",
    "login ",
    "curl -u ",
    "curl ",
    "machine x login y ",
    "--password ",
    "ENV KEY ",
    "-----BEGIN ",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN A A A PRIVATE",
    "data:,",
    "ssh-rsa ",
    "sha256-",
    "aB3" * 10 + " ",
    "aB3" * 10 + ".",
    "x" * 15 + " ",
    "xxxx",
    "EXAMPLE",
    "${",
    "${a:-",
    "<a",
    "{{",
    "$(",
    "a.b",
    "a_b",
    "Ab",
    "aB",
    "AbCd1_",
    "rm ",
    "rm -rf ",
    "rm -r -f a ",
    "dd if=of=",
    "dd of=",
    "git push ",
    "git push -f ",
    "mkfs ",
    "drop database a ",
    "a(){",
    ":(){",
    "DROP DATABASE IF EXISTS ",
    "http://",
    "http://a",
    "10.0.0.1 ",
    "1.",
    "fe80:",
    "::",
    "a.local ",
    "xyz.local ",
    "1.1.1.1.",
    "http://10.0.0.1/ ",
    "http://a:b",
    "get 10.0.0.1\n",
    "curl localhost:1 ",
    "rm -rf / not ",
    "<!-- ai -->",
    "if the ai reads ",
    "local",
    "get ",
    "fetch 10.0.0.1 ",
    "<!--",
    "<!-- a",
    "<!-- system: -->",
    "<!-- you run -->",
    "\u200b",
    "\u200da",
    "\u202e",
    "\u202ea",
    "\u202ea\u202c",
    "\ufe0f",
    "\U000e0041",
    "\u00e9",
    "e\u0301",
    "\uff21",
    "\u5bc6",
    "\u5bc6\u94a5 ",
    "\ufdfa",
    "\u0430a",
    "\u00e9 ghp_" + "aB3" * 12 + " ",
    "\u00e9 password=a1b2c3d4e5f6 ",
]

#: What every detector begins with, so that each of them has to look.
KEYWORDS = " ".join(word for row in DETECTORS for word in row.keywords) + " "


def texts(length: int) -> dict[str, str]:
    """The texts by name, of so many characters."""
    found = {
        repr(piece): (piece * (length // len(piece) + 1))[:length] for piece in PIECES
    }
    found["spaced-comment"] = f"<!--{'.' + ' ' * length}-->"
    found["long-comment"] = f"<!-- {chr(10) * length} you -->"
    for name, unit in (
        ("keywords", KEYWORDS),
        ("keywords-upper", KEYWORDS.upper()),
        ("keywords-joined", KEYWORDS.replace(" ", "-a")),
    ):
        found[name] = (unit * (length // len(unit) + 1))[:length]
    return found


def scan_everything(text: str) -> None:
    """Run every function of the gate over a text."""
    scan_all(text)
    hidden_text(text)
    destructive_commands(text)
    private_probes(text)


def main(kib: int) -> None:
    """Time each text and write the slowest last."""
    times = []
    for name, text in texts(kib * KIB).items():
        start = time.process_time()
        scan_everything(text)
        times.append((time.process_time() - start, name))
    for seconds, name in sorted(times):
        sys.stdout.write(f"{seconds:8.3f} s  {name[:60]}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else KIB)
