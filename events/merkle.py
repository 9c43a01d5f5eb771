"""The ledger's Merkle tree (RFC 6962 section 2.1): roots, growth and proofs. The only place that says how it is hashed.

MTH() = SHA-256(); the hash of an entry is SHA-256(0x00 || entry), that of two subtrees SHA-256(0x01 || left || right),
where the left one holds the largest power of two smaller than the number of leaves.

A node (level, index) is the complete subtree over the leaves index·2^level to (index + 1)·2^level. Once finished it
never changes, so nodes are what is stored; a `HashOf` reads their hashes from wherever that is. Every other subtree is
a fold of at most 63 of them, and so is every hash in a proof.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Self

HASH_BYTES = 32
EMPTY_ROOT = sha256().digest()

Node = tuple[int, int]
"""Level and index of a complete subtree."""
Leaves = tuple[int, int]
"""A range of leaves: the first one's index, and the one after the last's."""
HashOf = Callable[[int, int], bytes]
"""From level and index to 32 bytes. What it raises passes through whoever reads with it."""


class Unproven(Exception):
    """A proof doesn't show what it was brought for; says what didn't hold."""


def leaf_hash(entry: bytes) -> bytes:
    """The hash of a tree of one entry, 32 bytes."""
    return sha256(b"\0" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two neighbouring subtrees of 32-byte hashes, 32 bytes."""
    return sha256(b"\1" + left + right).digest()


@dataclass(frozen=True, slots=True)
class Frontier:
    """What an append has to know of the tree before it: its size, and the hashes of `nodes((0, size))`."""

    size: int
    hashes: tuple[bytes, ...]

    @classmethod
    def read(cls, size: int, hash_of: HashOf) -> Self:
        return cls(size, tuple(hash_of(*node) for node in nodes((0, size))))

    @property
    def root(self) -> bytes:
        return _fold(self.hashes) if self.hashes else EMPTY_ROOT

    def extend(self, leaf_hashes: Iterable[bytes]) -> tuple["Frontier", dict[Node, bytes]]:
        """The frontier after these leaves, and every node they finish (fewer than two a leaf, and the leaf itself)."""
        size, hashes, finished = self.size, list(self.hashes), {}
        for hash_ in leaf_hashes:
            level, index = 0, size
            finished[level, index] = hash_
            while index & 1:
                hash_ = node_hash(hashes.pop(), hash_)
                level, index = level + 1, index >> 1
                finished[level, index] = hash_
            hashes.append(hash_)
            size += 1
        return Frontier(size, tuple(hashes)), finished


EMPTY = Frontier(0, ())


def root(size: int, hash_of: HashOf) -> bytes:
    """MTH of the first `size` leaves, 32 bytes."""
    return Frontier.read(size, hash_of).root


def inclusion(index: int, size: int, hash_of: HashOf) -> tuple[bytes, ...]:
    """PATH(index, D[size]) of RFC 6962 section 2.1.1: shows that a leaf is in a tree of `size` leaves."""
    return _hashes(inclusion_leaves(index, size), hash_of)


def consistency(old: int, new: int, hash_of: HashOf) -> tuple[bytes, ...]:
    """PROOF(old, D[new]) of RFC 6962 section 2.1.2: shows that the tree of `new` leaves begins with that of `old`."""
    return _hashes(consistency_leaves(old, new), hash_of)


def inclusion_leaves(index: int, size: int) -> tuple[Leaves, ...]:
    """The leaves under each hash of an inclusion proof, in the proof's order."""
    assert 0 <= index < size, f"leaf {index} of {size}"
    path, first, end = [], 0, size
    while end - first > 1:
        middle = first + _split(end - first)
        if index < middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((first, middle))
            first = middle
    return tuple(reversed(path))


def consistency_leaves(old: int, new: int) -> tuple[Leaves, ...]:
    """The leaves under each hash of a consistency proof, in the proof's order."""
    assert 0 < old <= new, f"size {old} to {new}"
    path, first, end = [], 0, new
    while old != end:
        middle = first + _split(end - first)
        if old <= middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((first, middle))
            first = middle
    if first > 0:  # otherwise the old tree is a node of the new one, and its root is known to who checks
        path.append((first, end))
    return tuple(reversed(path))


def nodes(leaves: Leaves) -> tuple[Node, ...]:
    """The nodes that a tree or a range from one of its proofs is a fold of, from left to right, widest first."""
    first, end = leaves
    found = []
    while first < end:
        level = (end - first).bit_length() - 1
        assert first % (1 << level) == 0, f"no subtree has the leaves {leaves}"
        found.append((level, first >> level))
        first += 1 << level
    return tuple(found)


def check_inclusion(index: int, size: int, leaf_hash: bytes, proof: Sequence[bytes], root: bytes) -> None:
    """Whether `proof` shows the leaf at `index` of the tree with this size and root (RFC 9162 section 2.1.3.2).

    Raises Unproven. A proof doesn't bind the size: that comes from a signed checkpoint, with the root.
    """
    if not 0 <= index < size:
        raise Unproven(f"a tree of {size} leaves has no leaf {index}")
    _check_widths(leaf_hash, root, *proof)
    hash_ = leaf_hash
    for sibling, left in _climb(index, size - 1, proof):
        hash_ = node_hash(sibling, hash_) if left else node_hash(hash_, sibling)
    if hash_ != root:
        raise Unproven(f"leaf {index} and its proof give another root for {size} leaves")


def check_consistency(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> None:
    """Whether `proof` shows that the tree of `new` leaves begins with that of `old` (RFC 9162 section 2.1.4.2).

    Raises Unproven, also for an old size of 0: every tree begins with the empty one, no proof is defined for that.
    """
    if not 0 < old <= new:
        raise Unproven(f"no proof leads from {old} leaves to {new}")
    if bool(proof) == (old == new):
        raise Unproven(f"a proof of {len(proof)} hashes from {old} leaves to {new}")
    if old == new:
        if old_root != new_root:
            raise Unproven(f"two roots for {old} leaves")
        return
    _check_widths(old_root, new_root, *proof)
    # Where the old tree is a node of the new one, its root is the hash that the proof leaves out.
    first, *path = proof if old & (old - 1) else (old_root, *proof)
    below = (old & -old).bit_length() - 1
    before = after = first
    for hash_, left in _climb((old - 1) >> below, (new - 1) >> below, path):
        before = node_hash(hash_, before) if left else before
        after = node_hash(hash_, after) if left else node_hash(after, hash_)
    if before != old_root:
        raise Unproven(f"the proof gives another root for the {old} leaves before")
    if after != new_root:
        raise Unproven(f"the proof gives another root for the {new} leaves after")


def _climb(node: int, last: int, path: Sequence[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each hash of a path from a node to the root, and whether it stands on the left. `last`: the level's last node."""
    for hash_ in path:
        if last == 0:
            raise Unproven(f"the proof has too many hashes: {len(path)}")
        left = node & 1 == 1 or node == last
        yield hash_, left
        while left and node and not node & 1:  # a node without a right neighbour is its own parent
            node, last = node >> 1, last >> 1
        node, last = node >> 1, last >> 1
    if last:
        raise Unproven(f"the proof has too few hashes: {len(path)}")


def _split(size: int) -> int:
    """The largest power of two smaller than `size`."""
    return 1 << (size - 1).bit_length() - 1


def _fold(hashes: Sequence[bytes]) -> bytes:
    *left, hash_ = hashes
    for each in reversed(left):
        hash_ = node_hash(each, hash_)
    return hash_


def _hashes(ranges: Iterable[Leaves], hash_of: HashOf) -> tuple[bytes, ...]:
    return tuple(_fold([hash_of(*node) for node in nodes(leaves)]) for leaves in ranges)


def _check_widths(*hashes: bytes) -> None:
    for each in hashes:
        if len(each) != HASH_BYTES:
            raise Unproven(f"a hash has {HASH_BYTES} bytes, {len(each)} came")
