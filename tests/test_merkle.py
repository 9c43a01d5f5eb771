"""Roots, growth and proofs: the published values, every proof of small trees, an independent recursion beside them."""

import base64
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events import merkle
from events.merkle import EMPTY, EMPTY_ROOT, Frontier, Unproven
from tests.tlog import KNOWN, Naive, flipped

REFERENCE = KNOWN["reference_tree_8_leaves"]
HASHES = KNOWN["rfc6962_hasher"]
SIZES = 300
anywhere = settings(deadline=None)

entries = [b"entry %d" % number for number in range(SIZES)]
naive = Naive(entries)
leaves = [merkle.leaf_hash(entry) for entry in entries]
_, finished = EMPTY.extend(leaves)


def hash_of(level: int, index: int) -> bytes:
    return finished[level, index]


def refused_inclusion(index: int, size: int, leaf: bytes, proof: list[bytes], root: bytes) -> bool:
    try:
        merkle.check_inclusion(index, size, leaf, proof, root)
    except Unproven:
        return True
    return False


def refused_consistency(old: int, new: int, old_root: bytes, new_root: bytes, proof: list[bytes]) -> bool:
    try:
        merkle.check_consistency(old, new, old_root, new_root, proof)
    except Unproven:
        return True
    return False


def changed(proof: list[bytes]) -> list[list[bytes]]:
    """The proof with one hash changed, at each place."""
    return [[*proof[:at], flipped(proof[at]), *proof[at + 1 :]] for at in range(len(proof))]


def resized(proof: list[bytes]) -> list[list[bytes]]:
    """The proof with a hash too many or too few, at either end."""
    return [[bytes(32), *proof], [*proof, bytes(32)], *([proof[1:], proof[:-1]] if proof else [])]


def test_the_published_hashes_come_out() -> None:
    assert EMPTY_ROOT.hex() == EMPTY.root.hex() == HASHES["empty_root"]
    assert merkle.leaf_hash(b"").hex() == HASHES["leaf_of_empty"]
    assert merkle.leaf_hash(b"L123456").hex() == HASHES["leaf_of_ascii_L123456"]
    assert merkle.node_hash(b"N123", b"N456").hex() == HASHES["node_of_ascii_N123_N456"]
    assert base64.b64encode(merkle.leaf_hash(b"hello world")).decode() == HASHES["leaf_of_ascii_hello_world_b64"]


def test_the_published_tree_of_eight_leaves_comes_out() -> None:
    hashes = [merkle.leaf_hash(bytes.fromhex(each)) for each in REFERENCE["leaf_inputs_hex"]]
    assert [each.hex() for each in hashes] == REFERENCE["leaf_hashes_hex"]
    _, nodes = EMPTY.extend(hashes)

    def read(level: int, index: int) -> bytes:
        return nodes[level, index]

    for size, root in enumerate(REFERENCE["root_hash_hex_by_size"]):
        assert merkle.root(size, read).hex() == EMPTY.extend(hashes[:size])[0].root.hex() == root
    for index, proof in REFERENCE["inclusion_proofs_size7"].items():
        assert [each.hex() for each in merkle.inclusion(int(index), 7, read)] == proof
    for old, proof in REFERENCE["consistency_proofs_to7"].items():
        assert [each.hex() for each in merkle.consistency(int(old), 7, read)] == proof


def published(kind: str) -> list[Any]:
    return [pytest.param(each, id=each["file"].removeprefix("testdata/")) for each in KNOWN["proof_vectors"][kind]]


@pytest.mark.parametrize("vector", published("inclusion"))
def test_published_inclusion_proofs_are_taken_and_refused_as_published(vector: dict[str, Any]) -> None:
    proof = [base64.b64decode(each) for each in vector["proof"] or []]
    leaf, root = base64.b64decode(vector["leafHash"] or ""), base64.b64decode(vector["root"] or "")
    assert refused_inclusion(vector["leafIdx"], vector["treeSize"], leaf, proof, root) == vector["wantErr"]


@pytest.mark.parametrize("vector", published("consistency"))
def test_published_consistency_proofs_are_taken_and_refused_as_published(vector: dict[str, Any]) -> None:
    proof = [base64.b64decode(each) for each in vector["proof"] or []]
    roots = [base64.b64decode(vector[each] or "") for each in ("root1", "root2")]
    assert refused_consistency(vector["size1"], vector["size2"], roots[0], roots[1], proof) == vector["wantErr"]


def test_every_leaf_of_every_small_tree_is_proved_and_no_changed_hash_is_taken() -> None:
    for size in range(1, SIZES + 1):
        root = merkle.root(size, hash_of)
        assert root == naive.tree(0, size)
        for index in range(size):
            proof = list(merkle.inclusion(index, size, hash_of))
            assert proof == naive.path(index, 0, size)
            merkle.check_inclusion(index, size, leaves[index], proof, root)
            for wrong in changed(proof):
                assert refused_inclusion(index, size, leaves[index], wrong, root)
            assert refused_inclusion(index, size, flipped(leaves[index]), proof, root)
            assert refused_inclusion(index, size, leaves[index], proof, flipped(root))


def test_a_leaf_is_proved_at_its_own_place_and_by_all_of_its_proof_only() -> None:
    for size in range(1, 41):
        root = merkle.root(size, hash_of)
        for index in range(size):
            proof = list(merkle.inclusion(index, size, hash_of))
            for wrong in resized(proof):
                assert refused_inclusion(index, size, leaves[index], wrong, root)
            for other in (*range(index), *range(index + 1, size), size, -1):
                assert refused_inclusion(other, size, leaves[index], proof, root)


def test_every_small_tree_is_proved_to_begin_with_every_smaller_one_and_no_changed_hash_is_taken() -> None:
    for new in range(1, 101):
        new_root = naive.tree(0, new)
        for old in range(1, new + 1):
            old_root = naive.tree(0, old)
            proof = list(merkle.consistency(old, new, hash_of))
            assert proof == naive.proof(old, new)
            merkle.check_consistency(old, new, old_root, new_root, proof)
            for wrong in (*changed(proof), *resized(proof)):
                assert refused_consistency(old, new, old_root, new_root, wrong)
            assert refused_consistency(old, new, flipped(old_root), new_root, proof)
            assert refused_consistency(old, new, old_root, flipped(new_root), proof)


def test_another_history_has_no_proof() -> None:
    for at in range(20):
        other = Naive([*entries[:at], b"another", *entries[at + 1 : 40]])
        for old in range(at + 1, 40):
            for proof in (naive.proof(old, 40), other.proof(old, 40)):
                assert refused_consistency(old, 40, naive.tree(0, old), other.tree(0, 40), proof)


def test_nothing_is_proved_to_begin_with_more_than_it_has_or_with_nothing() -> None:
    root = naive.tree(0, 5)
    assert refused_consistency(6, 5, root, root, [])
    assert refused_consistency(0, 5, EMPTY_ROOT, root, [])
    assert refused_consistency(0, 0, EMPTY_ROOT, EMPTY_ROOT, [])
    assert refused_consistency(-1, 5, root, root, [])


def test_a_refusal_says_what_did_not_hold() -> None:
    proof = merkle.inclusion(2, 5, hash_of)
    root = naive.tree(0, 5)
    with pytest.raises(Unproven, match="no leaf 5"):
        merkle.check_inclusion(5, 5, leaves[2], proof, root)
    with pytest.raises(Unproven, match="another root"):
        merkle.check_inclusion(3, 5, leaves[2], proof, root)
    with pytest.raises(Unproven, match="too few hashes"):
        merkle.check_inclusion(2, 5, leaves[2], proof[:-1], root)
    with pytest.raises(Unproven, match="too many hashes"):
        merkle.check_inclusion(2, 5, leaves[2], (*proof, root), root)
    with pytest.raises(Unproven, match="32 bytes, 31 came"):
        merkle.check_inclusion(2, 5, leaves[2][1:], proof, root)
    before = naive.tree(0, 3)
    with pytest.raises(Unproven, match="3 leaves before"):
        merkle.check_consistency(3, 5, flipped(before), root, merkle.consistency(3, 5, hash_of))
    with pytest.raises(Unproven, match="5 leaves after"):
        merkle.check_consistency(3, 5, before, flipped(root), merkle.consistency(3, 5, hash_of))
    with pytest.raises(Unproven, match="32 bytes, 31 came"):
        merkle.check_consistency(3, 5, before, root, (*merkle.consistency(3, 5, hash_of)[:-1], bytes(31)))
    with pytest.raises(Unproven, match="two roots"):
        merkle.check_consistency(3, 3, before, root, ())


def test_who_proves_asks_for_a_leaf_of_the_tree() -> None:
    for ask in (
        lambda: merkle.inclusion(5, 5, hash_of),
        lambda: merkle.inclusion(-1, 5, hash_of),
        lambda: merkle.consistency(0, 5, hash_of),
        lambda: merkle.consistency(6, 5, hash_of),
        lambda: merkle.nodes((1, 5)),
    ):
        with pytest.raises(AssertionError):
            ask()


@anywhere
@given(st.lists(st.integers(0, 60), max_size=8))
def test_any_batches_give_the_same_tree(batches: list[int]) -> None:
    tree, stored = EMPTY, dict[merkle.Node, bytes]()

    def read(level: int, index: int) -> bytes:
        return stored[level, index]

    for batch in batches:
        tree, more = tree.extend(leaves[tree.size : min(tree.size + batch, SIZES)])
        assert stored.keys().isdisjoint(more)
        stored |= more
        assert tree.root == naive.tree(0, tree.size)
        assert tree == Frontier.read(tree.size, read)
    assert stored == {node: naive.hash_of(*node) for node in stored}
    assert len(stored) == sum(tree.size >> level for level in range(tree.size.bit_length()))


@anywhere
@given(st.lists(st.binary(max_size=40), min_size=1, max_size=70), st.data())
def test_what_any_entries_prove_the_plain_recursion_proves(bodies: list[bytes], data: st.DataObject) -> None:
    other = Naive(bodies)
    new = len(bodies)
    index, old = data.draw(st.integers(0, new - 1)), data.draw(st.integers(1, new))
    proof = merkle.inclusion(index, new, other.hash_of)
    merkle.check_inclusion(index, new, merkle.leaf_hash(bodies[index]), proof, other.tree(0, new))
    proof = merkle.consistency(old, new, other.hash_of)
    merkle.check_consistency(old, new, other.tree(0, old), other.tree(0, new), proof)


@anywhere
@given(st.integers(1, 1 << 62), st.data())
def test_proofs_of_huge_trees_stay_short_and_read_whole_subtrees(size: int, data: st.DataObject) -> None:
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))
    for path in (merkle.inclusion_leaves(index, size), merkle.consistency_leaves(old, size)):
        assert len(path) <= size.bit_length() + 1
        for leaves_ in path:
            covered = merkle.nodes(leaves_)
            assert sum(1 << level for level, _ in covered) == leaves_[1] - leaves_[0]
            assert all((number + 1) << level <= size for level, number in covered)
