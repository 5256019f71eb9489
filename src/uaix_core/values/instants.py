"""Instants and half-open intervals.

An instant is an ``int``: microseconds since 1970-01-01T00:00:00Z, leap seconds not
counted. On the wire it is RFC 3339 with six decimals and ``Z``. Nothing else in the
library parses dates.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import Protocol

import attrs

from uaix_core.values.errors import CallerError

SECOND = 1_000_000
DAY = 86_400 * SECOND

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: The first and the last instant that can be written down (years 1 to 9999).
EARLIEST = -62_135_596_800 * SECOND
FOREVER = 253_402_300_799 * SECOND + 999_999

_RFC3339 = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?"
    r"(?:([Zz])|([+-])(\d{2}):(\d{2}))",
    re.ASCII,
)


class Clock(Protocol):
    """Where the present comes from; handed in, so that every test can freeze it."""

    def now(self) -> int:
        """The present as an instant (microseconds UTC)."""
        ...


@attrs.frozen
class Interval:
    """A half-open stretch of time: ``start`` belongs to it, ``end`` does not."""

    start: int
    end: int = FOREVER

    def __attrs_post_init__(self) -> None:
        check_instant(self.start)
        check_instant(self.end)
        if self.end <= self.start:
            raise CallerError(
                "an interval must end after it starts", code="instant.interval"
            )

    def __contains__(self, instant: int) -> bool:
        return self.start <= instant < self.end

    def overlaps(self, other: Interval) -> bool:
        """Whether the two intervals share at least one instant."""
        return self.start < other.end and other.start < self.end


def check_instant(instant: int) -> int:
    """Return the instant, or refuse what isn't an int within `EARLIEST`..`FOREVER`."""
    if type(instant) is not int or not EARLIEST <= instant <= FOREVER:
        raise CallerError(
            "an instant is a whole number of microseconds within years 1 to 9999",
            code="instant.range",
        )
    return instant


def format_instant(instant: int) -> str:
    """RFC 3339 with six decimals and ``Z``: ``2026-01-02T03:04:05.000000Z``."""
    check_instant(instant)
    moment = EPOCH + timedelta(microseconds=instant)
    return (
        f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}"
        f"T{moment.hour:02d}:{moment.minute:02d}:{moment.second:02d}"
        f".{moment.microsecond:06d}Z"
    )


def parse_instant(text: str) -> int:
    """Read an RFC 3339 date-time with ``Z`` or an offset.

    Raises:
        CallerError: ``instant.syntax`` when it isn't one (also without a zone), when
            the date doesn't exist, for a leap second, or when it is finer than a
            microsecond, since nothing may be lost silently.

    """
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise CallerError(
            "not an RFC 3339 date-time with a zone",
            code="instant.syntax",
            hint="write it like 2026-01-02T03:04:05Z",
        )
    *date, fraction, _zulu, sign, hours, minutes = match.groups()
    digits = (fraction or "").ljust(9, "0")
    if digits[6:] != "000":
        raise CallerError(
            "an instant can't be finer than a microsecond", code="instant.syntax"
        )
    try:
        zone = time(int(hours or 0), int(minutes or 0))
        moment = datetime(*map(int, date), tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        raise CallerError("no such date or time", code="instant.syntax") from None
    offset = (zone.hour * 60 + zone.minute) * 60 * SECOND
    micros = from_datetime(moment) + int(digits[:6])
    return check_instant(micros + offset if sign == "-" else micros - offset)


def from_datetime(moment: datetime) -> int:
    """The instant of an aware `datetime`; a naive one is refused."""
    if moment.tzinfo is None:
        raise CallerError(
            "a datetime without a zone names no instant",
            code="instant.naive",
            hint="attach a tzinfo",
        )
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def to_datetime(instant: int) -> datetime:
    """The instant as a `datetime` in UTC."""
    return EPOCH + timedelta(microseconds=check_instant(instant))
