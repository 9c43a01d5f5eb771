"""The spans of time a board can be about: `all`, an ISO week (`2026-W48`), a day (`2026-11-29`), all in UTC.

Milliseconds since 1970; days by the proleptic Gregorian calendar, weeks by ISO 8601 (Monday first, week 1 has the
year's first Thursday)."""

import re
from functools import lru_cache
from typing import NamedTuple

DAY_MS = 86_400_000
WEEK_DAYS = 7
ALL = "all"
NAMES = (ALL, "week", "day")
"""What may be asked for; `week` and `day` are resolved when asked."""
YEAR_MAX = 9999


class BadWindow(ValueError):
    """No window has this name."""


class Span(NamedTuple):
    """From and until in milliseconds; `until_ms` belongs to the next one."""

    from_ms: int
    until_ms: int


def windows(at_ms: int) -> tuple[str, str, str]:
    """The windows a finish at this time falls into: all, its week, its day."""
    return _of_day(at_ms // DAY_MS)


def resolve(name: str, now_ms: int) -> str:
    """`week` and `day` as they stand now; a window's own name is itself. Raises BadWindow."""
    if name in NAMES:
        return windows(now_ms)[NAMES.index(name)]
    span(name)
    return name


def span(window: str) -> Span | None:
    """When a window begins and ends; None for `all`. Raises BadWindow where `windows` gives no such name."""
    if window == ALL:
        return None
    if found := re.fullmatch(r"(\d{4})-W(\d\d)", window, re.ASCII):
        first = _first_monday(int(found[1])) + (int(found[2]) - 1) * WEEK_DAYS
        days = WEEK_DAYS
    elif found := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", window, re.ASCII):
        first = day_number(int(found[1]), int(found[2]), int(found[3]))
        days = 1
    else:
        raise BadWindow(window)
    # Only what comes back as it went in: week 53 of a year of 52 is another year's week.
    if first < 0 or window not in windows(first * DAY_MS):
        raise BadWindow(window)
    return Span(first * DAY_MS, (first + days) * DAY_MS)


@lru_cache(1024)
def _of_day(day: int) -> tuple[str, str, str]:
    year, month, date = civil(day)
    thursday = day - (day + 3) % WEEK_DAYS + 3  # day 0 was a Thursday
    week_year = civil(thursday)[0]
    week = (thursday - _first_monday(week_year)) // WEEK_DAYS + 1
    return ALL, f"{week_year:04}-W{week:02}", f"{year:04}-{month:02}-{date:02}"


def _first_monday(year: int) -> int:
    """The Monday of a year's week 1, as a day number: the week that has January 4."""
    fourth = day_number(year, 1, 4)
    return fourth - (fourth + 3) % WEEK_DAYS


def day_number(year: int, month: int, date: int) -> int:
    """Days since 1970-01-01. Years are counted from March, so that the leap day is their last."""
    year -= month <= 2
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + date - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + of_year - 719_468


def civil(day: int) -> tuple[int, int, int]:
    """Year, month and date of a day number; the inverse of `day_number`."""
    era, of_era = divmod(day + 719_468, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    date = of_year - (153 * month + 2) // 5 + 1
    return year + era * 400 + (month >= 10), month + (3 if month < 10 else -9), date
