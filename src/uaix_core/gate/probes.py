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

from uaix_core.gate.decoding import escape_edits
from uaix_core.gate.hits import Hit, byte_offsets
from uaix_core.gate.sentences import (
    Sentences,
    any_within,
    places_of_words,
    words,
)
from uaix_core.gate.view import edited_view
from uaix_core.gate.views import plain_views
from uaix_core.values.folding import lowered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.gate.hits import Severity
    from uaix_core.gate.view import View

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

#: Addresses of this network hold one of the older kind (RFC 6052).
_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b::/96")

#: How far before a bare name a verb makes it a host, and how long a path may be.
_NEAR: Final = 24
_MAX_FILE: Final = 200

#: How far before a host a verb of the second kind may stand.
_BEFORE_REACH: Final = 70

#: A body names at most so many hosts; a longer list decides nothing more.
MOST_HITS: Final = 20

_IN_URL: Final = re.compile(
    r"(?<![\w/.-])//(?:[^\s/?#@\"'<>]{0,200}@)?(?:\[(?P<v6>[0-9A-Fa-f:.%]{2,60})\]"
    r"|(?P<host>[^\s/?#:%\"'<>`()\[\]{},;|\\]{1,253}))"
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

#: What makes a noun of a word that is a verb as well.
_NOUN: Final = "".join(
    f"(?<!\\b{before} {{0}})"
    for before in ("a", "the", "this", "each", "every", "per", "pull", "merge")
)

#: Verbs that mean a request wherever in the sentence they stand, and those that do only
#: right before a host.
_VERBS: Final = words(
    "fetch curl wget ping nmap scan probe connect browse retrieve crawl scrape telnet"
    " ssh netcat nc httpie traceroute enumerate portscan port-scan invoke-webrequest"
    " iwr urlopen requests.get requests.post requests.put requests.delete"
    " requests.head requests.patch"
) | {
    **words("request query download visit contact", after=_NOUN),
    **words("requests", after=r"(?= \d| https?:)"),
}
_BEFORE: Final = words(
    "get post put patch delete head options open call read load send access hit try"
    " reach poll push upload report submit go look resolve dig import include dump grab"
    " collect tell"
) | words("pull", after="(?! request)")

#: A range of addresses is named far more often than it is searched.
_SWEEPS: Final = words(
    "nmap masscan zmap scan probe sweep ping crawl enumerate portscan port-scan"
)
_RANGE: Final = re.compile(r"/\d{1,2}(?![\w/-]|\.\w)", re.ASCII)

#: Numbers of four parts that are none of an address: of a section, of a release.
_NUMBERED: Final = re.compile(
    r"(?:\b(?:section|sect|sec|chapter|clause|figure|fig|table|appendix|paragraph|page"
    r"|rule|item|step|version|release|pull request|merge request)\.?|\u00a7)"
    r"[ \t#:]{0,3}\Z",
    re.IGNORECASE,
)
_OF_A_TEXT: Final = re.compile(
    r"\s+(?:of|in)\s+(?:the|this|that|our)\s+(?:book|manual|guide|handbook|standard"
    r"|spec|specification|document|report)\b",
    re.IGNORECASE,
)
_LONGEST_NUMBERED: Final = 20

#: Signs of an address that is written with escapes.
_ESCAPED: Final = re.compile(r"%[0-9A-Fa-f]{2}")

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
    if found in _TRANSLATED:
        return ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF)
    return found.ipv4_mapped or found.sixtofour or found


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
    (_IN_URL, re.compile("//")),
    (_ADDRESS, re.compile(r"[0-9]\.[0-9]")),
    (_V6, re.compile("::")),
    (_BARE, re.compile(r"local|\.internal", re.IGNORECASE)),
)


def _is_file(text: str, start: int) -> bool:
    if start == 0 or text[start - 1].isspace():
        return False
    first = max(0, start - _MAX_FILE)
    return text.find("/", first, start) >= 0 and (
        _FILE_PATH.search(text, first, start) is not None
    )


def _is_numbered(text: str, start: int, end: int) -> bool:
    """Whether what looks like an address is the number of a section or a release."""
    return bool(
        _NUMBERED.search(text, max(0, start - _LONGEST_NUMBERED), start)
        or _OF_A_TEXT.match(text, end)
    )


class _Requests:
    """What a body asks for: its sentences, and the verbs that mean a request."""

    def __init__(self, text: str) -> None:
        self.text = text
        lower = lowered(text)
        self._verbs = places_of_words(_VERBS, lower)
        self._before = places_of_words(_BEFORE, lower)
        self._sweeps = places_of_words(_SWEEPS, lower)
        self._sentences: Sentences | None = None

    def __bool__(self) -> bool:
        """Whether the body asks for anything at all."""
        return bool(self._verbs or self._before)

    def asks_for(self, form: re.Pattern[str], start: int, end: int) -> bool:
        """Whether the host at a place is asked for in its sentence."""
        if form is _BARE and not self._is_host(start, end):
            return False
        near = max(0, start - _BEFORE_REACH)
        if form is _ADDRESS and (
            _is_numbered(self.text, start, end)
            or (
                _RANGE.match(self.text, end)
                and not any_within(self._sweeps, near, start)
            )
        ):
            return False
        if self._sentences is None:
            self._sentences = Sentences(self.text)
        first, last = self._sentences.around(start)
        if any_within(self._verbs, first, last):
            return True
        line = self.text.rfind("\n", near, start) + 1
        return any_within(self._before, max(first, line, near), start)

    def _is_host(self, start: int, end: int) -> bool:
        """Whether a bare name is used as a host: a port, a path or a verb beside it.

        Names of local files end in ``.local`` as well.
        """
        return (
            self.text[end : end + 1] in {":", "/"}
            or self.text[start:end].lower() == "localhost"
            or any_within(self._verbs, max(0, start - _NEAR), start)
        )


def _hosts(text: str, *, is_field: bool) -> Iterator[tuple[str, int, int]]:
    """The private hosts that count, each with its kind and its span.

    In a field all do, in a body those that are asked for. What is cheap to tell is
    told first: a body may name a hundred thousand hosts.
    """
    requests: _Requests | None = None
    for pattern, sign in _FORMS:
        if not sign.search(text):
            continue
        if not is_field:
            requests = _Requests(text) if requests is None else requests
            if not requests:
                return
        for match in pattern.finditer(text):
            group = "host" if match["host"] is not None else "v6"
            start, end = match.span(group)
            if requests is not None and not requests.asks_for(pattern, start, end):
                continue
            kind = kind_of_host(match[group])
            if kind and not (pattern is _BARE and _is_file(text, start)):
                yield kind, start, end


def _severity(kind: str, *, is_field: bool) -> Severity:
    return "warning" if kind == LOOPBACK and not is_field else "error"


def _views(text: str) -> Iterator[View]:
    """What a reader takes in, and what a client makes of escapes."""
    views = plain_views(text)
    yield from views
    if _ESCAPED.search(text):
        decoded = edited_view(views[-1], escape_edits(views[-1].text))
        if decoded is not None:
            yield decoded


def private_probes(text: str, *, is_field: bool = False) -> list[Hit]:
    """Private hosts that a text asks to reach, one hit a host, in order of offset.

    With ``is_field`` the text is the value of a manifest field, where the host alone
    refuses. In a body a request verb has to stand in the same sentence, loopback
    (``probe-loopback``) only warns, and of each kind at most ``MOST_HITS`` are told.
    """
    found: dict[int, str] = {}
    for view in _views(text):
        told: dict[str, int] = {LOOPBACK: 0, PRIVATE: 0}
        for kind, start, end in _hosts(view.text, is_field=is_field):
            told[kind] += 1
            if is_field or told[kind] <= MOST_HITS:
                found.setdefault(view.source(start, end), kind)
            elif kind == PRIVATE:
                break
    offsets = byte_offsets(text, found)
    return [
        Hit(kind, offsets[place], severity=_severity(kind, is_field=is_field))
        for place, kind in sorted(found.items())
    ]
