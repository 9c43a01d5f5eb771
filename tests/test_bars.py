"""The operator's hand is public: who is barred is in the ledger, plays nothing that counts, and stands on no board."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random

import pytest

from events import entries, ledger
from events.entries import Act, Barred, Lifted
from events.ledger import Copy, Leaf
from events.merkle import EMPTY
from events.notes import VerifierKey
from events.shapes import Undecodable
from projections.seen import Seen
from projections.whole import check
from server.barring import REASON_CHARACTERS_MAX, CannotBar, bar, bars, is_barred, lift
from server.fetch import fetcher
from tests.contrary_ledger import ContraryLedger
from tests.entries import A, B
from tests.ledgers import Published, publishing
from tests.meeting import feed, invited
from tests.pairs import people
from tests.positions import NOW
from tests.running import all_signed, connected, serving
from tests.test_cli import run

pytestmark = pytest.mark.anyio


@pytest.fixture
async def published(tmp_path: Path) -> AsyncIterator[Published]:
    async with publishing(tmp_path / "data") as published:
        yield published


async def test_a_bar_stands_until_it_is_lifted_and_all_of_them_are_told(published: Published) -> None:
    held = published.ledger
    assert not await is_barred(held, A)
    assert [await bar(held, A, "two accounts", NOW), await bar(held, B, "Ω, abuse", NOW)] == [0, 1]
    assert await is_barred(held, A)
    assert await lift(held, A, NOW + 1) == 2
    assert not await is_barred(held, A)
    assert await is_barred(held, B)
    assert await bar(held, A, "again", NOW + 2) == 3
    assert await is_barred(held, A)
    assert [(each.index, each.barred.reason, each.lifted_index) for each in await bars(held, A)] == [
        (0, "two accounts", 2),
        (3, "again", None),
    ]


async def test_nobody_is_barred_twice_nor_let_in_who_is_not_barred(published: Published) -> None:
    with pytest.raises(CannotBar, match="isn't barred"):
        await lift(published.ledger, A, NOW)
    await bar(published.ledger, A, "two accounts", NOW)
    with pytest.raises(CannotBar, match="barred already: two accounts"):
        await bar(published.ledger, A, "again", NOW)
    await lift(published.ledger, A, NOW)
    with pytest.raises(CannotBar, match="isn't barred"):
        await lift(published.ledger, A, NOW)
    assert (await published.ledger.head()).size == 2


@pytest.mark.parametrize("reason", ["", " ", "two\nlines", "\x1b[2J", "x" * (REASON_CHARACTERS_MAX + 1), "\u202eevil"])
async def test_a_reason_is_one_line_that_can_be_read(published: Published, reason: str) -> None:
    with pytest.raises(CannotBar):
        await bar(published.ledger, A, reason, NOW)
    assert (await published.ledger.head()).size == 0


async def test_two_operators_at_the_same_moment_make_one_bar() -> None:
    for seed in range(30):
        held = ContraryLedger(seed)
        outcomes = await asyncio.gather(
            *(bar(held, A, f"reason {number}", NOW) for number in range(3)), return_exceptions=True
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["CannotBar", "CannotBar", "int"]
        held.calm = True
        (made,) = await held.leaves(0, 10)
        (winner,) = [number for number, outcome in enumerate(outcomes) if outcome == 0]
        assert entries.decode(made) == Barred(A, 1, NOW, f"reason {winner}")


@pytest.mark.parametrize(
    "act",
    [
        Barred(A[:-1], 1, NOW, "x"),
        Barred(A, 1, NOW, 7),  # type: ignore[arg-type]
        Barred(A, -1, NOW, "x"),
        Lifted(b"", 1, NOW),
    ],
)
def test_an_act_of_another_form_is_not_read(act: Act) -> None:
    with pytest.raises(Undecodable):
        entries.decode(entries.encode(act))


def test_acts_come_back_from_their_bytes_and_no_two_share_a_leaf() -> None:
    acts: list[Act] = [Barred(who, number, NOW, "x") for who in (A, B) for number in (1, 2)]
    acts += [Lifted(who, number, NOW) for who in (A, B) for number in (1, 2)]
    assert [entries.decode(entries.encode(act)) for act in acts] == acts
    assert len({ledger.leaf(entries.encode(act)).once for act in acts}) == len(acts)
    for act in acts:
        with pytest.raises(Undecodable):
            entries.decode_of_game(entries.encode(act))


def barred(number: int) -> Barred:
    return Barred(A, number, NOW, "x")


@pytest.mark.parametrize(
    ("acts", "wrong"),
    [
        ([barred(1), Lifted(A, 1, NOW), barred(2), Lifted(A, 2, NOW)], None),
        ([barred(2)], 0),
        ([barred(1), barred(2)], 1),
        ([Lifted(A, 1, NOW)], 0),
        ([barred(1), Lifted(A, 1, NOW), Lifted(A, 1, NOW)], 2),
        ([barred(1), Lifted(A, 2, NOW)], 1),
        ([barred(1), Lifted(A, 1, NOW), barred(1)], 2),
        ([barred(1), Lifted(A, 1, NOW), barred(3)], 2),
    ],
)
async def test_bars_out_of_order_are_named(published: Published, acts: Sequence[Act], wrong: int | None) -> None:
    leaves = tuple(Leaf(b"%d" % at, entries.encode(act)) for at, act in enumerate(acts))
    await published.ledger.append(EMPTY, Copy(leaves))
    publisher = published.publisher()
    await publisher.sign()
    await publisher.close()
    seen = Seen(published.hand.key)
    for _ in check(fetcher(str(published.folder / "archive")), seen, NOW):
        assert Seen.load(seen.save()) == seen
    first = seen.faults[0].partition(":")[0] if seen.faults else None
    assert first == (f"leaf {wrong}" if wrong is not None else None), seen.faults


async def test_who_is_barred_ends_the_game_that_runs_and_begins_none_that_counts(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.http() as http:
        guest = server.join()

        def told() -> dict[str, object]:
            found: dict[str, object] = http.get(f"/api/players/{guest.player}/bars").json()
            return found

        async with connected(server, guest) as client:
            running = await client.open("relaxed")
            assert told() == {"player": guest.player, "barred": False, "bars": []}
            done = await asyncio.to_thread(run, "bar", guest.player, "--reason", "two accounts", "--data", server.data)
            assert done.returncode == 0, done.stderr
            assert told()["barred"] is True
            assert http.get(f"/api/players/{guest.player}").json()["barred"] == "two accounts"
            assert await client.open("relaxed") == running
            await client.play_on(await client.follow(running), Random(1))
            for mode, rules in (("relaxed", "fifty-states/1"), ("strategic", "fifty-states/1"), ("house", "classic/1")):
                answer = await client.ask("open", rules=rules, mode=mode, settings={})
                assert (answer["type"], answer["reason"]) == ("refused", "barred")
            waiting = await client.ask("queue", rules="fifty-states/1")
            assert (waiting["type"], waiting["reason"]) == ("refused", "barred")
            open_deal = await client.ask("open", rules="classic/1", mode="house", settings={"seed": 12})
            assert open_deal["type"] == "done"
            done = await asyncio.to_thread(run, "bar", guest.player, "--lift", "--data", server.data)
            assert done.returncode == 0, done.stderr
            assert await client.open("strategic") != running
        all_signed(http)
        key = VerifierKey.parse(http.get("/ledger.vkey").text.strip())
        seen = Seen(key)
        for _ in check(fetcher(str(server.data / "archive")), seen, 0):
            pass
        assert seen.faults == []


async def test_who_is_barred_while_waiting_takes_no_seat_in_a_game_that_counts(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        async with people(server, 2, seed=61) as (barred_one, other):
            mine = await feed(barred_one, "me")
            assert (await barred_one.ask("queue", "q", rules="playbook/1"))["type"] == "queued"
            player = barred_one.guest.player
            done = await asyncio.to_thread(run, "bar", player, "--reason", "two accounts", "--data", server.data)
            assert done.returncode == 0, done.stderr
            assert (await other.ask("queue", "q", rules="playbook/1"))["type"] == "queued"
            (row,) = await mine.until(lambda rows: list(rows["games"].values()))
            game = bytes.fromhex(row["game"])
            assert row["counts"]
            assert (await barred_one.sit(game))["reason"] == "barred"
            assert (await other.sit(game))["type"] == "done"
            free = await invited(other)
            assert (await barred_one.sit(free))["type"] == "done", "it counts for nothing"


def test_the_command_says_what_it_can_not_do(tmp_path: Path) -> None:
    for words in ((A.hex(), "--reason", "x"), (A.hex(), "--lift")):
        done = run("bar", *words, "--data", tmp_path)
        assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stderr
    for wrong in ((A.hex(),), (A.hex(), "--lift", "--reason", "x"), ("nobody", "--reason", "x")):
        done = run("bar", *wrong, "--data", tmp_path)
        assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
