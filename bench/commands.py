"""Commands through the real socket, against one receive, one append and the sends of the same bytes."""

import asyncio
import json
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.clients import Player, leave, players
from bench.measure import Measured, Report, Row, Series, Size, alternating
from bench.pairs import COMMANDS, Pair
from bench.peers import CALLS, missing, rows
from bench.peers.calls import GOAL, calls
from bench.peers.moves import GOALS, Moves, moves
from bench.processes import Process, Product, floor, product, store
from server.presence import TELL_SECONDS

PLAYS = 7
"""Of each game a round: fewer can't end one."""
RATES = {CALLS.name: GOAL}
PONG = b"\xa4pong"
BATTLES = 5
"""Of each game between people a round."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command's bytes: its frame, its events' bodies, and the frames that each seat gets, whoever asked first."""

    asked: int
    bodies: list[int]
    sends: list[list[int]]


async def run(size: Size, folder: Path) -> Report:
    report = Report([], ["every game was audited, and what its players saw is what the log holds"])
    with moves(folder) as others:
        for load in (House, People):
            report.rows += await _loaded(load, size, folder / load.__name__.lower(), others, report.notes)
    report.notes += others.notes if size.store == "sqlite" else [*others.notes, *missing([CALLS])]
    return report


async def _loaded(
    load: "type[House | People]", size: Size, place: Path, others: Moves, notes: list[str]
) -> Sequence[Row]:
    """Of a server of its own: what one load leaves behind is not the other's to pay."""
    with store(size.store, place / "redis") as redis, product(place / "data", redis) as server:
        peers = await players(server, size.of(200, 4))
        kind = load(server, peers)
        steps = await kind.steps()
        notes.append(f"the floor of {kind.what} receives, stores and sends: {_told(steps)}")
        given = json.dumps([[step.asked, step.bodies, step.sends] for step in steps])
        with floor(place / "floor", "commands", str(place / "bare.db") if redis is None else redis.url, given) as bare:
            async with calls(place, redis, steps, kind.games, kind.count) as called:
                theirs = called | (await others.sides(size.of(200, 4)) if isinstance(kind, People) else {})
                rows = await measured(kind, server, bare, steps, size, theirs)
        await leave(peers)
    return rows


class House:
    """One player a game, who plays a card at a time."""

    what, goal = "Play against the house", "≤ 3.5 ×"
    count = PLAYS

    def __init__(self, server: Product, peers: list[Player]) -> None:
        self._server = server
        self._peers = peers
        self._games: list[bytes] = []
        self.games = len(peers)

    async def steps(self) -> list[Step]:
        peer = self._peers[0]
        game = await peer.begin()
        before = len(peer.seen[game])
        peer.raw.clear()
        await peer.play(game)
        step = Step(peer.asked_bytes, _sizes(peer.seen[game][before:]), [_framed(peer.raw)])
        await peer.end(game)
        return [step]

    async def begin(self) -> None:
        self._games = await asyncio.gather(*(peer.begin() for peer in self._peers))

    def work(self) -> list[Awaitable[None]]:
        return [self._play(peer, game) for peer, game in zip(self._peers, self._games, strict=True)]

    async def _play(self, peer: Player, game: bytes) -> None:
        for _ in range(PLAYS):
            await peer.play(game)

    async def end(self) -> None:
        for peer, game in zip(self._peers, self._games, strict=True):
            await peer.end(game)
            self._server.check(game, peer.seen.pop(game))


class People:
    """Two players a game: each command is shown to both."""

    what, goal = "a command between two people", "≤ 2.0 ×"
    count = BATTLES * COMMANDS

    def __init__(self, server: Product, peers: list[Player]) -> None:
        self._server = server
        self._pairs = [Pair(two) for two in zip(peers[::2], peers[1::2], strict=True)]
        self.games = len(self._pairs)

    async def steps(self) -> list[Step]:
        pair = self._pairs[0]
        game = await pair.begin()
        steps = []
        for number in range(COMMANDS):
            before = len(pair.players[0].seen[game])
            for player in pair.players:
                player.raw.clear()
            asker = await pair.command(number)
            asked, told = asker.asked_bytes, []
            for player in (asker, pair.players[1 - number % 2]):
                await player.ping()
                told.append(_framed([frame for frame in player.raw if PONG not in frame[:16]]))
            steps.append(Step(asked, _sizes(asker.seen[game][before:]), told))
        await self._ends(pair)
        return steps

    async def begin(self) -> None:
        await asyncio.gather(*(pair.begin() for pair in self._pairs))

    def work(self) -> list[Awaitable[None]]:
        return [self._battles(pair) for pair in self._pairs]

    async def _battles(self, pair: Pair) -> None:
        for _ in range(BATTLES):
            await pair.battle()

    async def end(self) -> None:
        for pair in self._pairs:
            await self._ends(pair)

    async def _ends(self, pair: Pair) -> None:
        await pair.end()
        for player in pair.players:
            self._server.check(pair.game, player.seen.pop(pair.game))


async def measured(
    kind: House | People, server: Product, bare: Process, steps: list[Step], size: Size, theirs: dict[str, Measured]
) -> Sequence[Row]:
    tables = [[await asyncio.open_connection(*bare.address) for _ in steps[0].sends] for _ in range(kind.games)]
    rates: dict[str, list[float]] = {"product": [], "floor": []}
    total = kind.count * kind.games

    async def play() -> float:
        await kind.begin()
        # Openings and results go into the signed ledger beside the play: that is not what a command costs.
        await asyncio.to_thread(server.settle)
        await asyncio.sleep(TELL_SECONDS)  # Who is there is told within that time.
        cpu = await timed(server, rates["product"], total, kind.work())
        await kind.end()
        return cpu

    async def echo(table: list[Any]) -> None:
        for number in range(kind.count):
            step = steps[number % len(steps)]
            asker = table[number % len(table)]
            asker[1].write(bytes(step.asked))
            order = (asker, *(each for each in table if each is not asker))
            for (reader, _), sends in zip(order, step.sends, strict=True):
                await reader.readexactly(sum(sends))

    async def echoes() -> float:
        return await timed(bare, rates["floor"], total, [echo(table) for table in tables])

    cpu = await alternating(size.rounds, {"product": play, "floor": echoes} | theirs)
    for table in tables:
        for _, writer in table:
            writer.close()
    rate = {name: Series(name, tuple(values[1:])) for name, values in rates.items()}
    return (
        Row(kind.what, "µs CPU", cpu["product"], cpu["floor"], kind.goal),
        Row(f"so many at {kind.games} tables, closed loop", "a second", rate["product"], rate["floor"]),
        *rows(kind.what, "µs CPU", cpu, GOALS),
        *rows(f"{kind.what}, durable", "a CPU second", {name: _rate(each) for name, each in cpu.items()}, RATES),
    )


async def timed(process: Process, rates: list[float], count: int, work: Sequence[Awaitable[None]]) -> float:
    """CPU of the process for each of `count`, in µs."""
    began, cpu = time.monotonic(), process.cpu_seconds
    await asyncio.gather(*work)
    rates.append(count / (time.monotonic() - began))
    return (process.cpu_seconds - cpu) / count * 1e6


def _rate(cpu: Series) -> Series:
    """From µs of each."""
    return Series(cpu.name, tuple(1e6 / value for value in cpu.values))


def _sizes(of: Sequence[bytes]) -> list[int]:
    return [len(each) for each in of]


def _framed(payloads: Sequence[bytes]) -> list[int]:
    return [len(each) + (2 if len(each) < 126 else 4) for each in payloads]


def _told(steps: list[Step]) -> str:
    return "; ".join(f"{each.asked} B, rows {each.bodies} and a hash each, frames {each.sends}" for each in steps)
