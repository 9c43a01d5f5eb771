"""The `Projected` contract in Redis, which any number of servers share. Boards are kept in the same scripts."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from events.redis_connection import Value
from events.redis_store import RedisStore
from events.redis_topology import Unreachable
from projections.leaderboard import LEADERBOARD
from server import redis_boards
from server import redis_folded_keys as keys
from server import redis_folded_scripts as scripts
from server.projected import (
    DIFFERENCES_MAX,
    Checkpoint,
    Differs,
    Generation,
    Moved,
    Page,
    Standing,
    StoredRow,
    Taken,
)

ROWS_READ = 1_000
"""By one command: Redis serves nobody else meanwhile."""
ATTEMPTS_MAX = 20

T = TypeVar("T")
Stored = Mapping[bytes, bytes]
"""The hash of a projection's generations."""


class RedisProjected:
    rows_at_once = 2_000
    """About ten milliseconds of Redis."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store

    async def standing(self, names: Sequence[str], state: str = "live") -> Standing:
        found = {name: await self._found(name, state) for name in names}
        return {name: generation for name, generation in found.items() if generation is not None}

    async def begin(self, name: str, version: int, state: str) -> Generation:
        while True:
            stored = await self._generations(name)
            found = _generation(stored, name, state)
            if found is not None and (found.version == version or state == "live"):
                return found
            last = stored.get(b"last", b"")
            fresh = Generation(int(last or b"0") + 1, name, version, state, Checkpoint())
            moves = {b"last": b"%d" % fresh.id, state.encode(): keys.encode(fresh)}
            if await self._move(name, stored, moves, found):
                return fresh

    async def advance(
        self, known: Generation, after: Checkpoint, rows: Sequence[StoredRow], held: bytes = b""
    ) -> Generation:
        fresh = replace(known, checkpoint=after)
        arguments: list[Value] = [known.state, keys.encode(known), keys.encode(fresh), after.as_of, held, len(rows)]
        for row in rows:
            arguments += row
        boards: Sequence[bytes] = ()
        if known.name == LEADERBOARD.name:
            changed = await redis_boards.changes(self._store, known, rows)
            boards, given = redis_boards.arguments(changed, known.id)
            arguments += given
        ours = (keys.generations(known.name), *keys.parts(known.name, known.id), *boards)
        if await self._store.write(keys.tag(known.name), scripts.ADVANCE, ours, arguments) != 1:
            raise Moved(known)
        return fresh

    async def held(self, generation: Generation) -> bytes:
        ours = keys.part(generation.name, generation.id, b"held")
        return await self._store.read(keys.tag(generation.name), "GET", ours) or b""

    async def rows(self, name: str, generation: int, wanted: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        ours = keys.part(name, generation, b"rows")
        for first in range(0, len(wanted), ROWS_READ):
            some = wanted[first : first + ROWS_READ]
            bodies = await self._store.read(keys.tag(name), "HMGET", ours, *some)
            found.update((key, body) for key, body in zip(some, bodies, strict=True) if body is not None)
        return found

    async def page(self, generation: Generation, prefix: bytes, after: bytes, limit: int) -> list[StoredRow]:
        name = generation.name
        ours = keys.parts(name, generation.id)[:2]
        least, last = max(prefix, after + b"\0"), prefix.rstrip(b"\xff")
        end = b"(" + last[:-1] + bytes((last[-1] + 1,)) if last else b"+"
        found: list[StoredRow] = []
        while len(found) < limit:
            count = min(ROWS_READ, limit - len(found))
            some = await self._store.read_by(keys.tag(name), scripts.PAGE, ours, (b"[" + least, end, count))
            half = len(some) // 2
            found += zip(some[:half], some[half:], strict=True)
            if half < count:
                break
            least = found[-1][0] + b"\0"
        return found

    async def view(self, names: Sequence[str], job: Callable[[Standing, Page], Awaitable[T]]) -> T:
        """Nothing is held while it is read: where something moved, it is read again."""
        for _ in range(ATTEMPTS_MAX):
            live = await self.standing(names)
            made = await job(live, self.page)
            if await self.standing(names) == live:
                return made
        raise Unreachable("rows move faster than they are read")

    async def take_over(self, known: Generation, force: bool) -> Taken | None:
        while True:
            stored = await self._generations(known.name)
            live, kept = _generation(stored, known.name, "live"), _generation(stored, known.name, "kept")
            if _generation(stored, known.name, "building") != known:
                raise Moved(known)
            assert not await self.held(known), "some of its rows aren't written"
            if live is not None and not force:
                if live.checkpoint.as_of != known.checkpoint.as_of:
                    return None
                await self._compare(live, known)
            moves = {b"building": b"", b"live": keys.encode(known)}
            if live is not None:
                moves[b"kept"] = keys.encode(live)
            if await self._move(known.name, stored, moves, kept if live is not None else None):
                return Taken(replace(known, state="live"), None if live is None else replace(live, state="kept"))

    async def _compare(self, live: Generation, built: Generation) -> None:
        """Raises Differs."""
        if live.checkpoint.leaf_hash != built.checkpoint.leaf_hash:
            raise Differs(f"{live.name}: the live one was folded from another ledger, up to {live.checkpoint.as_of}")
        if live.version == built.version and live.checkpoint.digest != built.checkpoint.digest:
            raise Differs(f"{live.name} at {live.checkpoint.as_of}: {await self._differences(live, built)}")

    async def _differences(self, live: Generation, built: Generation) -> str:
        found: dict[bytes, None] = {}
        for one, other in ((live, built), (built, live)):
            after = b""
            while len(found) < DIFFERENCES_MAX and (some := await self.page(one, b"", after, ROWS_READ)):
                there = await self.rows(other.name, other.id, [key for key, _ in some])
                found.update(dict.fromkeys(key for key, row in some if there.get(key) != row))
                after = some[-1][0]
        named = ", ".join(key.hex() for key in list(found)[:DIFFERENCES_MAX])
        return f"other rows: {named}" if named else "the same rows, but a digest that isn't theirs"

    async def roll_back(self, name: str) -> Generation | None:
        while True:
            stored = await self._generations(name)
            kept = _generation(stored, name, "kept")
            if kept is None:
                return None
            moves = {b"live": stored[b"kept"], b"kept": stored.get(b"live", b"")}
            if await self._move(name, stored, moves, None):
                return replace(kept, state="live")

    async def drop_building(self, name: str) -> None:
        while True:
            stored = await self._generations(name)
            found = _generation(stored, name, "building")
            if found is None or await self._move(name, stored, {b"building": b""}, found):
                return

    async def sweep(self, names: Sequence[str]) -> None:
        for name in names:
            tag = keys.tag(name)
            for id_ in await self._store.read(tag, "SMEMBERS", keys.dropped(name)):
                generation = int(id_)
                boards = await self._store.read(tag, "HKEYS", keys.part(name, generation, b"boards"))
                ours = (*keys.parts(name, generation), *(keys.board(name, generation, board) for board in boards))
                await self._store.write(tag, scripts.SWEEP, (keys.dropped(name), *ours), (id_,))

    async def _found(self, name: str, state: str) -> Generation | None:
        stored = await self._store.read(keys.tag(name), "HGET", keys.generations(name), state)
        return keys.decode(name, state, stored) if stored is not None else None

    async def _generations(self, name: str) -> Stored:
        stored: Stored = await self._store.read(keys.tag(name), "HGETALL", keys.generations(name))
        return stored

    async def _move(self, name: str, stored: Stored, moves: Mapping[bytes, bytes], dropped: Generation | None) -> bool:
        """Whether these fields stand there now, instead of what is stored there. Raises Unknown."""
        arguments: list[Value] = [len(moves)]
        for state, generation in moves.items():
            arguments += (state, stored.get(state, b""), generation)
        if dropped is not None:
            arguments.append(dropped.id)
        ours = (keys.generations(name), keys.dropped(name))
        moved: bool = await self._store.write(keys.tag(name), scripts.GENERATIONS, ours, arguments) == 1
        return moved


def _generation(stored: Stored, name: str, state: str) -> Generation | None:
    found = stored.get(state.encode())
    return keys.decode(name, state, found) if found is not None else None
