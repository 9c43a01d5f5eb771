"""What servers tell each other through Redis. The only place that knows these keys, which all lie in one slot:

{others}:servers          sorted set of servers by their last sign, on the store's clock
{others}:state:SERVER     hash: how often it has signed, its lobby, and the lobby's version
{others}:players:SERVER   set of the players who are connected to it
{others}:watchers:SERVER  hash from game to how many watch it there who don't sit in it
{others}:changed          the channel that says whose games have changed: SERVER, then players

A server writes once a second what has changed with it, and asks about the players and games that somebody here looks
at. Everything of a server expires some seconds after its last sign; one whose keys were lost tells all of it again.
"""

import asyncio
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from events.redis_connection import Value
from events.redis_store import RedisStore
from server import redis_others_scripts as scripts
from server.others import Changed, Here, There

TAG = b"others"
SERVERS, CHANNEL = b"{others}:servers", b"{others}:changed"
KEEP_MS = 6000
"""After so long without a sign a server is no more."""
SERVERS_MAX = 64
"""Asked; those that signed last."""
CHANGES_MAX = 1000
"""Players, and games, in one script, so that nobody else waits long."""
ID_BYTES = 16


class RedisOthers:
    """`server.others.Others` in a RedisStore."""

    alone = False

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._server = secrets.token_bytes(ID_BYTES)
        self._signs = 0
        self._told: Here | None = None
        """What the others hold of this server; None: perhaps something else, so all is told anew."""
        self._lobbies: dict[bytes, tuple[bytes, bytes]] = {}
        """Of each other server, with its version."""
        self._changed: dict[bytes, None] = {}
        """Players whom the others are told of in this tick of the loop, in order."""
        self._listeners: list[Changed] = []

    # ------------------------------------------------------------ at once

    def listen(self, changed: Changed) -> None:
        if not self._listeners:
            self._store.listen((CHANNEL,), self._heard)
        self._listeners.append(changed)

    def _heard(self, channel: bytes, message: bytes) -> None:
        if message[:ID_BYTES] != self._server:
            for at in range(ID_BYTES, len(message), ID_BYTES):
                for changed in self._listeners:
                    changed(message[at : at + ID_BYTES])

    def tell(self, player: bytes) -> None:
        if not self._changed:
            asyncio.get_running_loop().call_soon(self._publish)
        self._changed[player] = None

    def _publish(self) -> None:
        players = b"".join(self._changed)
        self._changed.clear()
        self._store.publish(CHANNEL, self._server + players)

    # ------------------------------------------------------------ once a second

    async def exchange(self, here: Here, players: Sequence[bytes], games: Sequence[bytes]) -> There:
        servers = await self._sign(here)
        others = [server for server in servers if server != self._server][:SERVERS_MAX]
        told = await asyncio.gather(*(self._ask(server, players, games) for server in others))
        self._lobbies = {server: self._lobbies[server] for server in others if server in self._lobbies}
        present = {player for here_, _ in told for player, is_here in zip(players, here_, strict=True) if is_here}
        counts: dict[bytes, int] = {}
        for _, watched in told:
            for game, count in zip(games, watched, strict=True):
                if count is not None:
                    counts[game] = counts.get(game, 0) + int(count)
        return There(present, counts, [lobby for _, lobby in self._lobbies.values()])

    async def end(self) -> None:
        self._told = None
        await self._store.write(TAG, scripts.END, self._keys, (self._server,))

    @property
    def _keys(self) -> tuple[bytes, ...]:
        return (SERVERS, *(_key(name, self._server) for name in (b"state", b"players", b"watchers")))

    async def _sign(self, here: Here) -> Sequence[bytes]:
        """All servers there are."""
        while True:
            before, self._told = self._told, None
            servers: Sequence[bytes] | None = None
            lobby: tuple[Value, Value] = (self._signs + 1, here.lobby)
            if before is not None and before.lobby == here.lobby:
                lobby = ("", "")
            for came, went, watched in _parts(before, here):
                servers = await self._write(before is None and servers is None, lobby, came, went, watched)
                if servers is None:
                    break
                lobby = ("", "")
            if servers is not None:
                self._told = Here(frozenset(here.players), dict(here.watchers), here.lobby)
                return servers
            # Its keys were lost, or had expired: all of it, then.

    async def _write(
        self,
        anew: bool,
        lobby: tuple[Value, Value],
        came: Sequence[bytes],
        went: Sequence[bytes],
        watched: Sequence[tuple[bytes, int]],
    ) -> Sequence[bytes] | None:
        before = "" if anew else self._signs
        self._signs += 1
        arguments: list[Value] = [self._server, before, self._signs, KEEP_MS, *lobby, len(came), len(went)]
        arguments += (*came, *went)
        for game, count in watched:
            arguments += (game, count)
        reply = await self._store.write(TAG, scripts.SIGN, self._keys, arguments)
        return reply or None

    async def _ask(
        self, server: bytes, players: Sequence[bytes], games: Sequence[bytes]
    ) -> tuple[Sequence[int], Sequence[bytes | None]]:
        """Of each player whether he is there, of each game how many watch."""
        here, watched, _ = await asyncio.gather(
            self._read("SMISMEMBER", _key(b"players", server), *players) if players else _nothing(),
            self._read("HMGET", _key(b"watchers", server), *games) if games else _nothing(),
            self._ask_lobby(server),
        )
        return here, watched

    async def _ask_lobby(self, server: bytes) -> None:
        key = _key(b"state", server)
        version = await self._read("HGET", key, "version")
        if version is not None and self._lobbies.get(server, (b"", b""))[0] != version:
            version, lobby = await self._read("HMGET", key, "version", "lobby")
            if lobby is not None:
                self._lobbies[server] = (version, lobby)

    async def _read(self, *command: Value) -> Any:
        return await self._store.read(TAG, *command)


async def _nothing() -> Sequence[Any]:
    return ()


def _key(name: bytes, server: bytes) -> bytes:
    return b"{others}:%b:%b" % (name, server)


def _parts(
    before: Here | None, here: Here
) -> Iterator[tuple[Sequence[bytes], Sequence[bytes], Sequence[tuple[bytes, int]]]]:
    """Who came, who went and which games' watchers changed, in parts; at least one, which may be empty."""
    players_before: Collection[bytes] = before.players if before is not None else ()
    watchers_before: Mapping[bytes, int] = before.watchers if before is not None else {}
    came = list(set(here.players).difference(players_before))
    went = list(set(players_before).difference(here.players))
    watched = [(game, count) for game, count in here.watchers.items() if watchers_before.get(game) != count]
    watched += [(game, 0) for game in watchers_before if game not in here.watchers]
    for at in range(0, max(len(came), len(went), len(watched), 1), CHANGES_MAX):
        yield came[at : at + CHANGES_MAX], went[at : at + CHANGES_MAX], watched[at : at + CHANGES_MAX]
