"""Tiles and bundles: published paths, what a growth makes, and nothing read that doesn't lead to the signed root."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events import merkle, tiles
from events.merkle import EMPTY_ROOT
from events.tiles import BadPath, BadTile, Bundle, ProvenTiles, Tile
from tests.tlog import KNOWN, Naive, flipped

PATHS = KNOWN["tile_paths"]
LAYOUT = PATHS["tessera_layout"]
SIZE = 70_000
anywhere = settings(deadline=None)

entries = [b"%d" % number for number in range(SIZE)]
naive = Naive(entries)
leaves = [merkle.leaf_hash(entry) for entry in entries]


def unread(level: int, index: int) -> bytes:
    raise AssertionError("a new tree has nothing before it")


class Archive:
    """Tiles by path, as an object store keeps them: create-only."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[Tile] = []

    def store(self, made: Sequence[tuple[Tile, bytes]]) -> None:
        for tile, body in made:
            assert self.files.setdefault(tile.path, body) == body

    def read(self, tile: Tile) -> bytes:
        self.asked.append(tile)
        return self.files[tile.path]

    def proven(self, size: int) -> ProvenTiles:
        return ProvenTiles(size, naive.tree(0, size), self.read)


def grown(*sizes: int) -> Archive:
    """The tiles of a tree that had these sizes, one after the other."""
    archive, size, hash_of = Archive(), 0, unread
    for new in sizes:
        frontier, made = tiles.grow(size, leaves[size:new], hash_of)
        assert frontier.root == naive.tree(0, new)
        archive.store(made)
        size, hash_of = new, archive.proven(new).hash_of
    return archive


@pytest.fixture(scope="module")
def big() -> Archive:
    return grown(SIZE)


def full_and_partial(made: Sequence[Tile], level: int) -> tuple[int, list[int]]:
    widths = [tile.width for tile in made if tile.level == level]
    return widths.count(256), [width for width in widths if width < 256]


def test_the_published_tiles_of_a_tree_come_out() -> None:
    spec = PATHS["tlog_tiles_spec"]
    made, small = list(tiles.made(0, SIZE)), list(tiles.made(0, 256))
    at = spec["size_70000"]
    assert full_and_partial(made, 0) == (at["level0_full"], [at["level0_partial"]])
    assert full_and_partial(made, 1) == (at["level1_full"], [at["level1_partial"]])
    assert full_and_partial(made, 2) == (0, [at["level2_partial"]])
    assert {tile.level for tile in made} == {0, 1, 2}
    assert full_and_partial(small, 0) == (spec["size_256"]["level0_full"], [])
    assert full_and_partial(small, 1) == (0, [spec["size_256"]["level1_partial"]])
    assert Tile(0, 1234067).path == "tile/0/" + spec["1234067"]


def test_the_published_paths_come_out_and_are_read() -> None:
    for level, index, partial, path in LAYOUT["tile"]:
        tile = Tile(level, index, partial or 256)
        assert tile.path == path
        assert tiles.parse(path) == tile
    for entry, size, path in LAYOUT["entries"]:
        (bundle,) = [each for each in tiles.bundles_made(entry, size) if each.index == entry // 256]
        assert bundle.path == path
        assert tiles.parse(path) == bundle
    for level, place, *_, index, partial in LAYOUT["parse_ok"]:
        assert tiles.parse(f"tile/{level}/{place}") == Tile(int(level), index, partial or 256)
        assert tiles.parse(f"tile/entries/{place}") == Bundle(index, partial or 256)


@pytest.mark.parametrize(("level", "place"), LAYOUT["parse_refuse"])
def test_the_published_wrong_paths_are_refused(level: str, place: str) -> None:
    with pytest.raises(BadPath):
        tiles.parse(f"tile/{level}/{place}")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "checkpoint",
        "/tile/0/000",
        "tile/0/000/",
        "tile/0//000",
        "tile//000",
        "tile/00/000",
        "tile/+1/000",
        "tile/0/x000/067",
        "tile/0/X001/067",
        "tile/0/x01/067",
        "tile/0/67",
        "tile/0/000.p/0",
        "tile/0/000.p/01",
        "tile/0/000.p/-1",
        "tile/0/000.p/1/",
        "tile/0/000.p/1\n",
        "tile/0/٠٠٠",
        "tile/data/000",
        "tile/entries/../000",
        "tile/0/x009/x223/x372/x036/x854/x775/808",
    ],
)
def test_a_path_is_written_in_one_way_only(path: str) -> None:
    with pytest.raises(BadPath):
        tiles.parse(path)


@anywhere
@given(st.integers(0, 63), st.integers(0, tiles.INDEX_MAX), st.integers(1, 256))
def test_any_tile_is_found_again_by_its_path(level: int, index: int, width: int) -> None:
    tile, bundle = Tile(level, index, width), Bundle(index, width)
    assert tiles.parse(tile.path) == tile
    assert tiles.parse(bundle.path) == bundle


@anywhere
@given(st.text(alphabet="tile/ntrsx0123456789.p-", max_size=30))
def test_whatever_is_taken_as_a_path_is_the_path_of_what_it_names(path: str) -> None:
    try:
        what = tiles.parse(path)
    except BadPath:
        return
    assert what.path == path


def all_tiles(size: int) -> set[Tile]:
    """C2SP tlog-tiles, Merkle Tree and Partial Tiles, word for word."""
    found, level = set(), 0
    while size // 256**level:
        hashes = size // 256**level
        found |= {Tile(level, index) for index in range(hashes // 256)}
        found |= {Tile(level, hashes // 256, hashes % 256)} if hashes % 256 else set()
        level += 1
    return found


SIZES = st.one_of(st.integers(0, 1500), st.sampled_from([255, 256, 257, 511, 512, 65535, 65536, 65537, 65792, SIZE]))


@anywhere
@given(SIZES, SIZES)
def test_a_growth_makes_exactly_the_tiles_that_were_not_there(one: int, other: int) -> None:
    old, new = sorted((one, other))
    made = list(tiles.made(old, new))
    assert len(made) == len(set(made))
    assert set(made) == all_tiles(new) - all_tiles(old)
    assert [tile.level for tile in made] == sorted(tile.level for tile in made)
    assert [Tile(0, each.index, each.width) for each in tiles.bundles_made(old, new)] == [
        tile for tile in made if tile.level == 0
    ]
    assert set(tiles.edge(new)) == {tile for tile in all_tiles(new) if tile.width < 256}


@settings(anywhere, max_examples=30)
@given(st.lists(st.integers(1, 400), min_size=1, max_size=6), st.data())
def test_tiles_of_any_batches_give_the_same_hashes_again(batches: list[int], data: st.DataObject) -> None:
    sizes = [sum(batches[: number + 1]) for number in range(len(batches))]
    archive = grown(*sizes)
    assert archive.files.items() >= grown(sizes[-1]).files.items()
    for size in sizes:
        hash_of = archive.proven(size).hash_of
        for level in range(size.bit_length()):
            for index in range(size >> level) if size < 300 else {0, (size >> level) - 1}:
                assert hash_of(level, index) == naive.hash_of(level, index)
    for size in sizes[1:]:
        hash_of = archive.proven(size).hash_of
        old = data.draw(st.integers(1, size))
        proof = merkle.consistency(old, size, hash_of)
        merkle.check_consistency(old, size, naive.tree(0, old), naive.tree(0, size), proof)


def test_a_growth_reads_the_right_edge_only() -> None:
    archive = grown(SIZE - 300)
    hash_of = archive.proven(SIZE - 300).hash_of
    tiles.grow(SIZE - 300, leaves[SIZE - 300 :], hash_of)
    assert set(archive.asked) == set(tiles.edge(SIZE - 300))


def test_leaves_of_a_large_tree_are_proved_from_the_tiles_said_to_be_needed(big: Archive) -> None:
    root = naive.tree(0, SIZE)
    for index in (0, 1, 255, 256, 65_535, 65_536, 69_887, 69_888, SIZE - 1, *range(7, SIZE, 9973)):
        wanted = [node for part in merkle.inclusion_leaves(index, SIZE) for node in merkle.nodes(part)]
        needed = tiles.needed(SIZE, wanted)
        big.asked.clear()
        proof = merkle.inclusion(index, SIZE, big.proven(SIZE).hash_of)
        assert list(proof) == naive.path(index, 0, SIZE)
        merkle.check_inclusion(index, SIZE, leaves[index], proof, root)
        assert set(big.asked) == set(needed)
        assert len(big.asked) == len(needed) <= 5
    for old in (1, 255, 256, 257, 65_536, 65_537, SIZE - 1, SIZE):
        proof = merkle.consistency(old, SIZE, big.proven(SIZE).hash_of)
        merkle.check_consistency(old, SIZE, naive.tree(0, old), root, proof)


def refused(archive: Archive, tile: Tile, wrong: bytes) -> bool:
    """Whether leaf 1000 can't be read with these bytes for `tile`."""

    def read(each: Tile) -> bytes:
        return wrong if each == tile else archive.read(each)

    try:
        ProvenTiles(SIZE, naive.tree(0, SIZE), read).hash_of(0, 1000)
    except BadTile:
        return True
    return False


def test_no_changed_hash_of_a_tile_is_taken(big: Archive) -> None:
    for tile in tiles.needed(SIZE, [(0, 1000)]):
        assert not refused(big, tile, big.files[tile.path])
        for number in range(tile.width):
            assert refused(big, tile, flipped(big.files[tile.path], number * 32 + number % 32, number % 8))


def test_a_tile_of_the_wrong_length_or_in_the_wrong_place_is_refused(big: Archive) -> None:
    for tile in tiles.needed(SIZE, [(0, 1000)]):
        right = big.files[tile.path]
        for wrong in (b"", right[:-1], right[:-32], right + bytes(32), bytes(len(right)), bytes(8192), bytes(16384)):
            assert refused(big, tile, wrong)
    assert refused(big, Tile(0, 3), big.files["tile/0/004"])


def test_a_refused_tile_is_asked_for_again(big: Archive) -> None:
    answers = [bytes(8192), big.files["tile/0/003"]]

    def read(tile: Tile) -> bytes:
        return answers.pop(0) if tile == Tile(0, 3) else big.read(tile)

    proven = ProvenTiles(SIZE, naive.tree(0, SIZE), read)
    with pytest.raises(BadTile, match="tile/0/003"):
        proven.hash_of(0, 1000)
    assert proven.hash_of(0, 1000) == leaves[1000]
    assert answers == []


def test_another_root_is_refused(big: Archive) -> None:
    with pytest.raises(BadTile, match="70000 leaves"):
        ProvenTiles(SIZE, flipped(naive.tree(0, SIZE)), big.read).hash_of(0, 0)


def test_what_the_archive_raises_is_not_taken_for_a_wrong_tile() -> None:
    with pytest.raises(KeyError):
        ProvenTiles(300, naive.tree(0, 300), Archive().read).hash_of(0, 0)


def test_a_tile_that_is_full_by_now_serves_where_a_partial_one_was(big: Archive) -> None:
    def read(tile: Tile) -> bytes:
        return big.files[Tile(tile.level, tile.index).path]

    proven = ProvenTiles(300, naive.tree(0, 300), read)
    assert [proven.hash_of(0, index) for index in range(300)] == leaves[:300]


def test_nothing_is_read_from_outside_the_tree(big: Archive) -> None:
    for node in ((0, SIZE), (0, -1), (16, 1), (17, 0)):
        with pytest.raises(AssertionError):
            big.proven(SIZE).hash_of(*node)
    with pytest.raises(AssertionError):
        ProvenTiles(0, EMPTY_ROOT, big.read).hash_of(0, 0)
    assert tiles.edge(0) == tuple(tiles.made(0, 0)) == ()


@anywhere
@given(st.lists(st.one_of(st.binary(max_size=300), st.just(bytes(65_535))), min_size=1, max_size=256))
def test_a_bundle_gives_its_entries_again(bodies: list[bytes]) -> None:
    assert tiles.entries(tiles.bundle(bodies), len(bodies)) == tuple(bodies)


def test_a_bundle_is_lengths_in_two_bytes_and_entries() -> None:
    assert tiles.bundle([b"", b"ab", b"c" * 258]) == b"\0\0" + b"\0\2ab" + b"\1\2" + b"c" * 258


@pytest.mark.parametrize("entry_bytes", [1, 2, 300])
def test_a_bundle_cut_anywhere_or_of_another_width_is_refused(entry_bytes: int) -> None:
    body = tiles.bundle([bytes(entry_bytes), bytes(entry_bytes)])
    for end in range(len(body)):
        with pytest.raises(BadTile):
            tiles.entries(body[:end], 2)
    for wrong in (body + b"\0", body + b"\0\0", b"\xff" + body):
        with pytest.raises(BadTile):
            tiles.entries(wrong, 2)
    for width in (0, 1, 3, 256):
        with pytest.raises(BadTile):
            tiles.entries(body, width)


def test_a_bundle_takes_256_entries_of_65535_bytes_and_no_more() -> None:
    with pytest.raises(AssertionError):
        tiles.bundle([bytes(65_536)])
    with pytest.raises(AssertionError):
        tiles.bundle([b""] * 257)
    with pytest.raises(AssertionError):
        tiles.bundle([])
    assert tiles.entries(tiles.bundle([b""] * 256)) == (b"",) * 256
