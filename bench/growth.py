"""Whether a command costs the same late as early: in a game, in a store, before an audience. In pairs of sizes."""

import asyncio
from pathlib import Path

from bench.clients import Player, Watcher, leave, players, subscription
from bench.filled import live_games, put, war
from bench.measure import Report, Row, Series, Size, alternating
from bench.processes import Product, product

TURNS = 60
"""A round; the longest game known has 4,206 battles."""
PLAYS = 6


async def run(size: Size, folder: Path) -> Report:
    rows = await battles(size, folder / "battles")
    rows += await games(size, folder)
    rows.append(await watchers(size, folder / "watchers"))
    return Report(rows, ["every game was audited, and what its player saw is what the log holds"])


# ---------------------------------------------------------------- battle 10 and 4,000


async def battles(size: Size, folder: Path) -> list[Row]:
    late = size.of(3_800, 500)
    with product(folder) as server:
        player, token = server.join()
        measured: dict[str, list[float]] = {}
        refused: dict[str, list[float]] = {}
        stood = {name: war(player, battle) for name, battle in (("late", late), ("early", 10))}
        for id_, events in stood.values():
            await put(server.data, id_, events)
        for number in range(size.rounds + 1):
            for name, (id_, _) in stood.items():
                # A connection of its own each time: a connection may send so many messages a second.
                peer = await Player.of(server, token)
                await peer.follow(id_)
                await peer.ping()
                turned, gone = await _turns(server, peer, id_), await _refusals(server, peer, id_)
                server.check(id_, peer.seen[id_])
                await peer.leave()
                if number:
                    measured.setdefault(name, []).append(turned)
                    refused.setdefault(name, []).append(gone)
    return [
        Row(
            f"{what} at battle {late:,} and at 10",
            "µs CPU",
            Series(f"battle {late}", tuple(values["late"])),
            Series("battle 10", tuple(values["early"])),
            "≤ 1.15 ×" if what == "Turn" else "",
        )
        for what, values in (("Turn", measured), ("a refused Turn", refused))
    ]


async def _turns(server: Product, peer: Player, id_: bytes) -> float:
    cpu = server.cpu_seconds
    for _ in range(TURNS):
        await peer.turn(id_)
    return (server.cpu_seconds - cpu) / TURNS * 1e6


async def _refusals(server: Product, peer: Player, id_: bytes) -> float:
    asked = 20
    cpu = server.cpu_seconds
    for _ in range(asked):
        answer = await peer.try_(id_, "Turn", battle=peer.table["position"]["battle"] + 1, times=1)
        assert answer["reason"] == "wrong_battle", answer
    return (server.cpu_seconds - cpu) / asked * 1e6


# ---------------------------------------------------------------- game 10 and 1,000,000


async def games(size: Size, folder: Path) -> list[Row]:
    many = size.of(1_000_000, 10_000)
    await live_games(folder / "many", many)
    await live_games(folder / "few", 10)
    with product(folder / "many") as full, product(folder / "few") as empty:
        crowds = {server: await players(server, size.of(20, 4)) for server in (full, empty)}
        sides = {
            f"game {many:,}": lambda: _plays(full, crowds[full]),
            "game 10": lambda: _plays(empty, crowds[empty]),
        }
        cpu = await alternating(size.rounds, sides)
        for crowd in crowds.values():
            await leave(crowd)
    product_, against = cpu.values()
    return [Row(f"Play with {many:,} games in the store and with 10", "µs CPU", product_, against, "≤ 1.15 ×")]


async def _plays(server: Product, peers: list[Player]) -> float:
    begun = await asyncio.gather(*(peer.begin() for peer in peers))

    async def each(peer: Player, game: bytes) -> None:
        for _ in range(PLAYS):
            await peer.play(game)

    cpu = server.cpu_seconds
    await asyncio.gather(*(each(*pair) for pair in zip(peers, begun, strict=True)))
    used = server.cpu_seconds - cpu
    for peer, game in zip(peers, begun, strict=True):
        await peer.do(game, "Resign")
        server.check(game, peer.seen.pop(game))
    return used / (PLAYS * len(peers)) * 1e6


# ---------------------------------------------------------------- watcher 1 and 1,000


async def watchers(size: Size, folder: Path) -> Row:
    """Of a Play and the frames it leads to: what each watcher costs."""
    many = size.of(1_000, 50)
    with product(folder) as server:
        (peer,) = await players(server, 1)
        everybody = [await Watcher.of(server.address) for _ in range(many)]
        costs: dict[int, list[float]] = {1: [], many: []}
        for number in range(size.rounds + 1):
            for count, values in costs.items():
                cost = await _watched(server, peer, everybody[:count])
                if number:
                    values.append(cost / count)
        for watcher in everybody:
            watcher.transport.close()
        await peer.leave()
    of_many, of_one = (Series(f"{count:,} watchers", tuple(costs[count])) for count in (many, 1))
    return Row(f"Play, a watcher of {many:,} and of 1", "µs CPU", of_many, of_one, "≤ 1 ×")


async def _watched(server: Product, peer: Player, crowd: list[Watcher]) -> float:
    game = await peer.begin()
    for watcher in crowd:
        watcher.messages()
        watcher.send(subscription(game))
    await asyncio.gather(*(w.until(lambda w=w: b"\xa6events" in w.stream) for w in crowd))
    for watcher in crowd:
        watcher.messages()
    peer.raw.clear()
    cpu = server.cpu_seconds
    for _ in range(PLAYS):
        await peer.play(game)
    frames = [frame for frame in peer.raw if b"\xa6events" in frame[:16]]
    size = sum(len(frame) + (2 if len(frame) < 126 else 4) for frame in frames)
    await asyncio.gather(*(w.until(lambda w=w: len(w.stream) >= size) for w in crowd))
    used = server.cpu_seconds - cpu
    for watcher in crowd:
        assert watcher.messages() == frames, "a watcher saw something else"
        watcher.send(subscription(game).replace(b"\xa9subscribe", b"\xabunsubscribe"))
    await peer.do(game, "Resign")
    server.check(game, peer.seen.pop(game))
    return used / PLAYS * 1e6
