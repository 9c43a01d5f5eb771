"""Boards as sorted sets in Redis: what a batch of rows changes in them, and the `Ranks` that are asked of them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter

from events.redis_connection import Reply, Value
from events.redis_script import Script
from events.redis_store import RedisStore
from projections.leaderboard import (
    BARS,
    INDEX_BITS,
    INDEX_MAX,
    LEADERBOARD,
    PLAYER_BYTES,
    VALUE_MAX,
    WINDOWED,
    Board,
    is_barred,
    measures,
    score_of,
)
from projections.standings import Place
from projections.windows import ALL
from server import redis_folded_keys as keys
from server import redis_folded_scripts as scripts
from server.projected import Generation, StoredRow
from server.ranks import Places, placed
from server.view import NotReady

NAME = LEADERBOARD.name
TAG = keys.tag(NAME)
POSITION = attrgetter("position")


@dataclass(slots=True)
class Changes:
    """What becomes of the boards, in the script that writes the rows."""

    scores: defaultdict[bytes, dict[bytes, int | None]] = field(default_factory=lambda: defaultdict(dict))
    """By board, each player's score, None for one who isn't on it."""
    barred: dict[bytes, bool] = field(default_factory=dict)

    def put(self, key: bytes, row: bytes, barred: bool) -> None:
        prefix, player = key[:-PLAYER_BYTES], key[-PLAYER_BYTES:]
        fields = LEADERBOARD.row(row)
        for measure, name in _boards(prefix):
            changed = self.scores[name]  # a board is known from its first row on, whoever's that is
            if not barred:
                changed[player] = score_of(measure, fields)


async def changes(store: RedisStore, generation: Generation, rows: Sequence[StoredRow]) -> Changes:
    """What rows that follow this generation change. What is read may be of a later one: then they aren't written."""
    found = Changes()
    stored, _, boards, barred, _ = keys.parts(NAME, generation.id)
    before: set[bytes] = set(await store.read(TAG, "SMEMBERS", barred))
    for key, row in rows:
        if key.startswith(BARS):
            found.barred[key[len(BARS) :]] = is_barred(LEADERBOARD.row(row))
    after = before - {player for player, is_ in found.barred.items() if not is_}
    after |= {player for player, is_ in found.barred.items() if is_}
    known: Iterable[bytes] = await store.read(TAG, "HKEYS", boards) if before != after else ()
    for player in after - before:
        for name in known:
            found.scores[name][player] = None
    lifted = [prefix + player for prefix in {_prefix(name) for name in known} for player in before - after]
    if lifted:
        bodies = await store.read(TAG, "HMGET", stored, *lifted)
        for key, body in zip(lifted, bodies, strict=True):
            if body is not None:
                found.put(key, body, barred=False)
    for key, row in rows:
        if not key.startswith(BARS):
            found.put(key, row, barred=key[-PLAYER_BYTES:] in after)
    return found


@lru_cache(4096)
def _boards(prefix: bytes) -> tuple[tuple[str, bytes], ...]:
    """Measure and name of each board that rows with this prefix stand on."""
    ladder, window, _ = prefix.decode().split("/")
    return tuple(
        (measure, _name(Board(ladder, measure, window)))
        for measure in measures(ladder)
        if window == ALL or measure in WINDOWED
    )


@lru_cache(4096)
def _name(board: Board) -> bytes:
    return "/".join(board).encode()


def _prefix(name: bytes) -> bytes:
    return Board(*name.decode().split("/")).prefix


class RedisBoards:
    """`Ranks` that every server reads, whoever folds."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._live = 0
        """The generation that was live when it was last asked."""

    async def page(self, board: Board, start: int, count: int) -> Places:
        return await self._places(board, "page", count, max(0, start))

    async def following(self, board: Board, score: int, player: bytes, count: int) -> Places:
        return await self._places(board, "following", count, score, player)

    async def around(self, board: Board, player: bytes, count: int) -> Places:
        return await self._places(board, "around", count, player)

    async def of(self, board: Board, players: Sequence[bytes]) -> Places:
        asked = tuple(dict.fromkeys(players))
        live, (size, *found) = await self._ask(scripts.OF, _keys_of, board, asked)
        places = [
            Place(ahead + 1, position, player, VALUE_MAX - (int(score) >> INDEX_BITS), int(score) & INDEX_MAX)
            for player, score, position, ahead in zip(asked, found[::3], found[1::3], found[2::3], strict=True)
            if score
        ]
        if len(places) > 1:
            places.sort(key=POSITION)
        return _told(live, live.checkpoint.as_of, size, tuple(places))

    async def _places(self, board: Board, what: str, count: int, *at: Value) -> Places:
        arguments = (_name(board), what, max(0, count), *at)
        live, (moved, size, start, ahead, found) = await self._ask(scripts.PLACES, _keys, board, arguments)
        return _told(live, int(moved), size, placed(start, found[::2], list(map(int, found[1::2])), ahead))

    async def _ask(
        self, script: Script, ours: Callable[[Board, int], Sequence[bytes]], board: Board, arguments: Sequence[Value]
    ) -> tuple[Generation, Reply]:
        while True:
            generation = self._live
            stored, *reply = await self._store.read_by(TAG, script, ours(board, generation), arguments)
            live = _decoded(stored) if stored else None
            if live is None or live.version != LEADERBOARD.version:
                raise NotReady(NAME)
            if live.id == generation:
                return live, reply
            self._live = live.id


@lru_cache(1024)
def _keys(board: Board, generation: int) -> tuple[bytes, ...]:
    return keys.generations(NAME), keys.part(NAME, generation, b"boards"), keys.board(NAME, generation, _name(board))


@lru_cache(1024)
def _keys_of(board: Board, generation: int) -> tuple[bytes, ...]:
    return keys.generations(NAME), keys.board(NAME, generation, _name(board))


@lru_cache(16)
def _decoded(stored: bytes) -> Generation:
    return keys.decode(NAME, "live", stored)


def _told(live: Generation, moved: int, size: int, places: tuple[Place, ...]) -> Places:
    return Places(live.checkpoint.as_of, live.checkpoint.leaf_hash, size, places, moved, live.id)


def arguments(changed: Changes, generation: int) -> tuple[list[bytes], list[Value]]:
    """The boards' keys, and what the script that advances is told of them."""
    given: list[Value] = []
    for name, scores in changed.scores.items():
        given += (name, len(scores))
        for player, score in scores.items():
            given += (player, b"" if score is None else score)
    for player, barred in changed.barred.items():
        given += (player, int(barred))
    return [keys.board(NAME, generation, name) for name in changed.scores], given
