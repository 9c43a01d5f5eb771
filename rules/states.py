"""The fifty states in order of statehood. The only place that knows their numbers, names and dates."""

from typing import NamedTuple


class State(NamedTuple):
    number: int  # 1..50, the strength of its card
    name: str
    postal: str  # two capital letters, as the post office has them
    statehood: str  # ISO date: the day it ratified the Constitution (the first thirteen) or was admitted


# Numbers are stored in logs and are the cards of fifty-states/1: this order never changes.
# North and South Dakota came in on one day, their papers shuffled on purpose; the alphabet decides.
STATES: tuple[State, ...] = (
    State(1, "Delaware", "DE", "1787-12-07"),
    State(2, "Pennsylvania", "PA", "1787-12-12"),
    State(3, "New Jersey", "NJ", "1787-12-18"),
    State(4, "Georgia", "GA", "1788-01-02"),
    State(5, "Connecticut", "CT", "1788-01-09"),
    State(6, "Massachusetts", "MA", "1788-02-06"),
    State(7, "Maryland", "MD", "1788-04-28"),
    State(8, "South Carolina", "SC", "1788-05-23"),
    State(9, "New Hampshire", "NH", "1788-06-21"),
    State(10, "Virginia", "VA", "1788-06-25"),
    State(11, "New York", "NY", "1788-07-26"),
    State(12, "North Carolina", "NC", "1789-11-21"),
    State(13, "Rhode Island", "RI", "1790-05-29"),
    State(14, "Vermont", "VT", "1791-03-04"),
    State(15, "Kentucky", "KY", "1792-06-01"),
    State(16, "Tennessee", "TN", "1796-06-01"),
    State(17, "Ohio", "OH", "1803-03-01"),
    State(18, "Louisiana", "LA", "1812-04-30"),
    State(19, "Indiana", "IN", "1816-12-11"),
    State(20, "Mississippi", "MS", "1817-12-10"),
    State(21, "Illinois", "IL", "1818-12-03"),
    State(22, "Alabama", "AL", "1819-12-14"),
    State(23, "Maine", "ME", "1820-03-15"),
    State(24, "Missouri", "MO", "1821-08-10"),
    State(25, "Arkansas", "AR", "1836-06-15"),
    State(26, "Michigan", "MI", "1837-01-26"),
    State(27, "Florida", "FL", "1845-03-03"),
    State(28, "Texas", "TX", "1845-12-29"),
    State(29, "Iowa", "IA", "1846-12-28"),
    State(30, "Wisconsin", "WI", "1848-05-29"),
    State(31, "California", "CA", "1850-09-09"),
    State(32, "Minnesota", "MN", "1858-05-11"),
    State(33, "Oregon", "OR", "1859-02-14"),
    State(34, "Kansas", "KS", "1861-01-29"),
    State(35, "West Virginia", "WV", "1863-06-20"),
    State(36, "Nevada", "NV", "1864-10-31"),
    State(37, "Nebraska", "NE", "1867-03-01"),
    State(38, "Colorado", "CO", "1876-08-01"),
    State(39, "North Dakota", "ND", "1889-11-02"),
    State(40, "South Dakota", "SD", "1889-11-02"),
    State(41, "Montana", "MT", "1889-11-08"),
    State(42, "Washington", "WA", "1889-11-11"),
    State(43, "Idaho", "ID", "1890-07-03"),
    State(44, "Wyoming", "WY", "1890-07-10"),
    State(45, "Utah", "UT", "1896-01-04"),
    State(46, "Oklahoma", "OK", "1907-11-16"),
    State(47, "New Mexico", "NM", "1912-01-06"),
    State(48, "Arizona", "AZ", "1912-02-14"),
    State(49, "Alaska", "AK", "1959-01-03"),
    State(50, "Hawaii", "HI", "1959-08-21"),
)
