"""The documents of a registry: one version of what a namespace says, as canonical JSON.

Whatever spelling came in, what is compared, digested and kept is the RFC 8785 form, so
the order of members, white space and escapes make no other document.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import attrs

from uaix_core.values.canonical import canonical_bytes, sha256_hex
from uaix_core.values.errors import CallerError, LimitError
from uaix_core.values.ids import is_id
from uaix_core.values.strict_json import StrictJsonError, parse

#: The largest document in bytes, as it came and in its canonical form.
MAX_DOCUMENT_BYTES: Final = 2**20
#: Containers within each other.
MAX_DOCUMENT_DEPTH: Final = 32
#: How a document digest begins; 64 lower-case hex digits follow.
DIGEST_PREFIX: Final = "sha256:"

#: A JSON object as a value, or its text.
DocumentSource = Mapping[str, Any] | str | bytes


@attrs.frozen
class RegistryDocument:
    """A document that was read strictly; `read_document` makes it.

    ``text`` is its RFC 8785 form, ``digest`` is ``sha256:`` and the SHA-256 of that.
    """

    namespace: str
    version: int
    text: str = attrs.field(repr=False)
    digest: str = attrs.field(repr=False)

    def value(self) -> dict[str, Any]:
        """The document as JSON data, made anew for each caller."""
        value: dict[str, Any] = json.loads(self.text)
        return value


def read_document(source: DocumentSource) -> RegistryDocument:
    """Read a document strictly: an object with ``namespace`` and ``version``.

    Other members are the owner's of the registry to judge.

    Raises:
        CallerError: ``registration.document`` for what is no strict I-JSON object, has
            no canonical form, or names no namespace (an id) or version (from 1).
        LimitError: ``registration.document`` above `MAX_DOCUMENT_BYTES`.

    """
    data = _canonical(source)
    # Read back, so that 1.0 and 1 are the same version here as they are in the digest,
    # and nothing that a caller still holds can change what was judged.
    value = _parsed(data)
    if not isinstance(value, dict):
        raise CallerError("a document is a JSON object", code="registration.document")
    namespace, version = value.get("namespace"), value.get("version")
    if not (isinstance(namespace, str) and is_id(namespace)):
        raise CallerError(
            "the namespace of a document is an id",
            code="registration.document",
            path="namespace",
        )
    if type(version) is not int or version < 1:
        raise CallerError(
            "the version of a document is an integer from 1",
            code="registration.document",
            path="version",
        )
    digest = DIGEST_PREFIX + sha256_hex(data)
    return RegistryDocument(namespace, version, data.decode("utf-8"), digest)


def document_digest(source: DocumentSource) -> str:
    """What a grant has to name for this document; errors as `read_document`."""
    return read_document(source).digest


def _canonical(source: DocumentSource) -> bytes:
    value: Any
    if isinstance(source, str | bytes):
        # A text has at least as many bytes as characters.
        _check_size(len(source))
        raw = source
        if isinstance(raw, str):
            raw = raw.encode("utf-8", "surrogatepass")
        _check_size(len(raw))
        value = _parsed(raw)
    elif isinstance(source, Mapping):
        value = dict(source)
    else:
        raise CallerError(
            "a document is a JSON object or its text", code="registration.document"
        )
    try:
        data = canonical_bytes(value)
    except CallerError:
        # The cause may quote what it couldn't write.
        raise CallerError(
            "the document has no canonical JSON form", code="registration.document"
        ) from None
    _check_size(len(data))
    return data


def _check_size(size: int) -> None:
    if size > MAX_DOCUMENT_BYTES:
        raise LimitError(
            f"a document has {MAX_DOCUMENT_BYTES} bytes at most",
            code="registration.document",
        )


def _parsed(data: bytes) -> Any:
    try:
        return parse(data, max_depth=MAX_DOCUMENT_DEPTH)
    except StrictJsonError as error:
        raise CallerError(
            "the document isn't strict JSON",
            code="registration.document",
            path=error.path,
            hint=error.message,
        ) from None
