"""Requests to hosts that only an inside may reach.

A loopback, link-local, private, metadata, ``.internal`` or ``.local`` host together
with a request verb; in a field of a manifest the host alone. Source: UAIX package
format v0.1, "Bodies" (content that refuses); RFC 1918, 3927, 4193, 6761, 6762.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from uaix_core.gate.hits import Hit, byte_offsets
from uaix_core.gate.sentences import Sentences, any_within, places_of
from uaix_core.gate.views import plain_views

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.gate.hits import Severity

LOOPBACK: Final = "probe-loopback"
PRIVATE: Final = "probe-private"

_METADATA: Final = frozenset(
    {
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
    }
)
_LOOPBACK_NETS: Final = tuple(
    map(ipaddress.ip_network, ("127.0.0.0/8", "0.0.0.0/32", "::1/128", "::/128"))
)
_PRIVATE_NETS: Final = tuple(
    map(
        ipaddress.ip_network,
        (
            "10.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "169.254.0.0/16",
            "fc00::/7",
            "fe80::/10",
        ),
    )
)

#: How far before a bare name a verb makes it a host, and how long a path may be.
_NEAR: Final = 24
_MAX_FILE: Final = 200

#: How far before a host a verb of the second kind may stand.
_BEFORE_REACH: Final = 70

_IN_URL: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,15}://(?:[^\s/?#@\"'<>]{0,200}@)?"
    r"(?:\[(?P<v6>[0-9A-Fa-f:.%]{2,60})\]|(?P<host>[^\s/?#:\"'<>`()\[\]{},;|\\]{1,253}))"
)
_ADDRESS: Final = re.compile(
    r"(?<![\w.:/-])(?P<host>\d{1,3}(?:\.\d{1,3}){3})(?![\w-]|\.\d)",
    re.ASCII,
)
_V6: Final = re.compile(
    r"(?<![\w.:])\[?(?P<host>(?:f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]|(?=::1\b)):"
    r"[0-9a-f:]{1,38})(?![\w:])",
    re.IGNORECASE | re.ASCII,
)
_BARE: Final = re.compile(
    r"(?<![\w.:/-])(?P<host>localhost|metadata\.google\.internal"
    r"|(?:[A-Za-z0-9_-]{1,63}\.){1,8}(?:internal|local|localhost))(?![\w-]|\.\w)",
    re.IGNORECASE | re.ASCII,
)

#: Verbs that mean a request wherever in the sentence they stand, and those that do only
#: right before a host.
_VERBS: Final = re.compile(
    r"\b(?:fetch|curl|wget|ping|nmap|scan|probe|request|download|query|connect|browse"
    r"|visit|retrieve|contact|crawl|scrape|telnet|ssh|netcat|nc|httpie"
    r"|traceroute|enumerate|port-?scan|invoke-webrequest|iwr|urlopen"
    r"|requests\.(?:get|post|put|delete|head|patch))\b",
    re.IGNORECASE | re.ASCII,
)
_BEFORE: Final = re.compile(
    r"\b(?:get|post|put|patch|delete|head|options|open|call|read|load|send|access|hit"
    r"|check|try|reach|poll|pull|push|upload|report|submit|use|go|look|resolve|dig"
    r"|import|include|list|dump|grab|collect|tell)\b",
    re.IGNORECASE | re.ASCII,
)

#: A file's last part, not a host's.
_FILE_PATH: Final = re.compile(r"(?:^|\s)(?:\.{0,2}/|~/|[\w.-]+/)\S{0,200}\Z")


def _number(part: str) -> int:
    return int(part, 16 if part[:2].lower() == "0x" else 8 if _is_octal(part) else 10)


def _is_octal(part: str) -> bool:
    return len(part) > 1 and part[0] == "0" and part.isdigit()


_MAX_PARTS: Final = 4
_IPV4_BITS: Final = 32
_MAX_BYTE: Final = 0xFF


def _loose_v4(host: str) -> ipaddress.IPv4Address | None:
    """An address in any spelling that resolvers take: short, hex, octal, one number."""
    parts = host.split(".")
    if len(parts) > _MAX_PARTS:
        return None
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        return None
    *front, last = numbers
    if any(not 0 <= number <= _MAX_BYTE for number in front):
        return None
    room = _IPV4_BITS - 8 * len(front)
    if not 0 <= last < 1 << room:
        return None
    value = last
    for index, number in enumerate(front):
        value |= number << (_IPV4_BITS - 8 - 8 * index)
    return ipaddress.IPv4Address(value)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    if ":" not in host:
        return _loose_v4(host)
    try:
        found = ipaddress.IPv6Address(host.split("%", maxsplit=1)[0])
    except ValueError:
        return None
    return found.ipv4_mapped or found


@lru_cache(maxsize=1024)
def kind_of_host(host: str) -> str | None:
    """``probe-loopback``, ``probe-private`` or None for a host that anyone reaches."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return LOOPBACK
    if name == "metadata" or name.endswith((".internal", ".local")):
        return PRIVATE
    address = _address(name)
    if address is None:
        return None
    if str(address) in _METADATA:
        return PRIVATE
    for kind, networks in ((LOOPBACK, _LOOPBACK_NETS), (PRIVATE, _PRIVATE_NETS)):
        if any(
            address.version == network.version and address in network
            for network in networks
        ):
            return kind
    return None


#: Each form of a host, with a sign that has to be in the text for it to be searched.
_FORMS: Final = (
    (_IN_URL, re.compile("://")),
    (_ADDRESS, re.compile(r"[0-9]\.[0-9]")),
    (_V6, re.compile("::")),
    (_BARE, re.compile(r"local|\.internal", re.IGNORECASE)),
)


def _hosts(text: str) -> Iterator[tuple[re.Pattern[str], str, int, int]]:
    """Each private host: the form it was found by, its kind and its span."""
    for pattern, sign in _FORMS:
        if not sign.search(text):
            continue
        for match in pattern.finditer(text):
            group = "host" if match["host"] is not None else "v6"
            kind = kind_of_host(match[group])
            if kind is not None:
                yield pattern, kind, match.start(group), match.end(group)


def _is_file(text: str, start: int) -> bool:
    return _FILE_PATH.search(text, max(0, start - _MAX_FILE), start) is not None


class _Requests:
    """What a body asks for: its sentences, and the verbs that mean a request."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._sentences = Sentences(text)
        self._verbs = places_of(_VERBS, text)
        self._before = places_of(_BEFORE, text)

    def __contains__(self, start: int) -> bool:
        """Whether the host at a place is asked for in its sentence."""
        first, last = self._sentences.around(start)
        if any_within(self._verbs, first, last):
            return True
        line = self.text.rfind("\n", 0, start) + 1
        return any_within(self._before, max(first, line, start - _BEFORE_REACH), start)

    def is_host(self, start: int, end: int) -> bool:
        """Whether a bare name is used as a host: a port, a path or a verb beside it.

        Names of local files end in ``.local`` as well.
        """
        return (
            self.text[end : end + 1] in {":", "/"}
            or self.text[start:end].lower() == "localhost"
            or any_within(self._verbs, max(0, start - _NEAR), start)
        )


def _asked_for(text: str, *, is_field: bool) -> Iterator[tuple[str, int, int]]:
    """The private hosts that count: all of a field's, in a body those asked for."""
    requests: _Requests | None = None
    for form, kind, start, end in _hosts(text):
        if form is _BARE and _is_file(text, start):
            continue
        if not is_field:
            requests = requests or _Requests(text)
            if form is _BARE and not requests.is_host(start, end):
                continue
            if start not in requests:
                continue
        yield kind, start, end


def _severity(kind: str, *, is_field: bool) -> Severity:
    return "warning" if kind == LOOPBACK and not is_field else "error"


def private_probes(text: str, *, is_field: bool = False) -> list[Hit]:
    """Private hosts that a text asks to reach, one hit a host, in order of offset.

    With ``is_field`` the text is the value of a manifest field, where the host alone
    refuses. In a body a request verb has to stand in the same sentence, and loopback
    (``probe-loopback``) only warns.
    """
    found: dict[int, str] = {}
    for view in plain_views(text):
        for kind, start, end in _asked_for(view.text, is_field=is_field):
            found.setdefault(view.source(start, end), kind)
    offsets = byte_offsets(text, found)
    return [
        Hit(kind, offsets[place], severity=_severity(kind, is_field=is_field))
        for place, kind in sorted(found.items())
    ]
