"""Checking a whole published ledger: its tree, every leaf, every game, and that it goes on from what was seen before.

The only input are public files, through `Fetch`. What was found so far is one value, `Seen`, so a check can go on where
an earlier one ended.
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from events import entries, merkle, notes, tiles
from events.entries import Closing, Entry, Opening
from events.merkle import EMPTY, Frontier
from events.notes import BadCheckpoint, BadKey, BadNote, Checkpoint, VerifierKey
from events.shapes import Undecodable
from events.tiles import WIDTH, BadTile, Bundle, ProvenTiles, Tile
from projections import saved
from projections.audit import audit
from projections.proof import unlike
from projections.saved import NotSaved

FORMAT = "statecraft-seen/1"
CLOSED_MS_MAX = 8 * 24 * 3600 * 1000
"""An opening without a closing after this is the operator's failure (games end after seven days)."""
FAULTS_MAX = 1000
"""Kept; of a ledger that is wrong throughout, more would tell nobody anything."""

Fetch = Callable[[Sequence[str]], Mapping[str, bytes | None]]
"""Files by path, None for what isn't there."""


class Untrue(Exception):
    """The ledger can't be read on: what was signed contradicts itself, or something signed isn't there."""


@dataclass(slots=True)
class Seen:
    """What one reader knows of one ledger."""

    key: VerifierKey
    note: bytes | None = None
    """The last checkpoint, whose tree began with all those before it."""
    frontier: Frontier = EMPTY
    """Of the leaves that were checked."""
    open: dict[bytes, tuple[int, Opening]] = field(default_factory=dict)
    """Games without a closing: their opening and its index."""
    closed: set[bytes] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def fault(self, what: str) -> None:
        if len(self.faults) < FAULTS_MAX:
            self.faults.append(what)

    def save(self) -> bytes:
        values = {
            "format": FORMAT,
            "key": str(self.key),
            "checkpoint": self.note.decode() if self.note is not None else None,
            "size": self.frontier.size,
            "hashes": [each.hex() for each in self.frontier.hashes],
            "open": [[index, entries.encode(opening).hex()] for index, opening in self.open.values()],
            "closed": base64.b64encode(b"".join(sorted(self.closed))).decode(),
            "faults": self.faults,
        }
        return json.dumps(values, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def load(cls, data: bytes) -> "Seen":
        """Raises ValueError for anything that `save` didn't write."""
        try:
            values = json.loads(data)
            if values["format"] != FORMAT:
                raise ValueError(f"format {values['format']!r}, this version knows {FORMAT}")
            closed = base64.b64decode(values["closed"])
            return cls(
                VerifierKey.parse(values["key"]),
                values["checkpoint"].encode() if values["checkpoint"] is not None else None,
                Frontier(values["size"], tuple(bytes.fromhex(each) for each in values["hashes"])),
                {opening.game: (index, opening) for index, opening in map(_read_opening, values["open"])},
                {closed[at : at + 16] for at in range(0, len(closed), 16)},
                list(values["faults"]),
            )
        except (KeyError, TypeError, AttributeError, BadKey, Undecodable) as error:
            raise ValueError(repr(error)) from error


def _read_opening(values: tuple[int, str]) -> tuple[int, Opening]:
    index, body = values
    opening = entries.decode(bytes.fromhex(body))
    if not isinstance(opening, Opening):
        raise ValueError(f"{opening} is no opening")
    return index, opening


def published_key(fetch: Fetch) -> VerifierKey:
    """The key that is published beside the ledger: to be compared with one got elsewhere. Raises Untrue."""
    data = fetch(["ledger.vkey"])["ledger.vkey"]
    try:
        return VerifierKey.parse(data.decode().strip() if data is not None else "")
    except (BadKey, UnicodeDecodeError) as error:
        raise Untrue(f"no key is published there: {error}") from error


def check(fetch: Fetch, seen: Seen, now_ms: int) -> Iterator[tuple[int, int]]:
    """Read on to the present checkpoint; `seen` is changed and true at each yield of (leaves checked, of how many).

    What is wrong with a leaf or a game is noted in `seen.faults`. Raises Untrue."""
    checkpoint, proven = _present(fetch, seen)
    yield seen.frontier.size, checkpoint.size
    while seen.frontier.size < checkpoint.size:
        bodies = _next_bodies(fetch, seen.frontier.size, checkpoint.size, proven)
        found = [_decoded(seen, seen.frontier.size + at, body) for at, body in enumerate(bodies)]
        files = fetch([_path(entry.game) for entry in found if isinstance(entry, Closing)])
        for at, entry in enumerate(found, seen.frontier.size):
            if entry is not None:
                _check_leaf(seen, at, entry, files)
        seen.frontier, _ = seen.frontier.extend(map(merkle.leaf_hash, bodies))
        yield seen.frontier.size, checkpoint.size
    for game, (index, opening) in seen.open.items():
        if opening.at_ms + CLOSED_MS_MAX < now_ms:
            seen.fault(f"leaf {index}: game {game.hex()} was opened more than eight days ago and isn't closed")


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


def _decoded(seen: Seen, index: int, body: bytes) -> Entry | None:
    try:
        return entries.decode(body)
    except Undecodable as error:
        seen.fault(f"leaf {index}: {error}")
        return None


def _path(game: bytes) -> str:
    return f"games/{game.hex()}.jsonl"


def _check_leaf(seen: Seen, index: int, entry: Entry, files: Mapping[str, bytes | None]) -> None:
    game = entry.game
    match entry:
        case Opening(after=after):
            if game in seen.open or game in seen.closed:
                seen.fault(f"leaf {index}: game {game.hex()} was opened before")
            for before in after:
                if before not in seen.closed:
                    seen.fault(f"leaf {index}: it names game {before.hex()}, which isn't closed before it")
            seen.open.setdefault(game, (index, entry))
        case Closing():
            if game in seen.closed:
                seen.fault(f"leaf {index}: game {game.hex()} was closed before")
            elif game not in seen.open:
                seen.fault(f"leaf {index}: game {game.hex()} is closed, but wasn't opened")
            _, opening = seen.open.pop(game, (0, None))
            seen.closed.add(game)
            if (why := _wrong_with(opening, entry, files[_path(game)])) is not None:
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
