"""What every Ledger promises: one order, each leaf once, nothing behind another head than the one that was named."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from events import entries
from events.entries import Opening
from events.ledger import Copy, Leaf, Ledger, Mark, closing, leaf, opening, origin
from events.log import Conflict
from events.merkle import EMPTY, Frontier, leaf_hash
from events.shapes import Undecodable
from tests import leaves
from tests.stores import LEDGERS, every
from tests.tlog import Naive

pytestmark = pytest.mark.anyio


@pytest.fixture(params=every(LEDGERS))
async def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ledger]:
    async with LEDGERS[request.param](tmp_path) as ledger:
        yield ledger


def some(first: int, end: int) -> tuple[Leaf, ...]:
    return tuple(Leaf(b"once %d" % number, b"leaf %d" % number) for number in range(first, end))


async def test_an_empty_ledger_has_the_empty_tree_and_no_marks(ledger: Ledger) -> None:
    assert await ledger.head() == EMPTY
    assert await ledger.marks() == []
    assert await ledger.leaves(0, 10) == []
    assert await ledger.find(b"once 0") is None


async def test_every_size_has_the_root_and_the_nodes_of_the_tree_over_its_leaves(ledger: Ledger) -> None:
    head = EMPTY
    naive = Naive([leaf.body for leaf in some(0, 40)])
    for size in range(40):
        head = await ledger.append(head, Copy(some(size, size + 1)))
        assert head == await ledger.head()
        assert head.root == naive.tree(0, size + 1)
    nodes = [(level, index) for level in range(6) for index in range(40 >> level)]
    assert await ledger.hashes(nodes) == [naive.hash_of(*node) for node in nodes]
    assert await ledger.leaves(7, 3) == [b"leaf 7", b"leaf 8", b"leaf 9"]
    with pytest.raises(KeyError):
        await ledger.hashes([(0, 0), (3, 5)])


async def test_a_leaf_that_is_there_is_left_out_and_the_others_are_not(ledger: Ledger) -> None:
    head = await ledger.append(EMPTY, Copy(some(0, 3)))
    again = Leaf(b"once 1", b"in other words")
    head = await ledger.append(head, Copy((again, *some(2, 4), *some(3, 5), Leaf(b"once 4", b"no"))))
    assert await ledger.leaves(0, 99) == [leaf.body for leaf in some(0, 5)]
    assert [await ledger.find(b"once %d" % number) for number in range(6)] == [0, 1, 2, 3, 4, None]
    assert head == EMPTY.extend(leaf_hash(leaf.body) for leaf in some(0, 5))[0]


async def test_nothing_is_put_behind_another_head(ledger: Ledger) -> None:
    head = await ledger.append(EMPTY, Copy(some(0, 3)))
    other = Frontier(3, (bytes(32), head.hashes[1]))
    older = (await ledger.append(head, Copy(some(3, 4))), head)[1]
    for wrong in (EMPTY, older, other, Frontier(4, (bytes(32),))):
        with pytest.raises(Conflict):
            await ledger.append(wrong, Copy(some(4, 5), (), (Mark(7, 1, bytes(32)),)))
    assert (await ledger.head()).size == 4
    assert await ledger.marks() == []


async def test_marks_move_with_the_leaves_and_only_from_where_they_stand(ledger: Ledger) -> None:
    first, second = Mark(7, 1, b"1" * 32), Mark(7, 2, b"2" * 32)
    head = await ledger.append(EMPTY, Copy(some(0, 1), (origin(7),), (first,)))
    for before in (origin(7), Mark(7, 1, bytes(32)), second):
        with pytest.raises(Conflict):
            await ledger.append(head, Copy(some(1, 2), (before,), (second,)))
    # Nothing new, but read further: the tree stays, the mark moves.
    assert await ledger.append(head, Copy(some(0, 1), (first, origin(3)), (second, Mark(3, 1, bytes(32))))) == head
    assert await ledger.marks() == [Mark(3, 1, bytes(32)), second]
    with pytest.raises(Conflict):
        await ledger.append(head, Copy(some(1, 2), (first,), (second,)))
    assert await ledger.head() == head


async def test_of_many_that_name_the_same_head_one_is_taken(ledger: Ledger) -> None:
    answers = await asyncio.gather(
        *(ledger.append(EMPTY, Copy(some(number, number + 1))) for number in range(50)), return_exceptions=True
    )
    assert sum(isinstance(answer, Frontier) for answer in answers) == 1
    assert sum(isinstance(answer, Conflict) for answer in answers) == 49
    assert (await ledger.head()).size == 1


async def test_the_largest_leaf_is_kept_and_a_larger_one_is_a_mistake(ledger: Ledger) -> None:
    await ledger.append(EMPTY, Copy((Leaf(b"", bytes(65_535)),)))
    assert await ledger.leaves(0, 1) == [bytes(65_535)]


async def test_after_a_restart_it_is_as_empty_as_at_first(ledger: Ledger) -> None:
    await ledger.append(EMPTY, Copy(some(0, 5), (origin(7),), (Mark(7, 1, bytes(32)),)))
    await ledger.restart()
    assert (await ledger.head(), await ledger.marks(), await ledger.leaves(0, 9)) == (EMPTY, [], [])
    assert (await ledger.append(EMPTY, Copy(some(0, 5), (origin(7),), (Mark(7, 1, bytes(32)),)))).size == 5


# ---------------------------------------------------------------- the leaves themselves


def test_a_leaf_is_told_by_its_kind_and_its_game() -> None:
    game = leaves.game(1)
    assert leaf(entries.encode(leaves.opening(game))).once == opening(game)
    assert leaf(entries.encode(leaves.opening(game, (leaves.game(2),)))).once == opening(game)
    assert leaf(entries.encode(leaves.closing(game))).once == closing(game) != opening(game)
    with pytest.raises(Undecodable):
        leaf(b"\x93\x01\xa6Barred\x01")


def test_an_opening_that_names_no_game_is_stored_as_before_any_did() -> None:
    game, before = leaves.game(1), leaves.game(2)
    plain, after = entries.encode(leaves.opening(game)), entries.encode(leaves.opening(game, (before,)))
    # 11 and 12 values: the format, the name, and the fields.
    assert (plain[0], plain[2:10]) == (0x9B, b"\xa7Opening")
    assert (after[0], after[2:15]) == (0x9C, b"\xacOpeningAfter")
    for entry in (leaves.opening(game), leaves.opening(game, (before,)), leaves.closing(game)):
        assert entries.decode_of_game(entries.encode(entry)) == entry


@pytest.mark.parametrize("after", [(b"b", b"a"), (b"a", b"a")])
def test_games_before_an_opening_are_named_once_and_rising(after: tuple[bytes, ...]) -> None:
    with pytest.raises(Undecodable):
        entries.decode_of_game(entries.encode(leaves.opening(leaves.game(1), after)))


def test_an_opening_under_the_later_name_must_name_a_game() -> None:
    body = entries.encode(leaves.opening(leaves.game(1), (leaves.game(2),)))
    shorter = body.replace(b"\x91\xc4\x10" + leaves.game(2), b"\x90")
    assert shorter != body
    with pytest.raises(Undecodable):
        entries.decode_of_game(shorter)
    assert isinstance(entries.decode_of_game(body), Opening)
