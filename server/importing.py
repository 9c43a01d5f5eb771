"""Old games from an older site, as a file of JSON lines: what is in it, or what is wrong with each line.

docs/imports.md has the form."""

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

import msgspec

from events import entries, ledger
from events.entries import PLAYER_BYTES, Imported
from events.ledger import LEAF_BYTES_MAX, Leaf
from projections.trophies import COLOURS

LEAVES_MAX = 10_000
"""Of one file: all of them are one transaction, for which a running server's moves wait."""
FILE_BYTES_MAX = 64 << 20
LINE_BYTES_MAX = 1 << 20
TOTAL_MAX = 10_000_000
RIVAL_CHARACTERS_MAX = 64
GAMES_PER_LEAF = LEAF_BYTES_MAX // (RIVAL_CHARACTERS_MAX + 5)
REFUSALS_MAX = 1000
PLAYERS_ASKED = 1000
"""At once, whether they exist."""

_RIVAL = re.compile(r"([a-z0-9]+(-[a-z0-9]+)*)?")
_PLAYER = re.compile(rf"[0-9a-f]{{{2 * PLAYER_BYTES}}}")

Known = Callable[[Sequence[bytes]], Awaitable[set[bytes]]]
"""Those of these players who exist here."""


class Line(msgspec.Struct, forbid_unknown_fields=True):
    """One player's old games of one ladder."""

    player: str
    ladder: str
    games: list[tuple[str, bool | None]]
    total: int


class _Refused(Exception):
    """What is wrong with a line."""


@dataclass(frozen=True, slots=True)
class Refusal:
    line: int
    """From 1."""
    why: str


@dataclass(slots=True)
class Read:
    """What a file holds."""

    imports: list[Imported] = field(default_factory=list)
    games: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    """The first REFUSALS_MAX; if there is one, nothing of the file may be imported."""

    def refuse(self, line: int, why: str) -> None:
        if len(self.refusals) < REFUSALS_MAX:
            self.refusals.append(Refusal(line, why))

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return tuple([ledger.leaf(entries.encode(each)) for each in self.imports])


async def read(file: IO[bytes], now_ms: int, known: Known, progress: Callable[[int], None]) -> Read:
    """The whole file, each line checked. `progress` gets the bytes read so far."""
    found = Read()
    lines: dict[bytes, int] = {}
    """By the record of a line's first part."""
    players: dict[bytes, int] = {}
    """The first line of each."""
    done = number = 0
    for number, line in enumerate(_lines(file), 1):
        done += len(line)
        progress(done)
        try:
            parts = _imports(line, now_ms)
            first = lines.setdefault(parts[0].record, number)
            if first != number:
                raise _Refused(f"it is the same as line {first}")
        except _Refused as refused:
            found.refuse(number, str(refused))
            continue
        players.setdefault(parts[0].player, number)
        found.imports += parts
        found.games += sum(len(part.games) for part in parts)
        if len(found.imports) > LEAVES_MAX or done > FILE_BYTES_MAX:
            most = f"{LEAVES_MAX} records and {FILE_BYTES_MAX >> 20} MiB"
            found.refuse(number, f"a file has at most {most}: import it in several files")
            break
    if number == 0:
        found.refuse(1, "the file is empty")
    await _refuse_strangers(found, players, known)
    found.refusals.sort(key=lambda refusal: refusal.line)
    return found


async def _refuse_strangers(found: Read, players: dict[bytes, int], known: Known) -> None:
    ids = list(players)
    for at in range(0, len(ids), PLAYERS_ASKED):
        some = ids[at : at + PLAYERS_ASKED]
        here = await known(some)
        for player in some:
            if player not in here:
                found.refuse(players[player], f"there is no player {player.hex()} here")


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """A line that is too long comes in pieces, the first of which is refused; the rest of it is passed over."""
    while line := file.readline(LINE_BYTES_MAX + 1):
        yield line
        while len(line) > LINE_BYTES_MAX and not line.endswith(b"\n"):
            line = file.readline(LINE_BYTES_MAX + 1)


def _imports(data: bytes, now_ms: int) -> list[Imported]:
    """A line's entries, several if it is too long for one. Raises _Refused."""
    line = _parsed(data)
    if not _PLAYER.fullmatch(line.player):
        raise _Refused(f"player is {2 * PLAYER_BYTES} lower-case hex digits, not {line.player[:80]!r}")
    if line.ladder not in COLOURS:
        raise _Refused(f"ladder is one of {', '.join(COLOURS)}, not {line.ladder[:80]!r}")
    for rival, _ in line.games:
        if len(rival) > RIVAL_CHARACTERS_MAX or not _RIVAL.fullmatch(rival):
            raise _Refused(f"a rival is written like opal-winterbourne, or is empty, not {rival[:80]!r}")
        if rival and line.ladder.endswith("-versus"):
            raise _Refused("between people there are no rivals")
    wins = sum(won is True for _, won in line.games)
    if not 0 <= line.total <= TOTAL_MAX:
        raise _Refused(f"total is a number from 0 to {TOTAL_MAX}, not {line.total}")
    if 0 < line.total < wins:
        raise _Refused(f"total is {line.total}, but contains the {wins} games that were won here")
    if not line.games and not line.total:
        raise _Refused("there is nothing in it: no games, and no total")
    player, games = bytes.fromhex(line.player), tuple(line.games)
    parts = range(0, max(1, len(games)), GAMES_PER_LEAF)
    return [
        Imported(
            entries.record(number, player, line.ladder, games, line.total),
            now_ms,
            player,
            line.ladder,
            games[start : start + GAMES_PER_LEAF],
            line.total,
        )
        for number, start in enumerate(parts)
    ]


def _parsed(data: bytes) -> Line:
    if len(data) > LINE_BYTES_MAX:
        raise _Refused(f"a line has at most {LINE_BYTES_MAX} bytes")
    try:
        values = json.loads(data.decode(), object_pairs_hook=_object)
        return msgspec.convert(values, Line)
    except UnicodeDecodeError as error:
        raise _Refused(f"not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise _Refused("not JSON: too deep") from error
    except json.JSONDecodeError as error:
        raise _Refused(f"not JSON: {error.msg} at character {error.pos + 1}") from error
    except ValueError as error:  # also msgspec's, and of numbers with thousands of digits
        raise _Refused(str(error)) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a name stands twice in it")
    return values
