"""SIGTERM: balancers hear of it first, what was asked is answered, closes say "restart", the next process goes on."""

import asyncio
import signal
from pathlib import Path
from random import Random

import pytest
from websockets.exceptions import InvalidStatus

from rules.game import TimeUp
from server.doors import Doors
from tests.running import (
    BOTH,
    Client,
    Closed,
    Followed,
    Guest,
    Server,
    connect,
    connected,
    eventually,
    free_port,
)

pytestmark = pytest.mark.anyio
RESTARTS = 1012


class Idle:
    """A way out on which nothing waits."""

    waiting_bytes = 0


async def test_everybody_is_asked_to_go_and_not_everybody_at_once() -> None:
    doors = Doors()
    asked: list[int] = []
    ways = [Idle() for _ in range(20)]
    for number, way in enumerate(ways):

        def go(number: int = number, way: Idle = way) -> None:
            asked.append(number)
            doors.leave(way)

        doors.enter(way, go)
    emptying = asyncio.create_task(doors.empty(60))
    await asyncio.sleep(0)
    assert asked == [0]
    await emptying
    assert asked == list(range(20))
    assert len(doors) == 0


async def test_who_does_not_go_is_waited_for_until_somebody_is_in_a_hurry() -> None:
    doors = Doors()
    way = Idle()
    asked = asyncio.Event()
    doors.enter(way, asked.set)
    emptying = asyncio.create_task(doors.empty(3600))
    await asked.wait()
    assert not emptying.done()
    doors.hurry()
    await emptying
    assert len(doors) == 1


async def test_who_comes_in_while_the_doors_close_is_asked_at_once() -> None:
    doors = Doors()
    asked: list[None] = []
    await doors.empty(0)
    doors.enter(Idle(), lambda: asked.append(None))
    assert asked == [None]


async def test_balancers_hear_of_it_first_and_games_go_on_meanwhile(tmp_path: Path) -> None:
    server = Server(tmp_path, {"STATECRAFT_LEAVE_SECONDS": "600"}).start()
    async with connected(server, server.join()) as client:
        followed = await client.follow(await client.open())
        await client.mix(followed)
        server.send_signal(signal.SIGTERM)
        with server.http() as http:
            await eventually(lambda: http.get("/readyz").status_code == 503)
            assert [each["trouble"] for each in http.get("/readyz").json()["troubles"]] == ["leaving"]
            assert http.get("/healthz").status_code == 200
        with pytest.raises(InvalidStatus) as refused:
            await connect(server)
        assert refused.value.response.status_code == 503
        await client.play(followed)
        assert server.running
        server.send_signal(signal.SIGTERM)  # Who says it twice means now.
        assert await client.close_code() == RESTARTS
    await eventually(lambda: not server.running)
    assert server.errors == ""


class Player:
    """Plays one game as fast as it can, one command at a time, over as many connections as it takes."""

    def __init__(self, server: Server, guest: Guest, number: int) -> None:
        self.server = server
        self.guest = guest
        self.chance = Random(number)
        self.subprotocol = BOTH[number % 2]
        self.played = 0
        """Battles in which a card was acknowledged."""
        self.held: Followed | None = None
        self.codes: list[int] = []
        self.ready = asyncio.Event()

    async def begin(self) -> None:
        client = await connect(self.server, self.guest, self.subprotocol)
        self.held = await client.follow(await client.open())
        await client.mix(self.held, self.chance.randbytes(32))
        self.playing = asyncio.create_task(self.play(client))

    async def play(self, client: Client) -> None:
        """To the end, or to the end of the connection."""
        held = self.held
        assert held is not None
        try:
            while not held.over:
                await client.until(lambda: held.my_turn)
                assert held.hand is not None
                battle = held.battle
                card = self.chance.choice(held.hand)
                # The same id each time: what was stored before a crash isn't done twice.
                await client.play(held, card, f"play-{battle}")
                self.played += 1
        except Closed as closed:
            self.codes.append(closed.args[0])
        finally:
            await client.leave()

    async def resume(self) -> None:
        assert self.held is not None
        client = await connect(self.server, self.guest, self.subprotocol)
        await client.follow(self.held.game, self.held.head, self.held)
        assert self.held.starts[-1]["recovered"] is True
        await self.play(client)


async def left(folder: Path, players: int) -> None:
    server = Server(folder, port=free_port()).start()
    people = [Player(server, server.join(), number) for number in range(players)]
    await asyncio.gather(*(person.begin() for person in people))
    url = server.url
    await asyncio.sleep(0.3)  # Everybody is in the middle of something.
    assert await asyncio.to_thread(server.stop) == -signal.SIGTERM
    await asyncio.gather(*(person.playing for person in people))
    assert {code for person in people for code in person.codes} == {RESTARTS}
    await asyncio.to_thread(server.start)
    assert server.url == url
    for person in people:
        # What the old process took it answered: the log holds no card that its player wasn't told of.
        assert person.held is not None
        stored = server.audit(person.held.game)
        assert stored.head == person.held.head
        assert sum(type(fact).__name__ == "Played" for fact in person.held.facts) == person.played
    await asyncio.gather(*(person.resume() for person in people if person.held is not None and not person.held.over))
    for person in people:
        assert person.held is not None
        assert person.held.over
        assert not any(isinstance(fact, TimeUp) for fact in person.held.facts)
        assert server.audit(person.held.game).over
    assert await asyncio.to_thread(server.stop) == -signal.SIGTERM
    assert server.errors == ""


async def test_what_was_asked_is_answered_and_the_next_process_goes_on(tmp_path: Path) -> None:
    await left(tmp_path, players=24)


@pytest.mark.slow
async def test_many_players_lose_no_move_to_a_restart(tmp_path: Path) -> None:
    await left(tmp_path, players=190)
