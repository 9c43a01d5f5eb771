"""What one process carries and what a million players would need: arithmetic over the result files, no measurement."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

ONLINE = 1_000_000
PLAYING = 500_000
"""Of these at a table, two at each; the rest look on."""
SECONDS = 10
"""Between two commands of one player."""
EVENTS_A_COMMAND = 1.25
"""Between people: five events of a battle's four commands."""
APPENDED = 5
"""Events of one append as `append` measures it."""
COMMANDS_A_GAME = 44
"""The mean game of 50 States between people has eleven battles."""
WATCHERS = 1
"""Of a game, beside its players."""
BUSY = 0.6
"""Of a core, at most: the rest is for peaks and for what a server that fails leaves to the others."""
CONNECTIONS_MAX, KEEP_SECONDS, PARTITIONS = 20_000, 3_600, 256
"""As the settings have them, if nobody sets them."""

MEASURED = {
    "connection": ("connections", "an idle watcher", "KiB"),
    "embedded": ("commands", "a command between two people", "µs CPU"),
    "command": ("commands --store redis", "a command between two people", "µs CPU"),
    "delivery": ("fanout", "a delivery", "µs CPU"),
    "event": ("append --store redis", "an event, in Redis itself", "µs CPU"),
    "kept": ("append --store redis", "an event, in Redis's memory", "bytes"),
    "entry": ("rebuild", "an entry, into all", "µs CPU"),
}
"""Name to run, the row that begins so, and its unit."""


def inputs(found: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The product's median of each; one that isn't in the result files is left out."""
    rows = {result["command"].removeprefix("python -m bench "): result["rows"] for result in found}
    taken: dict[str, float] = {}
    for name, (run, what, unit) in MEASURED.items():
        for row in rows.get(run, ()):
            if row["what"].startswith(what) and row["unit"] == unit:
                taken.setdefault(name, float(row["product"]["median"]))
    return taken


def markdown(found: Iterable[Mapping[str, Any]]) -> str:
    measured = inputs(found)
    head = "| what | how it is reckoned | comes to |\n|---|---|---|\n"
    return head + "".join(f"| {what} | {how} | {comes} |\n" for what, how, comes in _lines(measured))


def _lines(measured: Mapping[str, float]) -> Iterator[tuple[str, str, str]]:
    def at(unit: str, factor: float, *names: str) -> str:
        """`factor` times each of these, or what is missing."""
        for name in names:
            if name not in measured:
                return f"(`{MEASURED[name][0]}` has no committed result)"
            factor *= measured[name]
        return f"{_said(factor)} {unit}".rstrip()

    asked = PLAYING / SECONDS
    games = PLAYING / 2
    ended = asked / COMMANDS_A_GAME
    events = asked * EVENTS_A_COMMAND
    live = games * COMMANDS_A_GAME * EVENTS_A_COMMAND / 2
    closed = ended * KEEP_SECONDS * COMMANDS_A_GAME * EVENTS_A_COMMAND
    share = f"{BUSY:.0%}"
    if "embedded" in measured:
        each = 1e6 / measured["embedded"] * BUSY
        yield (
            "one process on SQLite: commands a second",
            f"{share} of a core ÷ CPU of a command ({measured['embedded']:,.0f} µs)",
            f"{_said(each)}, so {_said(each * SECONDS)} people at a table",
        )
    yield (
        "its idle connections",
        f"{CONNECTIONS_MAX:,} (its limit) × memory of one",
        at("GiB", CONNECTIONS_MAX / 2**20, "connection"),
    )
    yield "**a million online**: commands a second", f"{PLAYING:,} at a table ÷ {SECONDS} s", _said(asked)
    yield "memory of connections", f"{ONLINE:,} × memory of one", at("GiB", ONLINE / 2**20, "connection")
    yield "processes for connections", f"{ONLINE:,} ÷ {CONNECTIONS_MAX:,}", _said(ONLINE / CONNECTIONS_MAX)
    yield (
        "cores for commands, at the server of one player",
        f"{_said(asked)} × CPU of a command on Redis ÷ {share}",
        at("cores", asked / 1e6 / BUSY, "command"),
    )
    yield (
        "cores for watchers",
        f"{_said(asked)} × {WATCHERS} watcher × CPU of a delivery ÷ {share}",
        at("cores", asked * WATCHERS / 1e6 / BUSY, "delivery"),
    )
    yield (
        f"Redis primaries, of at most {PARTITIONS}",
        f"{_said(asked)} appends × CPU in Redis of one with {APPENDED} events, more than these have ÷ {share}",
        at("", asked * APPENDED / 1e6 / BUSY, "event"),
    )
    yield "memory of live games", f"{_said(live)} events × memory of one", at("GiB", live / 2**30, "kept")
    yield (
        "memory of closed games that still stay",
        f"{_said(closed)} events of {KEEP_SECONDS:,} s (`STATECRAFT_KEEP_SECONDS`) × memory of one",
        at("GiB", closed / 2**30, "kept"),
    )
    yield (
        "what the disks of Redis take in",
        f"{_said(events)} × memory of one, about",
        at("MiB/s", events / 2**20, "kept"),
    )
    yield "ledger: entries a second", "an opening and a result of each game that ends", _said(2 * ended)
    yield (
        "cores to fold them, in the one process that does",
        f"{_said(ended)} results a second × CPU of an entry into all projections",
        at("cores", ended / 1e6, "entry"),
    )
    yield "objects a second into the archive", "one of each game that ends", _said(ended)


def _said(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"
