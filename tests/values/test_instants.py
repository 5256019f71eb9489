"""Laws of instants and half-open intervals."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uaix_core.values.errors import CallerError
from uaix_core.values.instants import (
    EARLIEST,
    FOREVER,
    Interval,
    check_instant,
    format_instant,
    from_datetime,
    parse_instant,
    to_datetime,
)


@given(st.integers(EARLIEST, FOREVER))
def test_text_round_trip(instant: int) -> None:
    """Every instant is written with six decimals and Z and read back exactly."""
    text = format_instant(instant)

    assert len("2026-01-02T03:04:05.000000Z") == len(text)
    assert instant == parse_instant(text)


@given(st.integers(EARLIEST, FOREVER - 1))
def test_text_order_is_time_order(instant: int) -> None:
    """Written instants sort as the instants do."""
    assert format_instant(instant) < format_instant(instant + 1)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00z", 0),
        ("1970-01-01T00:00:00.5Z", 500_000),
        ("1970-01-01T00:00:00.000001000Z", 1),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T18:30:00-05:30", 0),
        ("0001-01-01T00:00:00Z", EARLIEST),
        ("9999-12-31T23:59:59.999999Z", FOREVER),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000_000),
    ],
)
def test_reading(text: str, instant: int) -> None:
    """RFC 3339 is read with zones, fractions and the calendar taken seriously."""
    assert instant == parse_instant(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "2026-01-02 03:04:05Z",
        "2026-13-02T03:04:05Z",
        "2023-02-29T00:00:00Z",
        "2026-01-02T24:00:00Z",
        "2026-01-02T03:04:60Z",
        "2026-01-02T03:04:05.0000001Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+01:60",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "\u0662\u0660\u0662\u0666-01-02T03:04:05Z",
        "2026-01-02T03:04:05Z\n",
    ],
)
def test_refused(text: str) -> None:
    """Zoneless, impossible, too fine or out-of-range texts are refused, not guessed."""
    with pytest.raises(CallerError):
        parse_instant(text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_datetime_round_trip(moment: datetime) -> None:
    """An aware datetime comes back as the same moment."""
    assert moment == to_datetime(from_datetime(moment))


def test_zones_name_the_same_instant() -> None:
    """One moment in two zones is one instant."""
    zone = timezone(timedelta(hours=9))
    moment = datetime(2026, 1, 2, 3, tzinfo=UTC)

    assert from_datetime(moment) == from_datetime(moment.astimezone(zone))


def test_naive_datetimes_are_refused() -> None:
    """A datetime without a zone names no instant."""
    with pytest.raises(CallerError) as caught:
        from_datetime(datetime(2026, 1, 2))  # noqa: DTZ001 - that is the point

    assert "instant.naive" == caught.value.code


@pytest.mark.parametrize("instant", [EARLIEST - 1, FOREVER + 1, True, 1.0, "0", None])
def test_no_instants(instant: object) -> None:
    """Only whole microseconds within years 1 to 9999 are instants; bools are not."""
    with pytest.raises(CallerError):
        check_instant(instant)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("instant", "inside"), [(1, False), (2, True), (3, True), (4, False)]
)
def test_intervals_are_half_open(instant: int, inside: bool) -> None:
    """The start belongs to an interval, the end does not."""
    assert inside == (instant in Interval(2, 4))


@pytest.mark.parametrize(
    ("other", "shared"),
    [((0, 2), False), ((0, 3), True), ((3, 9), True), ((4, 9), False), ((2, 4), True)],
)
def test_overlap(other: tuple[int, int], shared: bool) -> None:
    """Intervals that only touch share no instant."""
    interval = Interval(2, 4)

    assert shared == interval.overlaps(Interval(*other))
    assert shared == Interval(*other).overlaps(interval)


@pytest.mark.parametrize("end", [1, 2])
def test_an_interval_is_not_empty(end: int) -> None:
    """An interval that ends where it starts, or before, is refused."""
    with pytest.raises(CallerError):
        Interval(2, end)
