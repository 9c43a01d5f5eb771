"""Memory of an idle watcher: a connection subscribed to a live game, against a bare websockets connection."""

import asyncio
import resource
from pathlib import Path

from bench.clients import Watcher, players, subscription
from bench.measure import Report, Row, Series, Size
from bench.processes import Process, floor, product

AT_ONCE = 50


async def run(size: Size, folder: Path) -> Report:
    count = size.of(1_000, 50)
    """A round; they stay."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held: dict[str, list[float]] = {"product": [], "websockets": []}
    with product(folder / "data") as server, floor(folder / "floor", "broadcast") as bare:
        (peer,) = await players(server, 1)
        game = await peer.begin()
        everybody: list[Watcher] = []
        for number in range(size.rounds + 1):
            for name, process in (("product", server), ("websockets", bare)):
                before = process.memory_bytes
                first = subscription(game) if name == "product" else None
                some = [each for _ in range(count // AT_ONCE) for each in await _opened(process, first)]
                if first is not None:
                    await asyncio.gather(*(w.until(lambda w=w: w.has_events()) for w in some))
                everybody += some
                if number:
                    held[name].append((process.memory_bytes - before) / count / 1024)
        watchers = [watcher for watcher in everybody if watcher.messages()]
        await peer.play(game)
        frame = next(frame for frame in reversed(peer.raw) if b"\xa6events" in frame[:16])
        await asyncio.gather(*(w.until(lambda w=w: w.size >= len(frame)) for w in watchers))
        assert all(watcher.messages() == [frame] for watcher in watchers)
        await peer.end(game)
        server.check(game, peer.seen[game])
        for watcher in everybody:
            watcher.transport.close()
        await peer.leave()
    product_, bare_ = (Series(name, tuple(values)) for name, values in held.items())
    return Report(
        [Row("an idle watcher", "KiB", product_, bare_, "≤ 2 ×")],
        [f"all {len(watchers):,} watchers then got the next battle, to the byte; the game was audited"],
    )


async def _opened(process: Process, first: bytes | None) -> list[Watcher]:
    return await asyncio.gather(*(Watcher.of(process.address, first) for _ in range(AT_ONCE)))
