"""Which logical paths a package may hold, on every platform alike.

Source: UAIX package format v0.1, "Paths". A path is unsafe when any file system
could read it as another one, so nothing here asks which platform it runs on.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.values.quoting import IGNORABLE, NONCHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from uaix_core.packages.findings import Findings
    from uaix_core.packages.limits import Limits

_strip_ignorable = re.compile(f"[{IGNORABLE}]").sub
_find_unwanted = re.compile(f"[{IGNORABLE}{NONCHARACTERS}]").search
_UNWANTED_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))

_PORT_DIGITS = "0123456789¹²³"
_DEVICES = frozenset(
    (
        *("CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"),
        *(f"COM{digit}" for digit in _PORT_DIGITS),
        *(f"LPT{digit}" for digit in _PORT_DIGITS),
    )
)
_is_reserved = re.compile(r"\.(?:git|hg|svn)|(?:git|hg|svn)~[0-9]+").fullmatch

# One segment of plain letters that breaks no rule. `~`, `$` and the rest are left to
# the full judgement; so is everything whose length a segment limit could meet.
_SEGMENT = (
    r"(?!(?:con|prn|aux|nul|com\d|lpt\d) *(?:[./]|\Z))(?!\.(?:git|hg|svn)(?:/|\Z))"
    r"[a-z0-9._ -]*[a-z0-9_-]"
)
_is_plain = re.compile(
    rf"{_SEGMENT}(?:/{_SEGMENT})*", re.ASCII | re.IGNORECASE
).fullmatch

_find_control = re.compile(r"[\x00-\x1f\x7f-\x9f]").search
_find_portable = re.compile(r'[*?"<>|]').search
_find_reserved_character = re.compile(r'[/\\:*?"<>|]').search
_split_name = re.compile(r"[\\:]").split
_is_drive = re.compile(r"[A-Za-z]:").match
_is_unc = re.compile(r"[/\\]{2}").match

#: Rules that look at the whole path: code, predicate.
_PATH_RULES: Final[tuple[tuple[str, Callable[[str], object]], ...]] = (
    ("path.absolute", lambda path: path.startswith("/")),
    ("path.unc", _is_unc),
    ("path.drive", _is_drive),
    ("path.backslash", lambda path: "\\" in path),
    ("path.stream", lambda path: ":" in path[2 if _is_drive(path) else 0 :]),
    ("path.chars", _find_portable),
    ("path.control", _find_control),
)

_SHOWN = 200


def shown(path: str) -> str:
    """The path for people: invisible characters escaped, a long one shortened."""
    text = path if len(path) <= _SHOWN else path[:_SHOWN] + "..."
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return "".join(_shown_character(character) for character in text)


def _shown_character(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character.isprintable() and not _find_unwanted(character):
        return character
    return f"\\u{{{ord(character):x}}}"


def alias_key(path: str) -> str:
    """What the path is to a file system that folds and ignores the most.

    Ignorable code points stripped, NFKC, case folded, and all that once more, since
    folding can bring forth what the first round would have changed.
    """
    if path.isascii():
        return path.lower()
    for _ in range(2):
        path = unicodedata.normalize("NFKC", _strip_ignorable("", path)).casefold()
    return path


def judge_path(path: str, limits: Limits, findings: Findings) -> bool:
    """Judge one path; one finding for each rule it breaks.

    Of a path beyond the limit of length nothing else is judged, of one beyond the
    limit of depth only the first segments. Returns whether the path broke no rule.
    """
    if len(path) <= limits.segment_bytes and len(path) <= limits.path_bytes:
        short = path.count("/") < limits.path_depth
        if short and _is_plain(path):
            return True
    elif len(path) > limits.path_bytes:
        findings.add("path.limit", shown(path))
        return False
    codes = _broken(path, limits)
    for code in codes:
        findings.add(code, shown(path))
    return not codes


def _broken(path: str, limits: Limits) -> list[str]:
    if _size(path) > limits.path_bytes:
        return ["path.limit"]
    codes = [code for code, breaks in _PATH_RULES if breaks(path)]
    found: set[str] = set()
    segments = path.removeprefix("/").split("/")
    if len(segments) > limits.path_depth:
        found.add("path.limit")
        del segments[limits.path_depth :]
    for segment in segments:
        found |= _broken_by_segment(segment)
        if _size(segment) > limits.segment_bytes:
            found.add("path.limit")
    # A drive, a stream and the parts between backslashes hide names as well.
    for segment in segments:
        for name in _split_name(segment):
            found |= _broken_by_name(name)
    return codes + sorted(found)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _broken_by_segment(segment: str) -> set[str]:
    if segment in ("", "."):
        return {"path.shape"}
    found = set()
    if segment != ".." and segment[-1] in ". ":
        found.add("path.trailing")
    if not segment.isascii() and _is_deceptive(segment):
        found.add("path.unicode")
    return found


def _broken_by_name(name: str) -> set[str]:
    found = set()
    if name.rstrip(" ") == "..":
        found.add("path.traversal")
    if name.partition(".")[0].rstrip(" ").upper() in _DEVICES:
        found.add("path.device")
    if _is_reserved(alias_key(name).rstrip(". ")):
        found.add("path.reserved")
    return found


def _is_deceptive(segment: str) -> bool:
    if not unicodedata.is_normalized("NFC", segment) or _find_unwanted(segment):
        return True
    if any(
        unicodedata.category(character) in _UNWANTED_CATEGORIES
        for character in set(segment)
        if character > "\x9f"
    ):
        return True
    compatible = unicodedata.normalize("NFKC", segment)
    if compatible == segment:
        return False
    return bool(
        _find_reserved_character(compatible)
        or compatible == ""
        or compatible[-1] in ". "
        or _broken_by_name(compatible)
    )


def judge_paths(
    paths: Iterable[str], findings: Findings, limits: Limits = DEFAULT_LIMITS
) -> None:
    """Judge the paths of files against each other.

    Equal ones are `path.duplicate`; files or folders equal only by `alias_key` are
    `path.alias`; a file that is also a folder, by its alias too, `path.conflict`.
    Paths beyond the limits of length and depth are left out: `judge_path` refused
    them.
    """
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    for path in paths:
        too_deep = path.count("/") >= limits.path_depth
        if too_deep or len(path) > limits.path_bytes:
            continue
        key = alias_key(path)
        other = files.get(key)
        if other is None:
            files[key] = path
        else:
            code = "path.duplicate" if other == path else "path.alias"
            findings.add(code, shown(path))
        _note_folders(path, folders, findings)
    for key in files.keys() & folders.keys():
        findings.add("path.conflict", shown(files[key]))


def _note_folders(path: str, folders: dict[str, str], findings: Findings) -> None:
    folder, slash, _ = path.rpartition("/")
    while slash:
        key = alias_key(folder)
        other = folders.get(key)
        if other == folder:
            return
        if other is not None:
            findings.add("path.alias", shown(folder))
            return
        folders[key] = folder
        folder, slash, _ = folder.rpartition("/")


def wrapping_folder(paths: Iterable[str]) -> str | None:
    """The one folder around everything, when ``.uai/`` lies inside it, else None."""
    wrapper = None
    holds_package = False
    for path in paths:
        first, slash, rest = path.partition("/")
        if not slash or first == ".uai" or wrapper not in (None, first):
            return None
        wrapper = first
        holds_package = holds_package or rest.startswith(".uai/")
    return wrapper if holds_package else None
