"""How long a server takes until it serves: over many live games, and over an empty store."""

from pathlib import Path

from bench.clients import Player
from bench.filled import live_games
from bench.measure import Report, Row, Series, Size
from bench.processes import product


async def run(size: Size, folder: Path) -> Report:
    games = size.of(100_000, 1_000)
    await live_games(folder / "full", games)
    ready: dict[str, list[float]] = {"full": [], "empty": []}
    memory: dict[str, list[float]] = {"full": [], "empty": []}
    for number in range(size.rounds + 1):
        for name in ready:
            with product(folder / name) as server:
                # It plays, and what it plays can be audited, at once.
                peer = await Player.of(server, server.join()[1])
                game = await peer.begin()
                await peer.play(game)
                server.check(game, peer.seen[game])
                await peer.leave()
                if number:
                    ready[name].append(server.ready_seconds)
                    memory[name].append(server.memory_bytes / 2**20)
    what = f"{games:,} live games in the store"
    return Report(
        [
            Row(
                f"ready with {what}", "s", _series("product", ready["full"]), _series("empty", ready["empty"]), "< 2 s"
            ),
            Row(
                f"memory with {what}",
                "MiB",
                _series("product", memory["full"]),
                _series("empty", memory["empty"]),
                "≤ 1.1 ×",
            ),
        ],
        ["a game was opened, played and audited right after each start"],
    )


def _series(name: str, values: list[float]) -> Series:
    return Series(name, tuple(values))
