"""How large a package may be: settable per call, reported, never a silent cut.

Defaults are the "Limits" sentence of the UAIX package format v0.1 as read here. A
limit may be set up to four times its default; more is the caller's error.
"""

from __future__ import annotations

from typing import Final

import attrs

from uaix_core.values.errors import CallerError

KIB: Final = 1024
MIB: Final = 1024 * 1024

#: A limit may be raised to this many times its default.
CEILING_FACTOR: Final = 4


def _check(_limits: Limits, field: attrs.Attribute[int], value: int) -> None:
    ceiling = CEILING_FACTOR * (field.default or 0)
    if type(value) is not int or not 1 <= value <= ceiling:
        raise CallerError(
            f"{field.name} is a whole number from 1 to {ceiling}",
            code="limit.ceiling",
            path=field.name,
        )


def _limit(default: int) -> int:
    return attrs.field(default=default, validator=_check)


@attrs.frozen(kw_only=True)
class Limits:
    """The limits of one call.

    Sizes are in bytes. ``ratio`` is output over input and is judged only for output
    larger than ``ratio_floor_bytes``. ``segment_bytes`` and ``path_bytes`` count
    UTF-8; ``path_depth`` counts segments; ``extra_bytes`` is per header.

    Raises:
        CallerError: ``limit.ceiling`` for a value below 1 or above four times the
            default.

    """

    archive_bytes: int = _limit(64 * MIB)
    entries: int = _limit(4096)
    entry_bytes: int = _limit(16 * MIB)
    total_bytes: int = _limit(128 * MIB)
    ratio: int = _limit(200)
    ratio_floor_bytes: int = _limit(MIB)
    manifest_bytes: int = _limit(4 * MIB)
    json_depth: int = _limit(32)
    segment_bytes: int = _limit(255)
    path_bytes: int = _limit(1024)
    path_depth: int = _limit(32)
    extra_bytes: int = _limit(KIB)

    def is_bomb(self, output: int, source: int) -> bool:
        """Whether this many bytes out of ``source`` bytes is a decompression bomb."""
        return output > self.ratio_floor_bytes and output > self.ratio * source


DEFAULT_LIMITS: Final = Limits()

#: As far as any call may go: what was let in by raised limits comes out by these.
HIGHEST_LIMITS: Final = Limits(
    **{
        field.name: CEILING_FACTOR * field.default
        for field in attrs.fields(Limits)
        if field.default is not None
    }
)
