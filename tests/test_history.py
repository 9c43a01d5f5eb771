"""A player's finished games: every one of them, as it was to the player, and paged as a plain list would be."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.entries import Closing, LedgerEntry
from projections import history
from projections.history import HISTORY, Row
from projections.outcomes import outcomes
from projections.projection import fold
from server import past
from server.past import Past
from server.projector import Projector
from tests.entries import MONDAY_MS, A, B, ListLedger, house, old, opening, player, synthetic, versus
from tests.folded import opened

pytestmark = pytest.mark.anyio


def rows(*entries: LedgerEntry) -> dict[tuple[bytes, str, int], Row]:
    return {history.parts(key): row for key, row in fold(HISTORY, enumerate(entries)).items()}


def test_a_game_is_a_row_for_each_of_its_people_as_it_was_to_them() -> None:
    assert rows(versus(A, B, 1)) == {
        (A, "states-versus", 0): Row(bytes(16), "fifty-states/1", B, "", "lost", "all_cards", True, MONDAY_MS),
        (B, "states-versus", 0): Row(bytes(16), "fifty-states/1", A, "", "won", "all_cards", True, MONDAY_MS),
    }
    rival = "opal-winterbourne"
    assert rows(opening(house(A, True)), house(A, True)) == {
        (A, "states-relaxed", 1): Row(bytes(16), "fifty-states/1", b"", rival, "won", "all_cards", True, MONDAY_MS)
    }


@pytest.mark.parametrize(
    ("entry", "results"),
    [
        (house(A, True), ["won"]),
        (house(A, False), ["lost"]),
        (house(A, None, reason="void"), ["void"]),
        (house(A, None, "classic-house", reason="left"), ["left"]),
        (house(A, None, reason="lost"), ["annulled"]),
        (house(A, True, counts=False), ["won"]),
        (versus(A, B, None, "classic-versus", reason="battle_limit"), ["drawn", "drawn"]),
        (versus(A, B, None, reason="both_late"), ["lost", "lost"]),
        (versus(A, A, 1), ["lost"]),
        (old(A, 3), []),
        (opening(house(A, True)), []),
    ],
)
def test_every_end_has_its_word_whether_it_counts_or_not(entry: LedgerEntry, results: list[str]) -> None:
    assert [row.result for row in rows(entry).values()] == results


def test_what_counts_in_records_is_told_the_same_way_in_the_history() -> None:
    words = {history.RESULTS[each]: each for each in history.RESULTS}
    for index, entry in enumerate(synthetic(500, 9)):
        if isinstance(entry, Closing):
            told = {who: row.result for (who, _, _), row in rows(*[entry]).items()}
            assert {who: words[told[who]] for who, _ in outcomes(entry)} == dict(outcomes(entry)), index


def plain(entries: Sequence[LedgerEntry], who: bytes, ladder: str | None) -> list[Past]:
    """The same list without keys and ranges."""
    found = [
        Past(entry.ladder, index, row)
        for index, entry in enumerate(entries)
        if isinstance(entry, Closing) and ladder in (None, entry.ladder)
        for (owner, _, _), row in rows(entry).items()
        if owner == who
    ]
    return found[::-1]


@settings(max_examples=25)
@given(st.integers(0, 120), st.integers(0, 99), st.integers(1, 7), st.data())
async def test_pages_put_together_are_all_the_games_newest_first_whatever_is_folded_meanwhile(
    count: int, seed: int, page: int, data: st.DataObject
) -> None:
    entries = synthetic(count, 4, seed)
    ladder = data.draw(st.sampled_from([None, "states-versus", "classic-house", "nothing-here"]))
    more = data.draw(st.integers(0, 20))
    ledger = ListLedger(entries)
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as database:
            projector = Projector(database, ledger, batch_entries=50)
            await projector.advance()
            for who in (player(0), player(3)):
                found: list[Past] = []
                below = history.INDEX_MAX
                while True:
                    got = await past.read(projector, who, ladder, below, page)
                    assert len(got.games) == page if got.more else len(got.games) <= page
                    found += got.games
                    if not got.more:
                        break
                    below = got.games[-1].index
                    ledger.entries += synthetic(more, 4, seed + 1)
                    await projector.advance()
                assert found == plain(entries, who, ladder)
                entries = list(ledger.entries)


async def test_a_ladder_is_not_another_one_that_begins_like_it(tmp_path: Path) -> None:
    ledger = ListLedger([house(A, True, "states-relaxed"), replace(house(A, False), ladder="states-relaxed-old")])
    async with opened(tmp_path) as database:
        projector = Projector(database, ledger)
        await projector.advance()
        for ladder, indexes in (("states-relaxed", [0]), ("states-relaxed-old", [1]), (None, [1, 0]), ("states", [])):
            page = await past.read(projector, A, ladder, history.INDEX_MAX, 10)
            assert [game.index for game in page.games] == indexes
            assert (page.as_of, page.more) == (2, False)
