"""The lobby of a server that was started again, and that of a game nobody has moved in since."""

import asyncio
from pathlib import Path

import pytest

from tests.meeting import dealt, feed
from tests.pairs import people
from tests.running import serving

pytestmark = pytest.mark.anyio


async def test_after_a_restart_games_stand_in_the_lobby_as_soon_as_their_players_are_back(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        async with people(server, 4, seed=31) as (host, guest, alone, watcher):
            game = await dealt(host, guest, commit_seconds=3600)
            client = await alone.here()
            against = await client.open("strategic")
            await alone.follow(against)
            await asyncio.to_thread(server.stop)
            await asyncio.to_thread(server.start)
            lobby = await feed(watcher, "lobby")
            await watcher.follow(game)
            # Somebody who watches isn't somebody who plays.
            own = await (await watcher.here()).open()
            await lobby.until(lambda rows: own.hex() in rows["live"])
            assert set(lobby.rows["live"]) == {own.hex()}
            for person in (host, alone):
                await person.here()
            row = await lobby.until(lambda rows: rows["live"].get(game.hex()))
            assert (row["players"], row["battle"]) == ([host.guest.player, guest.guest.player], 1)
            assert (await lobby.until(lambda rows: rows["live"].get(against.hex())))["mode"] == "strategic"
            await guest.do(game, "r", {"do": "Resign"})
            await lobby.until(lambda rows: game.hex() not in rows["live"])
