"""A delivery to many watchers of live games, against websockets.broadcast of the same bytes; all of it is checked."""

import asyncio
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect

from bench import peers
from bench.clients import SUBPROTOCOL, Player, Watcher, leave, players, subscription
from bench.measure import Measured, Report, Size, alternating
from bench.processes import Process, Product, floor, product
from server.presence import TELL_SECONDS

GAMES = 8
PLAYS = 6


async def run(size: Size, folder: Path) -> Report:
    count = size.of(1000, 10)
    with (
        product(folder / "data") as server,
        floor(folder / "floor", "broadcast") as bare,
        peers.running(peers.WS, folder / "ws") as ws,
    ):
        playing = await players(server, GAMES)
        readers = [await Watcher.of(bare.address) for _ in range(count)]
        of_ws = [] if ws is None else [await Watcher.of(ws.address) for _ in range(count)]
        watchers = [await Watcher.of(server.address) for _ in range(count)]
        crowd = Crowd(server, playing, watchers)
        rows = []
        for updates, goal in ((1, "≤ 0.8 ×"), (GAMES, "≤ 0.25 ×")):
            frame_bytes = await crowd.frame_bytes()

            async def deliver(updates: int = updates) -> float:
                return await crowd.deliver(updates)

            async def broadcasts(updates: int = updates, frame_bytes: int = frame_bytes) -> float:
                return await broadcast(bare, readers, updates, frame_bytes)

            async def on_node(updates: int = updates, frame_bytes: int = frame_bytes) -> float:
                assert ws is not None
                return await broadcast(ws, of_ws, updates, frame_bytes)

            others: dict[str, Measured] = {} if ws is None else {peers.WS.name: on_node}
            sides: dict[str, Measured] = {"product": deliver, "websockets.broadcast": broadcasts}
            cpu = await alternating(size.rounds, sides | others)
            what = f"a delivery of {frame_bytes} bytes, {updates} updates at once, {count} watchers"
            rows += peers.rows(what, "µs CPU", cpu, {"websockets.broadcast": goal, peers.WS.name: "≤ 1.0 ×"})
        for watcher in (*watchers, *readers, *of_ws):
            watcher.transport.close()
        await leave(playing)
    return Report(
        rows,
        [
            "the product's side has the commands in it: played, hashed, stored and answered",
            "every game was audited, and every watcher got the frames that its player got, to the byte",
            *peers.missing([peers.WS]),
        ],
    )


class Crowd:
    """Everybody watches what these players play."""

    def __init__(self, server: Product, peers: list[Player], watchers: list[Watcher]) -> None:
        self._server = server
        self._peers = peers
        self._watchers = watchers

    async def frame_bytes(self) -> int:
        peer = self._peers[0]
        game = await peer.begin()
        peer.raw.clear()
        await peer.play(game)
        await peer.end(game)
        return len(peer.raw[0])

    async def deliver(self, updates: int) -> float:
        """CPU of the server for each delivery, µs."""
        peers = self._peers[:updates]
        games = await asyncio.gather(*(peer.begin() for peer in peers))
        for watcher in self._watchers:
            for game in games:
                watcher.send(subscription(game))
        # Nothing is live for a watcher before its backlogs, whose last frame has a table, are here.
        await asyncio.gather(*(_caught_up(watcher, updates) for watcher in self._watchers))
        # Everybody is told how many watch, and openings go into the ledger: neither is a delivery of an update.
        await asyncio.sleep(TELL_SECONDS * 2)
        await asyncio.to_thread(self._server.settle)
        for peer in peers:
            peer.raw.clear()
        cpu = self._server.cpu_seconds
        for _ in range(PLAYS):
            await asyncio.gather(*(peer.play(game) for peer, game in zip(peers, games, strict=True)))
        frames = [frame for peer in peers for frame in peer.raw if b"\xa6events" in frame[:16]]
        size = sum(map(len, frames))
        await asyncio.gather(*(w.until(lambda w=w: w.size >= size) for w in self._watchers))
        used = self._server.cpu_seconds - cpu
        for watcher in self._watchers:
            assert sorted(watcher.messages()) == sorted(frames), "a watcher saw something else"
        for game in games:
            for watcher in self._watchers:
                watcher.send(_unsubscription(game))
        for peer, game in zip(peers, games, strict=True):
            await peer.end(game)
            self._server.check(game, peer.seen.pop(game))
        return used / (PLAYS * updates * len(self._watchers)) * 1e6


def _unsubscription(game: bytes) -> bytes:
    return subscription(game).replace(b"\xa9subscribe", b"\xabunsubscribe")


async def _caught_up(watcher: Watcher, backlogs: int) -> None:
    seen: list[bytes] = []

    def whole() -> bool:
        seen.extend(watcher.messages())
        return sum(b"\xa6events" in message[:16] for message in seen) >= backlogs

    await watcher.until(whole)


async def broadcast(bare: Process, readers: list[Watcher], updates: int, frame_bytes: int) -> float:
    """CPU of the bare server for each delivery, µs."""
    size = frame_bytes * updates * PLAYS
    url = f"ws://{bare.address[0]}:{bare.address[1]}"
    spoken: Any = [SUBPROTOCOL]
    async with connect(url, subprotocols=spoken, compression=None, proxy=None, max_size=None) as asks:
        for reader in readers:
            reader.messages()
        cpu = bare.cpu_seconds
        for number in range(1, PLAYS + 1):
            await asks.send(f"{updates} {frame_bytes}")
            for _ in range(updates):
                await asks.recv()
            part = size * number // PLAYS
            await asyncio.gather(*(r.until(lambda r=r, part=part: r.size >= part) for r in readers))
        return (bare.cpu_seconds - cpu) / (PLAYS * updates * (len(readers) + 1)) * 1e6
