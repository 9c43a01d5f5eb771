"""Checking a whole published ledger: its tree, every leaf, every game, and that it goes on from what was seen before.

The only input are public files, through `Fetch`. What was found so far is one value, `Seen`, so a check can go on where
an earlier one ended.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import assert_never

from events import entries, merkle, notes, tiles
from events.entries import Barred, Closing, Imported, LedgerEntry, Lifted, Opening
from events.merkle import Frontier
from events.notes import BadCheckpoint, BadKey, BadNote, Checkpoint, VerifierKey
from events.shapes import Undecodable
from events.tiles import WIDTH, BadTile, Bundle, ProvenTiles, Tile
from projections import saved
from projections.audit import audit
from projections.leaderboard import LEADERBOARD
from projections.projection import Values
from projections.proof import unlike
from projections.saved import NotSaved
from projections.seen import Seen
from projections.standings import Snapshot
from projections.standings import unlike as unlike_board

CLOSED_MS_MAX = 8 * 24 * 3600 * 1000
"""An opening without a closing after this is the operator's failure (games end after seven days)."""
Fetch = Callable[[Sequence[str]], Mapping[str, bytes | None]]
"""Files by path, None for what isn't there."""


class Untrue(Exception):
    """The ledger can't be read on: what was signed contradicts itself, or something signed isn't there."""


def published_key(fetch: Fetch) -> VerifierKey:
    """The key that is published beside the ledger: to be compared with one got elsewhere. Raises Untrue."""
    data = fetch(["ledger.vkey"])["ledger.vkey"]
    try:
        return VerifierKey.parse(data.decode().strip() if data is not None else "")
    except (BadKey, UnicodeDecodeError) as error:
        raise Untrue(f"no key is published there: {error}") from error


def check(fetch: Fetch, seen: Seen, now_ms: int, boards: Sequence[Snapshot] = ()) -> Iterator[tuple[int, int]]:
    """Read on to the present checkpoint; `seen` is changed and true at each yield of (leaves checked, of how many).

    `boards`, fetched before, are recomputed where each says it stands. What is wrong with a leaf, a game or a board is
    noted in `seen.faults`. Raises Untrue."""
    checkpoint, proven = _present(fetch, seen)
    waiting = defaultdict(list)
    for snapshot in boards:
        waiting[snapshot.as_of].append(snapshot)
    _check_boards(seen, waiting.pop(seen.frontier.size, ()), seen.frontier.size, proven)
    yield seen.frontier.size, checkpoint.size
    while seen.frontier.size < checkpoint.size:
        bodies = _next_bodies(fetch, seen.frontier.size, checkpoint.size, proven)
        found = [_decoded(seen, seen.frontier.size + at, body) for at, body in enumerate(bodies)]
        files = fetch([_path(entry.game) for entry in found if isinstance(entry, Closing)])
        for at, entry in enumerate(found, seen.frontier.size):
            if entry is not None:
                _check_leaf(seen, at, entry, files)
                _fold(seen.rows, at, entry)
            _check_boards(seen, waiting.pop(at + 1, ()), at + 1, proven)
        seen.frontier, _ = seen.frontier.extend(map(merkle.leaf_hash, bodies))
        yield seen.frontier.size, checkpoint.size
    for snapshot in (each for late in waiting.values() for each in late):
        name = "/".join(snapshot.board)
        seen.fault(f"board {name}: it is as of {snapshot.as_of} leaves, and that isn't what is signed")
    for game, (index, opening) in seen.open.items():
        if opening.at_ms + CLOSED_MS_MAX < now_ms:
            seen.fault(f"leaf {index}: game {game.hex()} was opened more than eight days ago and isn't closed")


def _fold(rows: dict[bytes, Values], index: int, entry: LedgerEntry) -> None:
    keys = LEADERBOARD.keys(index, entry)
    if keys:
        before = [rows.get(key, LEADERBOARD.start) for key in keys]
        rows.update(zip(keys, LEADERBOARD.step(index, entry, before), strict=True))


def _check_boards(seen: Seen, boards: Sequence[Snapshot], size: int, proven: ProvenTiles) -> None:
    """Those that say they are as of `size` leaves, which is how many `seen.rows` were folded from."""
    for snapshot in boards:
        name = "/".join(snapshot.board)
        try:
            last = proven.hash_of(0, size - 1) if size else b""
        except BadTile as error:
            raise Untrue(str(error)) from error
        if snapshot.leaf_hash != last:
            seen.fault(f"board {name}: it names another leaf {size - 1} than the ledger has")
        elif (why := unlike_board(seen.rows, snapshot)) is not None:
            seen.fault(f"board {name}, as of {size} leaves: {why}")


def _present(fetch: Fetch, seen: Seen) -> tuple[Checkpoint, ProvenTiles]:
    """The checkpoint that is published now, held against the last one seen. Raises Untrue."""
    note = fetch(["checkpoint"])["checkpoint"]
    if note is None:
        raise Untrue("no checkpoint is published there")
    checkpoint = _checkpoint(note, seen.key)
    proven = ProvenTiles(checkpoint.size, checkpoint.root, lambda tile: _tile(fetch, tile))
    if seen.note is not None:
        last = _checkpoint(seen.note, seen.key)
        if checkpoint.size < last.size:
            raise Untrue(f"{checkpoint.size} leaves are signed, {last.size} were when this ledger was last seen")
        _check_consistent(last, checkpoint, proven)
    if seen.frontier.size and _frontier(seen.frontier.size, proven) != seen.frontier:
        raise Untrue(f"the {seen.frontier.size} leaves that were checked are no longer the first ones")
    seen.note = note
    return checkpoint, proven


def _checkpoint(note: bytes, key: VerifierKey) -> Checkpoint:
    try:
        return Checkpoint.parse(notes.read(note, [key]).text, key.name)
    except (BadNote, BadCheckpoint) as error:
        raise Untrue(f"the checkpoint: {error}") from error


def _check_consistent(last: Checkpoint, checkpoint: Checkpoint, proven: ProvenTiles) -> None:
    if last.size == 0:
        return
    try:
        path = merkle.consistency(last.size, checkpoint.size, proven.hash_of)
        merkle.check_consistency(last.size, checkpoint.size, last.root, checkpoint.root, path)
    except BadTile as error:
        raise Untrue(str(error)) from error
    except merkle.Unproven as error:
        why = f"two histories are signed: the one of {last.size} leaves seen before, and this one"
        raise Untrue(f"{why} ({error})") from error


def _frontier(size: int, proven: ProvenTiles) -> Frontier:
    try:
        return Frontier.read(size, proven.hash_of)
    except BadTile as error:
        raise Untrue(str(error)) from error


def _tile(fetch: Fetch, tile: Tile) -> bytes:
    full = Tile(tile.level, tile.index)
    data = _first(fetch, tile.path, full.path)
    if data is None:
        raise Untrue(f"{tile.path} isn't there")
    return data


def _first(fetch: Fetch, *paths: str) -> bytes | None:
    """A partial one goes once the full one is there."""
    for path in paths:
        if (data := fetch([path])[path]) is not None:
            return data
    return None


def _next_bodies(fetch: Fetch, first: int, size: int, proven: ProvenTiles) -> Sequence[bytes]:
    """The entries from `first` to the end of its bundle, each as it was signed. Raises Untrue."""
    index = first // WIDTH
    bundle = Bundle(index, min(WIDTH, size - index * WIDTH))
    data = _first(fetch, bundle.path, Bundle(index).path)
    if data is None:
        raise Untrue(f"{bundle.path} isn't there")
    try:
        # Of a full bundle in a partial one's place the first entries are the ones.
        bodies = tiles.entries(data, _width(data))[: bundle.width]
        if len(bodies) != bundle.width:
            raise Untrue(f"{bundle.path} has {len(bodies)} entries")
        for at, body in enumerate(bodies, index * WIDTH):
            if proven.hash_of(0, at) != merkle.leaf_hash(body):
                raise Untrue(f"leaf {at}: the entry isn't the one that was signed")
    except BadTile as error:
        raise Untrue(f"{bundle.path}: {error}") from error
    return bodies[first - index * WIDTH :]


def _width(data: bytes) -> int:
    at = count = 0
    while at < len(data):
        at, count = at + 2 + int.from_bytes(data[at : at + 2], "big"), count + 1
    return count


def _decoded(seen: Seen, index: int, body: bytes) -> LedgerEntry | None:
    try:
        return entries.decode(body)
    except Undecodable as error:
        seen.fault(f"leaf {index}: {error}")
        return None


def _path(game: bytes) -> str:
    return f"games/{game.hex()}.jsonl"


def _check_leaf(seen: Seen, index: int, entry: LedgerEntry, files: Mapping[str, bytes | None]) -> None:
    match entry:
        case Opening():
            _check_opening(seen, index, entry)
        case Closing():
            _check_closing(seen, index, entry, files[_path(entry.game)])
        case Imported(record=record):
            if record in seen.imported:
                seen.fault(f"leaf {index}: import {record.hex()} was imported before")
            seen.imported.add(record)
        case Barred(player=player, number=number):
            bars, lifted = seen.bars.get(player, (0, 0))
            if bars != lifted or number != bars + 1:
                seen.fault(f"leaf {index}: bar {number} of player {player.hex()} comes after {bars}, {lifted} lifted")
            seen.bars[player] = (number, lifted)
        case Lifted(player=player, number=number):
            bars, lifted = seen.bars.get(player, (0, 0))
            if number != bars or number == lifted:
                seen.fault(f"leaf {index}: bar {number} of player {player.hex()} is lifted, but doesn't stand")
            seen.bars[player] = (bars, number)
        case _:
            assert_never(entry)


def _check_opening(seen: Seen, index: int, entry: Opening) -> None:
    game = entry.game
    if game in seen.open or game in seen.closed:
        seen.fault(f"leaf {index}: game {game.hex()} was opened before")
    for before in entry.after:
        if before not in seen.closed:
            seen.fault(f"leaf {index}: it names game {before.hex()}, which isn't closed before it")
    seen.open.setdefault(game, (index, entry))


def _check_closing(seen: Seen, index: int, entry: Closing, file: bytes | None) -> None:
    game = entry.game
    if game in seen.closed:
        seen.fault(f"leaf {index}: game {game.hex()} was closed before")
    elif game not in seen.open:
        seen.fault(f"leaf {index}: game {game.hex()} is closed, but wasn't opened")
    _, opening = seen.open.pop(game, (0, None))
    seen.closed.add(game)
    if entry.reason == "lost":
        seen.lost.add(game)
    if (why := _wrong_with(opening, entry, file)) is not None:
        seen.fault(f"leaf {index}: game {game.hex()}: {why}")


def _wrong_with(opening: Opening | None, entry: Closing, data: bytes | None) -> str | None:
    """What is wrong with a closed game's file, or with its leaves beside it."""
    if data is None:
        return "its file isn't there"
    try:
        game = saved.load(data)
    except NotSaved as error:
        return f"its file, event {error.version}: {error.why}"
    if game.game != entry.game:
        return "its file is another game's"
    findings = audit(game)
    if findings.failure is not None:
        return f"event {findings.failure.version}: {findings.failure.why}"
    if not findings.over:
        return "its file ends before the game does"
    return (unlike(opening, Opening, game) if opening is not None else None) or unlike(entry, Closing, game)
