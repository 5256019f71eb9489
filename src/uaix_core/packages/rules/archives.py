"""The rules of archives and of the paths in them.

Source: UAIX package format v0.1, "Archives"; family words and triggers are the
corpus's. APPNOTE numbers are those of PKWARE's .ZIP File Format Specification.
"""

from __future__ import annotations

from typing import Final

from uaix_core.packages.findings import Rule, Severity

_PACK = "zip the content, not the folder; uaix pack"


def _error(
    code: str,
    family: str,
    meaning: str,
    hint: str | None = None,
    lenient: Severity | None = None,
) -> Rule:
    return Rule(
        code, family, "error", meaning, "malformed_schema", hint=hint, lenient=lenient
    )


def _warning(code: str, family: str, meaning: str, hint: str | None = None) -> Rule:
    return Rule(code, family, "warning", meaning, hint=hint)


_CONTAINER = (
    _error("zip.extension", "extension", "the file name does not end in .uaix"),
    _error("zip.not-zip", "not_zip", "not a ZIP archive"),
    _error("zip.truncated", "truncated", "the archive is cut short"),
    _error("zip.framing", "framing", "bytes outside any record, or wrong counts"),
    _error("zip.multi-disk", "multi_disk", "the archive is split over disks"),
    _error("zip.multi-end", "multi_eocd", "more than one end record can be found"),
    _error("zip.zip64", "zip64", "ZIP64 records are not read", hint="turn ZIP64 off"),
)

_ENTRIES = (
    _error("zip.encrypted", "encrypted", "an encryption flag is set"),
    _error("zip.version", "zip_version", "needs a feature or version not read here"),
    _error("zip.method", "method", "only stored and deflate are read"),
    _error("zip.header-mismatch", "header_mismatch", "local and directory differ"),
    _error("zip.size", "size_mismatch", "the sizes do not fit the content"),
    _error("zip.crc", "crc_mismatch", "the CRC-32 of the content is wrong"),
    _error("zip.deflate", "crc_mismatch", "the compressed content is damaged"),
    _error("zip.descriptor", "data_descriptor", "the data descriptor is wrong"),
    _error("zip.overlap", "overlap", "entries overlap each other or the directory"),
    _error(
        "zip.hidden-entry", "hidden_entry", "an entry that the directory leaves out"
    ),
    _error("zip.special-file", "special_file", "not a regular file"),
    _error("zip.directory-entry", "directory_entry", "a folder entry of no use"),
    _warning(
        "zip.parent-folder", "directory_entry", "a folder entry was left out of account"
    ),
    _error("zip.extra-field", "extra_field", "an extra field that is not allowed"),
    _error(
        "zip.extra-unknown",
        "extra_field",
        "an extra field of an unknown kind",
        lenient="warning",
    ),
    _warning(
        "zip.wrapping-folder",
        "manifest_missing",
        "everything lies inside one more folder",
        hint=_PACK,
    ),
    _warning("zip.macosx", "undeclared", "a folder made by a tool", hint=_PACK),
)

_LIMITS = (
    _error("zip.bomb", "bomb", "a decompression bomb"),
    _error("zip.limit-archive", "limit_size", "the archive is too large"),
    _error("zip.limit-entries", "limit_entries", "too many entries"),
    _error("zip.limit-entry", "limit_size", "an entry is too large"),
    _error("zip.limit-total", "limit_size", "the entries together are too large"),
    _error("zip.limit-extra", "limit_size", "the extra fields are too large"),
)

_PATHS = (
    _error(
        "path.encoding",
        "path_encoding",
        "the name is not UTF-8, or not ASCII without the UTF-8 flag",
    ),
    _error("path.shape", "path_shape", "an empty or . segment"),
    _error("path.traversal", "path_traversal", "a .. segment"),
    _error("path.absolute", "path_absolute", "a path is relative"),
    _error("path.unc", "path_unc", "a network or device namespace"),
    _error("path.drive", "path_drive", "a drive letter"),
    _error("path.backslash", "path_backslash", "folders are parted by /", hint=_PACK),
    _error("path.stream", "path_stream", "a colon names a stream of a file"),
    _error("path.chars", "path_chars", 'one of * ? " < > |'),
    _error("path.control", "path_control", "a control character"),
    _error(
        "path.unicode",
        "path_unicode",
        "not NFC, or an invisible, directional or look-alike character",
    ),
    _error("path.trailing", "path_trailing", "a segment ends in a dot or space"),
    _error("path.device", "path_device", "a device name of Windows"),
    _error("path.reserved", "path_reserved", "a folder owned by a version control"),
    _error("path.limit", "path_limit", "the path is too long or too deep"),
    _error("path.duplicate", "duplicate_entry", "the same path twice"),
    _error(
        "path.alias",
        "duplicate_normalized",
        "two paths that some file systems hold for the same",
    ),
    _error("path.conflict", "path_conflict", "a file that is also a folder"),
)

#: Every rule of archives and paths by its code.
ARCHIVE_RULES: Final[dict[str, Rule]] = {
    rule.code: rule for rule in (*_CONTAINER, *_ENTRIES, *_LIMITS, *_PATHS)
}

#: Messages for the ways honest tools break a rule that has no hint of its own.
PADDING: Final = "bytes after the end record (write to a file)"
STORED_DESCRIPTOR: Final = (
    "a stored entry with a data descriptor has no certain end "
    "(use deflate or a seekable file)"
)
UNFLAGGED_NAME: Final = "a UTF-8 name without the UTF-8 flag (uaix pack)"
