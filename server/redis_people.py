"""People in Redis, for all servers. The only place that knows these keys, which all lie in one slot:

{people}:players   hash from player to the hash of his token (32 bytes) and when he came, in Unix milliseconds
{people}:tokens    hash from the hash of a token to its player
{people}:names     hash from player to `CHANGED_MS HIDDEN SKELETON`, a zero byte, and the name
{people}:looks     hash from skeleton to the player who has it
{people}:erased    set of players who were erased
{people}:ids       sorted set of all players, those erased too, all of one score
{people}:ended     the channel that tells of each token that is nobody's any more
"""

import asyncio
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from events.log import Unknown
from events.redis_connection import Value
from events.redis_script import Script
from events.redis_store import RedisStore
from rules.fairness import PLAYER_BYTES
from server import redis_people_scripts as scripts
from server.naming import ERASED, normal, skeleton
from server.people import (
    ASKED_MAX,
    CHANGE_MS,
    HASH_BYTES,
    TOKEN_BYTES,
    Ended,
    Name,
    Person,
    Taken,
    TooSoon,
    token_hash,
)

TAG = b"people"
PLAYERS, TOKENS, NAMES, LOOKS, ERASED_IDS, IDS, CHANNEL = (
    b"{people}:" + name for name in (b"players", b"tokens", b"names", b"looks", b"erased", b"ids", b"ended")
)


class RedisPeople:
    """`server.people.People` in a RedisStore."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._listeners: list[Ended] = []

    def listen(self, ended: Ended) -> None:
        if not self._listeners:
            self._store.listen((CHANNEL,), self._heard)
        self._listeners.append(ended)

    def _heard(self, channel: bytes, hash_: bytes) -> None:
        for ended in self._listeners:
            ended(hash_)

    # ------------------------------------------------------------ tokens

    async def join(self, now_ms: int) -> tuple[bytes, bytes]:
        player, token = secrets.token_bytes(PLAYER_BYTES), secrets.token_bytes(TOKEN_BYTES)
        await self._write(scripts.JOIN, (PLAYERS, TOKENS, IDS), player, token_hash(token), now_ms)
        return player, token

    async def who(self, token: bytes) -> bytes | None:
        player: bytes | None = await self._read("HGET", TOKENS, token_hash(token))
        return player

    async def standing(self, hashes: Sequence[bytes]) -> set[bytes]:
        return await self._found(TOKENS, hashes)

    async def renew(self, token: bytes) -> bytes | None:
        fresh = secrets.token_bytes(TOKEN_BYTES)
        try:
            done = await self._write(scripts.RENEW, (PLAYERS, TOKENS), token_hash(token), token_hash(fresh), CHANNEL)
        except Unknown:
            # If it was done nobody would have the fresh one, and the player be locked out.
            if await self.who(fresh) is None:
                raise
            done = 1
        return fresh if done else None

    async def known(self, players: Sequence[bytes]) -> set[bytes]:
        return await self._found(PLAYERS, players)

    async def _found(self, key: bytes, fields: Sequence[bytes]) -> set[bytes]:
        values = await self._read("HMGET", key, *fields) if fields else []
        return {field for field, value in zip(fields, values, strict=True) if value is not None}

    # ------------------------------------------------------------ names

    async def called(self, players: Iterable[bytes]) -> Mapping[bytes, str]:
        wanted = list(dict.fromkeys(players))
        found: dict[bytes, str] = {}
        for at in range(0, len(wanted), ASKED_MAX):
            some = wanted[at : at + ASKED_MAX]
            records, erased = await asyncio.gather(
                self._read("HMGET", NAMES, *some), self._read("SMISMEMBER", ERASED_IDS, *some)
            )
            for player, record, is_erased in zip(some, records, erased, strict=True):
                if is_erased:
                    found[player] = ERASED
                elif record is not None and not (name := _name(record)).hidden:
                    found[player] = name.text
        return found

    async def choose(self, player: bytes, text: str, now_ms: int) -> str:
        name = normal(text)
        answer = await self._write(
            scripts.CHOOSE, (PLAYERS, NAMES, LOOKS), player, name, skeleton(name), now_ms, CHANGE_MS
        )
        match answer:
            case b"kept":
                return name
            case b"taken":
                raise Taken
            case wait_ms:
                raise TooSoon(int(wait_ms))

    async def hide(self, player: bytes, hidden: bool) -> bool:
        done: int = await self._write(scripts.HIDE, (NAMES,), player, int(hidden))
        return done > 0

    # ------------------------------------------------------------ all of a player

    async def erase(self, player: bytes) -> bool:
        """Redis's append-only file holds the rows until it is rewritten: docs/operations.md."""
        done: int = await self._write(scripts.ERASE, (PLAYERS, TOKENS, NAMES, LOOKS, ERASED_IDS), player, CHANNEL)
        return done > 0

    async def page(self, after: bytes, limit: int) -> Sequence[Person]:
        start = b"(" + after if after else b"-"
        found = await self._store.read_by(TAG, scripts.PAGE, (IDS, PLAYERS, NAMES), (start, limit))
        return [
            Person(
                player,
                record[:HASH_BYTES],
                int(record[HASH_BYTES:] or 0),
                _name(name) if name else None,
            )
            for player, record, name in zip(found[::3], found[1::3], found[2::3], strict=True)
        ]

    async def put(self, people: Sequence[Person]) -> Sequence[bytes]:
        arguments: list[Value] = []
        for each in people:
            name = each.name or Name("", "", 0, False)
            arguments += (each.player, each.token_hash, each.created_ms)
            arguments += (name.changed_ms, int(name.hidden), name.skeleton, name.text)
        left_out: list[bytes] = await self._write(
            scripts.PUT, (PLAYERS, TOKENS, NAMES, LOOKS, ERASED_IDS, IDS), *arguments
        )
        return left_out

    async def _read(self, *command: Value) -> Any:
        return await self._store.read(TAG, *command)

    async def _write(self, script: Script, keys: Sequence[bytes], *arguments: Value) -> Any:
        return await self._store.write(TAG, script, keys, arguments)


def _name(record: bytes) -> Name:
    told, _, text = record.partition(b"\0")
    changed_ms, hidden, looks = told.split(b" ", 2)
    return Name(text.decode(), looks.decode(), int(changed_ms), hidden == b"1")
