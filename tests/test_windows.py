"""Windows against the standard library's calendar, and their edges to the millisecond."""

from datetime import UTC, date, datetime

import pytest

from projections.windows import DAY_MS, BadWindow, Span, civil, day_number, resolve, span, windows
from tests.entries import MONDAY_MS


def test_every_day_of_four_centuries_is_the_calendars() -> None:
    first = date(1970, 1, 1).toordinal()
    for day in range(146_097):
        known = date.fromordinal(first + day)
        year, week, _ = known.isocalendar()
        assert windows(day * DAY_MS) == ("all", f"{year:04}-W{week:02}", known.isoformat())
        assert civil(day) == (known.year, known.month, known.day)
        assert day_number(known.year, known.month, known.day) == day


def test_a_millisecond_before_midnight_is_the_day_before_and_at_weeks_end_the_week_before() -> None:
    assert windows(MONDAY_MS - 1) == ("all", "2026-W48", "2026-11-29")
    assert windows(MONDAY_MS) == ("all", "2026-W49", "2026-11-30")
    assert windows(MONDAY_MS + 1) == ("all", "2026-W49", "2026-11-30")
    assert windows(MONDAY_MS + DAY_MS - 1)[2] == "2026-11-30"
    assert windows(MONDAY_MS + 7 * DAY_MS - 1)[1] == "2026-W49"


def test_week_and_day_are_resolved_when_asked_and_names_stay_what_they_are() -> None:
    assert resolve("day", MONDAY_MS - 1) == "2026-11-29"
    assert resolve("day", MONDAY_MS) == "2026-11-30"
    assert resolve("week", MONDAY_MS - 1) == "2026-W48"
    for name in ("all", "2026-W53", "2020-02-29"):
        assert resolve(name, MONDAY_MS) == name


def test_a_span_says_when_a_window_turns() -> None:
    assert span("all") is None
    assert span("2026-11-30") == Span(MONDAY_MS, MONDAY_MS + DAY_MS)
    assert span("2026-W49") == Span(MONDAY_MS, MONDAY_MS + 7 * DAY_MS)
    assert datetime.fromtimestamp(MONDAY_MS / 1000, UTC) == datetime(2026, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "name",
    ["", "All", "month", "2026", "2026-W00", "2026-W54", "2025-W53", "2026-W4", "2026-w48", "2026-02-29", "2026-13-01",
     "2026-00-10", "2026-1-1", "2026-11-31", "1969-12-31", "２０２６-11-29", "2026-11-29 ", "0000-01-01"],
)  # fmt: skip
def test_no_other_name_is_a_window(name: str) -> None:
    with pytest.raises(BadWindow):
        resolve(name, MONDAY_MS)
