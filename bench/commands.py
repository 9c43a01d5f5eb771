"""`Play` against the house through the real socket, against one receive, one append and the sends of the same bytes."""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path

from bench.clients import Player, leave, players
from bench.measure import Report, Row, Series, Size, alternating
from bench.peers import rows
from bench.peers.moves import GOALS, moves
from bench.processes import Process, Product, floor, product, store

PLAYS = 7
"""Of each game a round: fewer can't end one."""


async def run(size: Size, folder: Path) -> Report:
    with (
        store(size.store, folder / "redis") as redis,
        product(folder / "data", redis) as server,
        moves(folder) as others,
    ):
        peers = await players(server, size.of(100, 4))
        asked, bodies, sends = await sizes(server)
        given = (
            str(folder / "bare.db") if redis is None else redis.url,
            str(asked),
            ",".join(map(str, bodies)),
            ",".join(map(str, sends)),
        )
        with floor(folder / "floor", "commands", *given) as bare:
            lines = [await asyncio.open_connection(*bare.address) for _ in peers]
            rates: dict[str, list[float]] = {"product": [], "floor": []}

            async def play() -> float:
                games = await asyncio.gather(*(peer.begin() for peer in peers))
                work = [each(peer, game) for peer, game in zip(peers, games, strict=True)]
                cpu = await timed(server, rates["product"], PLAYS * len(peers), work)
                for peer, game in zip(peers, games, strict=True):
                    await peer.end(game)
                    server.check(game, peer.seen.pop(game))
                return cpu

            async def each(peer: Player, game: bytes) -> None:
                for _ in range(PLAYS):
                    await peer.play(game)

            async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                for _ in range(PLAYS):
                    writer.write(bytes(asked))
                    await reader.readexactly(sum(sends))

            async def echoes() -> float:
                return await timed(bare, rates["floor"], PLAYS * len(lines), [echo(*line) for line in lines])

            theirs = await others.sides(size.of(200, 4))
            cpu = await alternating(size.rounds, {"product": play, "floor": echoes} | theirs)
            for _, writer in lines:
                writer.close()
        await leave(peers)
    rate = {name: Series(name, tuple(values[1:])) for name, values in rates.items()}
    return Report(
        [
            Row("Play against the house", "µs CPU", cpu["product"], cpu["floor"], "≤ 3.5 ×"),
            Row("plays, closed loop of 100", "a second", rate["product"], rate["floor"]),
            *rows("Play against the house, and a move between two", "µs CPU", cpu, GOALS),
        ],
        [
            f"the floor receives {asked} bytes, stores {len(bodies)} rows of {sum(bodies)} bytes and a hash each, "
            f"and sends {len(sends)} frames of {sum(sends)} bytes",
            "every game was audited, and what its player saw is what the log holds",
            *others.notes,
        ],
    )


async def timed(process: Process, rates: list[float], count: int, work: Sequence[Awaitable[None]]) -> float:
    """CPU of the process for each of `count`, in µs."""
    began, cpu = time.monotonic(), process.cpu_seconds
    await asyncio.gather(*work)
    rates.append(count / (time.monotonic() - began))
    return (process.cpu_seconds - cpu) / count * 1e6


async def sizes(server: Product) -> tuple[int, list[int], list[int]]:
    """Bytes of a Play as it is asked, its events' bodies, and the frames it is answered with."""
    (peer,) = await players(server, 1)
    game = await peer.begin()
    before = len(peer.seen[game])
    peer.raw.clear()
    await peer.play(game)
    bodies = [len(body) for body in peer.seen[game][before:]]
    sends = [_framed(len(frame)) for frame in peer.raw]
    await peer.leave()
    return ASKED_BYTES, bodies, sends


ASKED_BYTES = 150
"""Of a masked `do` frame with a Play in it."""


def _framed(size: int) -> int:
    return size + (2 if size < 126 else 4)
