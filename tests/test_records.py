"""Records: games and wins a rival and ladder, and the games of luck, from the outboxes, each entry once."""

from pathlib import Path

import pytest

from events import entries
from events.chain import extend, origin
from events.database import Database
from events.entries import Closing
from events.log import Batch
from events.shapes import Undecodable
from events.sqlite import SCHEMA, SqliteLog
from projections import luck, rivals
from server import records
from server.records import Luck, Record, Records
from tests.positions import NOW, PLAYER

pytestmark = pytest.mark.anyio


def closing(game: bytes, winner: int | None, rival: str = "opal-winterbourne", **changes: object) -> Closing:
    values: dict[str, object] = {
        "game": game,
        "version": 1,
        "hash": bytes(32),
        "at_ms": NOW,
        "rules": "fifty-states/1",
        "ladder": "states-relaxed",
        "counts": True,
        "players": (PLAYER, b""),
        "rival": rival,
        "winner": winner,
        "reason": "all_cards",
        "owing": (),
    }
    return Closing(**{**values, **changes})  # type: ignore[arg-type]


async def told(log: SqliteLog, entry: Closing) -> None:
    start = origin(entry.game)
    await log.append(entry.game, start, Batch(extend(start, [b"x"]), (entries.encode(entry),)))


async def test_finished_games_are_counted_once_however_often_somebody_asks(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "log.db", (SCHEMA, records.SCHEMA))
    log = SqliteLog(database)
    kept = Records(database, log)
    for number in range(40):
        await told(log, closing(bytes([number * 6]) + bytes(15), number % 2))
        assert sum(row.games for row in await kept.of(PLAYER)) == number + 1
    assert await kept.of(PLAYER) == [Record("states-relaxed", "opal-winterbourne", 40, 20)]
    # Another process after a restart reads on from the same checkpoints.
    again = Records(database, log)
    assert await again.of(PLAYER) == await kept.of(PLAYER)
    assert await again.of(b"somebody else...") == []
    await database.close()


def test_voids_and_games_that_do_not_count_touch_no_row() -> None:
    (key,) = rivals.keys(closing(bytes(16), 0))
    assert rivals.parts(key) == (PLAYER, "states-relaxed", "opal-winterbourne")
    assert rivals.keys(closing(bytes(16), None, reason="void")) == ()
    assert rivals.keys(closing(bytes(16), 0, counts=False)) == ()
    assert rivals.keys(closing(bytes(16), 0, rival="")) == ()


def war(game: bytes, winner: int | None, reason: str = "all_cards", **changes: object) -> Closing:
    at = {"rules": "classic/1", "ladder": "classic-house", "rival": "", "reason": reason}
    return closing(game, winner, **{**at, **changes})  # type: ignore[arg-type]


async def test_a_war_against_the_computer_counts_games_wins_and_draws_and_no_rival(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "log.db", (SCHEMA, records.SCHEMA))
    log = SqliteLog(database)
    kept = Records(database, log)
    completed = [(0, "all_cards"), (1, "battle_limit"), (None, "battle_limit"), (1, "time")]
    results = [*completed, (None, "left"), (None, "void")]
    for number, (winner, reason) in enumerate(results):
        await told(log, war(bytes([number]) + bytes(15), winner, reason))
    await told(log, war(bytes([60]) + bytes(15), None, "equal_shortage", rules="playbook/1", ladder="playbook-house"))
    await told(log, war(bytes([61]) + bytes(15), 0, counts=False))
    assert await kept.luck_of(PLAYER) == [Luck("classic-house", 4, 1, 1), Luck("playbook-house", 1, 0, 1)]
    assert await kept.of(PLAYER) == []
    assert await kept.luck_of(b"somebody else...") == []
    await database.close()


def test_only_games_of_luck_against_the_computer_are_counted_as_luck() -> None:
    assert luck.keys(war(bytes(16), 0)) == ((PLAYER, "classic-house"),)
    assert luck.keys(closing(bytes(16), 0)) == ()
    assert luck.keys(war(bytes(16), 0, players=(PLAYER, b"another player.."))) == ()
    assert luck.keys(war(bytes(16), 0, counts=False)) == ()


def test_an_entry_comes_back_from_its_bytes_and_another_format_does_not() -> None:
    entry = closing(bytes(16), None, owing=(0, 1))
    assert entries.decode(entries.encode(entry)) == entry
    body = bytearray(entries.encode(entry))
    for at in (0, 1, 3):
        changed = bytearray(body)
        changed[at] ^= 0x40
        with pytest.raises(Undecodable):
            entries.decode(bytes(changed))
