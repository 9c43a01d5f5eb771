"""Whether a command costs the same late as early: in a game, in a store, before an audience. In pairs of sizes."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.clients import Player, Watcher, leave, players, subscription
from bench.filled import live_games, put, war
from bench.measure import Curve, Report, Row, Series, Size, alternating
from bench.processes import Product, product

TURNS = 60
"""A round; the longest game known has 4,206 battles."""
PLAYS = 6


async def run(size: Size, folder: Path) -> Report:
    turned, gone = await battles(size, folder / "battles")
    played = await games(size, folder)
    watched = await watchers(size, folder / "watchers")
    goals = {turned: "≤ 1.15 ×", played: "≤ 1.15 ×", watched: "≤ 1 ×"}
    curves = [turned, gone, played, watched]
    return Report(
        [_ends(curve, goals.get(curve, "")) for curve in curves],
        ["every game was audited, and what its player saw is what the log holds"],
        curves,
    )


def _ends(curve: Curve, goal: str) -> Row:
    """The greatest size against the least."""
    (least, early), *_, (most, late) = curve.points
    return Row(f"{curve.what}: {curve.sizes} {most:,} and {least:,}", curve.unit, late, early, goal)


def _curve(what: str, sizes: str, measured: Mapping[int, Sequence[float]]) -> Curve:
    """`measured`: a value a round, by rising size."""
    points = tuple((size, Series(f"{sizes} {size:,}", tuple(values))) for size, values in measured.items())
    return Curve(what, "µs CPU", sizes, points)


# ---------------------------------------------------------------- battle 10 and 4,000


async def battles(size: Size, folder: Path) -> tuple[Curve, Curve]:
    sizes = (10, 100, 1_000, 3_800) if not size.quick else (10, 500)
    with product(folder) as server:
        player, token = server.join()
        turned: dict[int, list[float]] = {battle: [] for battle in sizes}
        refused: dict[int, list[float]] = {battle: [] for battle in sizes}
        stood = {battle: war(player, battle) for battle in sizes}
        for id_, events in stood.values():
            await put(server.data, id_, events)
        for number in range(size.rounds + 1):
            for battle, (id_, _) in stood.items():
                # A connection of its own each time: a connection may send so many messages a second.
                peer = await Player.of(server, token)
                await peer.follow(id_)
                await peer.ping()
                found = await _turns(server, peer, id_), await _refusals(server, peer, id_)
                server.check(id_, peer.seen[id_])
                await peer.leave()
                if number:
                    turned[battle].append(found[0])
                    refused[battle].append(found[1])
    return _curve("a Turn", "battle", turned), _curve("a refused Turn", "battle", refused)


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


async def games(size: Size, folder: Path) -> Curve:
    sizes = (10, 10_000, 1_000_000) if not size.quick else (10, 10_000)
    with contextlib.ExitStack() as servers:
        crowds: dict[int, tuple[Product, list[Player]]] = {}
        for count in sizes:
            await live_games(folder / f"{count}", count)
            server = servers.enter_context(product(folder / f"{count}"))
            crowds[count] = server, await players(server, size.of(20, 4))
        sides = {str(count): partial(_plays, *crowd) for count, crowd in crowds.items()}
        cpu = await alternating(size.rounds, sides)
        for _, crowd in crowds.values():
            await leave(crowd)
    return _curve("a Play", "games in the store", {count: cpu[str(count)].values for count in sizes})


async def _plays(server: Product, peers: list[Player]) -> float:
    begun = await asyncio.gather(*(peer.begin() for peer in peers))

    async def each(peer: Player, game: bytes) -> None:
        for _ in range(PLAYS):
            await peer.play(game)

    cpu = server.cpu_seconds
    await asyncio.gather(*(each(*pair) for pair in zip(peers, begun, strict=True)))
    used = server.cpu_seconds - cpu
    for peer, game in zip(peers, begun, strict=True):
        await peer.end(game)
        server.check(game, peer.seen.pop(game))
    return used / (PLAYS * len(peers)) * 1e6


# ---------------------------------------------------------------- watcher 1 and 1,000


async def watchers(size: Size, folder: Path) -> Curve:
    """Of a Play and the frames it leads to: what each watcher costs."""
    sizes = (1, 10, 100, 1_000) if not size.quick else (1, 50)
    with product(folder) as server:
        _, token = server.join()
        everybody = [await Watcher.of(server.address) for _ in range(sizes[-1])]
        costs: dict[int, list[float]] = {count: [] for count in sizes}
        for number in range(size.rounds + 1):
            for count, values in costs.items():
                # A connection of its own each time: a connection may send so many messages a second.
                peer = await Player.of(server, token)
                cost = await _watched(server, peer, everybody[:count])
                await peer.leave()
                if number:
                    values.append(cost / count)
        for watcher in everybody:
            watcher.transport.close()
    return _curve("a Play, for each watcher", "watchers", costs)


async def _watched(server: Product, peer: Player, crowd: list[Watcher]) -> float:
    game = await peer.begin()
    for watcher in crowd:
        watcher.messages()
        watcher.send(subscription(game))
    await asyncio.gather(*(w.until(lambda w=w: w.has_events()) for w in crowd))
    for watcher in crowd:
        watcher.messages()
    peer.raw.clear()
    cpu = server.cpu_seconds
    for _ in range(PLAYS):
        await peer.play(game)
    frames = [frame for frame in peer.raw if b"\xa6events" in frame[:16]]
    size = sum(map(len, frames))
    await asyncio.gather(*(w.until(lambda w=w: w.size >= size) for w in crowd))
    used = server.cpu_seconds - cpu
    for watcher in crowd:
        assert watcher.messages() == frames, "a watcher saw something else"
        watcher.send(subscription(game).replace(b"\xa9subscribe", b"\xabunsubscribe"))
    await peer.end(game)
    server.check(game, peer.seen.pop(game))
    return used / PLAYS * 1e6
