"""The tree as files: tiles and entry bundles, their paths and bytes (C2SP tlog-tiles). The only place that knows both.

Tile `index` of level L holds up to 256 consecutive hashes of the tree's nodes at level 8·L, 32 bytes each; bundle
`index` the entries under a tile of level 0. At the right edge of the tree they hold fewer and are partial; only full
tiles have a hash in the level above. Paths stand here without a leading slash, as keys of an object store:
tile/0/x001/x234/067, tile/0/000.p/17, tile/entries/000.p/17.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from events import merkle
from events.merkle import HASH_BYTES, Frontier, HashOf, Node, node_hash

HEIGHT = 8
WIDTH = 1 << HEIGHT
"""Hashes of a full tile, entries of a full bundle."""
LEVEL_MAX = 63
INDEX_MAX = (1 << 63) - 1
ENTRY_BYTES_MAX = (1 << 16) - 1
PROVEN_TILES_MAX = 256
"""Tiles a reader keeps, about 16 KiB each."""

_PATH = re.compile(r"tile/(entries|[0-9]{1,2})/((?:x[0-9]{3}/){0,6}[0-9]{3})(?:\.p/([0-9]{1,3}))?")


class BadPath(Exception):
    """No tile or bundle has this path."""


class BadTile(Exception):
    """These bytes are not that tile or bundle, and why."""


@dataclass(frozen=True, slots=True)
class Tile:
    """`width` hashes, 1 to 256."""

    level: int
    index: int
    width: int = WIDTH

    @property
    def path(self) -> str:
        return f"tile/{self.level}/{_place(self.index, self.width)}"


@dataclass(frozen=True, slots=True)
class Bundle:
    """`width` entries, 1 to 256."""

    index: int
    width: int = WIDTH

    @property
    def path(self) -> str:
        return f"tile/entries/{_place(self.index, self.width)}"


def parse(path: str) -> Tile | Bundle:
    """What has this path. Raises BadPath, also for a second way to write one."""
    match = _PATH.fullmatch(path)
    if match is None:
        raise BadPath(f"{path!r} is not like tile/LEVEL/INDEX, tile/entries/INDEX or one of them with .p/WIDTH")
    level, place, width = match.groups()
    index = int(re.sub("[x/]", "", place))
    wide = int(width) if width else WIDTH
    what = Bundle(index, wide) if level == "entries" else Tile(int(level), index, wide)
    if isinstance(what, Tile) and what.level > LEVEL_MAX:
        raise BadPath(f"level {level}, the highest is {LEVEL_MAX}")
    if index > INDEX_MAX or not 0 < wide <= WIDTH or what.path != path:
        raise BadPath(f"{path!r} is out of bounds or not the shortest form")
    return what


def made(old: int, new: int) -> Iterator[Tile]:
    """The tiles to be stored when a tree of `old` leaves has grown to `new`, lower levels first."""
    level = 0
    while new >> HEIGHT * level:
        yield from (Tile(level, *each) for each in _filled(old >> HEIGHT * level, new >> HEIGHT * level))
        level += 1


def bundles_made(old: int, new: int) -> Iterator[Bundle]:
    """The bundles to be stored when a tree of `old` leaves has grown to `new`."""
    return (Bundle(*each) for each in _filled(old, new))


def edge(size: int) -> tuple[Tile, ...]:
    """The partial tiles of a tree, lower levels first: all that its root, or an append to it, needs."""
    levels = range((size.bit_length() + HEIGHT - 1) // HEIGHT)
    widths = [(size >> HEIGHT * level) % WIDTH for level in levels]
    return tuple(Tile(level, size >> HEIGHT * (level + 1), width) for level, width in enumerate(widths) if width)


def needed(size: int, nodes: Iterable[Node]) -> tuple[Tile, ...]:
    """The tiles that `ProvenTiles` of a tree of `size` leaves reads for these nodes: to be fetched beforehand, at once.

    E.g. of a proof: `for leaves in merkle.inclusion_leaves(index, size) for node in merkle.nodes(leaves)`.
    """
    found = dict.fromkeys(edge(size))
    for node in nodes:
        tile = _tile_of(node, size)
        while tile not in found:
            found[tile] = None
            tile = _parent(tile, size)
    return tuple(found)


def data(tile: Tile, hash_of: HashOf) -> bytes:
    """The bytes of a tile, from its hashes."""
    first = tile.index * WIDTH
    return b"".join([hash_of(tile.level * HEIGHT, index) for index in range(first, first + tile.width)])


def grow(size: int, leaf_hashes: Iterable[bytes], hash_of: HashOf) -> tuple[Frontier, list[tuple[Tile, bytes]]]:
    """The tree after these leaves, and the tiles to be stored for it. Of the old tree it reads `edge(size)` only."""
    frontier, finished = Frontier.read(size, hash_of).extend(leaf_hashes)

    def either(level: int, index: int) -> bytes:
        return finished.get((level, index)) or hash_of(level, index)

    return frontier, [(tile, data(tile, either)) for tile in made(size, frontier.size)]


class ProvenTiles:
    """The hashes of a signed tree, read from tiles that nobody need trust: each is held against the root before use."""

    def __init__(self, size: int, root: bytes, read: Callable[[Tile], bytes]) -> None:
        """`read` gives a tile's bytes; for a partial one it may give the full one, should only that be left."""
        self._size, self._root, self._read = size, root, read
        self._edge: dict[Tile, Sequence[bytes]] | None = None
        self._rows = lru_cache(maxsize=PROVEN_TILES_MAX)(self._proven)

    def hash_of(self, level: int, index: int) -> bytes:
        """A `merkle.HashOf`. Raises BadTile for bytes that don't lead to the root, and what `read` raises."""
        return _hash(self._rows(_tile_of((level, index), self._size)), (level, index))

    def _proven(self, tile: Tile) -> Sequence[bytes]:
        if self._edge is None:
            self._edge = self._proven_edge()
        if tile in self._edge:
            return self._edge[tile]
        rows = self._unproven(tile)
        if rows[HEIGHT] != self.hash_of((tile.level + 1) * HEIGHT, tile.index):
            raise BadTile(f"{tile.path} doesn't give its hash in the tile above")
        return rows

    def _proven_edge(self) -> dict[Tile, Sequence[bytes]]:
        tiles = {tile: self._unproven(tile) for tile in edge(self._size)}

        def hash_of(level: int, index: int) -> bytes:
            return _hash(tiles[_tile_of((level, index), self._size)], (level, index))

        if merkle.root(self._size, hash_of) != self._root:
            # One of them is wrong, or the root is: hashes don't say which.
            paths = ", ".join(tile.path for tile in tiles)
            raise BadTile(f"the partial tiles don't give the root of {self._size} leaves: {paths}")
        return tiles

    def _unproven(self, tile: Tile) -> Sequence[bytes]:
        row = self._read(tile)
        if len(row) not in (tile.width * HASH_BYTES, WIDTH * HASH_BYTES):
            raise BadTile(f"{tile.path} has {tile.width} hashes of {HASH_BYTES} bytes, {len(row)} bytes came")
        return _rows(row[: tile.width * HASH_BYTES])


def bundle(entries: Sequence[bytes]) -> bytes:
    """The bytes of a bundle: each entry behind its length, 2 bytes big-endian."""
    assert 0 < len(entries) <= WIDTH, f"{len(entries)} entries in a bundle"
    assert all(len(entry) <= ENTRY_BYTES_MAX for entry in entries), f"an entry has {ENTRY_BYTES_MAX} bytes at most"
    return b"".join([len(entry).to_bytes(2, "big") + entry for entry in entries])


def entries(data: bytes, width: int = WIDTH) -> tuple[bytes, ...]:
    """The entries of a bundle of `width`. Raises BadTile. Whether they are the tree's, their `leaf_hash` tells."""
    found: list[bytes] = []
    at = 0
    while at < len(data):
        start = at + 2
        at = start + int.from_bytes(data[at:start], "big")
        if at > len(data):
            raise BadTile(f"the bundle ends inside entry {len(found)}")
        found.append(data[start:at])
    if len(found) != width:
        raise BadTile(f"the bundle has {width} entries, {len(found)} came")
    return tuple(found)


def _place(index: int, width: int) -> str:
    groups = [f"{index % 1000:03}"]
    while index := index // 1000:
        groups.append(f"x{index % 1000:03}")
    return "/".join(reversed(groups)) + (f".p/{width}" if width < WIDTH else "")


def _filled(old: int, new: int) -> Iterator[tuple[int, int]]:
    """Index and width of what `new` hashes (or entries) fill and `old` did not."""
    if new > old:
        for index in range(old // WIDTH, (new - 1) // WIDTH + 1):
            yield index, min(WIDTH, new - index * WIDTH)


def _tile_of(node: Node, size: int) -> Tile:
    """The tile that a node's hash is read from, as wide as a tree of `size` leaves has it."""
    level, below = divmod(node[0], HEIGHT)
    assert 0 <= node[1] < size >> node[0], f"no node {node} among {size} leaves"
    index = node[1] >> HEIGHT - below
    return Tile(level, index, min(WIDTH, (size >> HEIGHT * level) - index * WIDTH))


def _parent(tile: Tile, size: int) -> Tile:
    return _tile_of(((tile.level + 1) * HEIGHT, tile.index), size)


def _rows(row: bytes) -> Sequence[bytes]:
    """A tile's hashes, then those of the nodes above them, up to the one over a full tile."""
    rows = [row]
    for _ in range(HEIGHT):
        hashes = [row[at : at + HASH_BYTES] for at in range(0, len(row), HASH_BYTES)]
        row = b"".join(map(node_hash, hashes[::2], hashes[1::2]))
        rows.append(row)
    return rows


def _hash(rows: Sequence[bytes], node: Node) -> bytes:
    below = node[0] % HEIGHT
    at = node[1] % (1 << HEIGHT - below) * HASH_BYTES
    return rows[below][at : at + HASH_BYTES]
