"""Old games from an older site: all of a file or nothing, each refused line named, and nothing ever twice."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events import entries, ledger
from events.database import Database
from events.entries import Imported
from events.ledger import LEAF_BYTES_MAX
from events.merkle import EMPTY, leaf_hash
from events.sqlite_ledger import SqliteLedger
from projections.projection import fold
from projections.records import RECORDS, key
from projections.seen import Seen
from projections.whole import check
from server.adding import add, missing
from server.fetch import fetcher
from server.importing import GAMES_PER_LEAF, LEAVES_MAX, LINE_BYTES_MAX, RIVAL_CHARACTERS_MAX, Read, read
from server.refill import last_signed, refill
from tests.contrary_ledger import ContraryLedger
from tests.entries import A, B, player
from tests.ledgers import Published, played, publishing, store
from tests.positions import NOW
from tests.running import Server, serving, until
from tests.test_cli import run
from tests.test_public import play

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "imports.md").read_text()
GAMES = [["opal-winterbourne", True], ["", None], ["opal-winterbourne", False]]


def line(who: bytes | str = A, **changes: Any) -> dict[str, Any]:
    name = who.hex() if isinstance(who, bytes) else who
    return {"player": name, "ladder": "states-relaxed", "games": GAMES, "total": 7, **changes}


def written(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in lines)


async def found(data: bytes) -> Read:
    async def known(players: Any) -> set[bytes]:
        return {A, B, bytes.fromhex("f0e1d2c3b4a5968778695a4b3c2d1e0f")}.intersection(players)

    return await read(BytesIO(data), NOW, known, lambda done: None)


async def test_a_line_becomes_an_entry_that_says_the_same() -> None:
    (entry,) = (await found(written(line()))).imports
    assert (entry.player, entry.ladder, entry.total, entry.at_ms) == (A, "states-relaxed", 7, NOW)
    assert [list(game) for game in entry.games] == GAMES
    assert entries.decode(entries.encode(entry)) == entry


async def test_the_examples_of_the_document_are_taken() -> None:
    (block,) = re.findall(r"```json import\n(.*?)```", DOCUMENT, re.S)
    read_ = await found(block.encode())
    assert (read_.refusals, len(read_.imports), read_.games) == ([], 2, 4)
    assert f"more than {GAMES_PER_LEAF} games" in DOCUMENT
    assert f"{LEAVES_MAX:,} records" in DOCUMENT


REFUSED: dict[str, tuple[bytes, str]] = {
    "an empty line": (b"\n", "not JSON"),
    "no JSON": (b"player,ladder\n", "not JSON"),
    "cut off": (written(line())[:-9], "not JSON"),
    "not UTF-8": (b'{"player":"\xff"}\n', "not UTF-8"),
    "a list": (b"[]\n", "Expected `object`"),
    "too deep": (b"[" * 100_000 + b"\n", "too deep"),
    "a field missing": (b'{"player":"00","ladder":"states-relaxed","games":[]}\n', "`total`"),
    "a field too many": (written(line(rating=1500)), "`rating`"),
    "a name twice": (written(line()).replace(b'"total": 7', b'"total": 7, "total": 8'), "twice"),
    "a player in capitals": (written(line(A.hex().upper())), "hex digits"),
    "a player cut short": (written(line(A.hex()[:-1])), "hex digits"),
    "a player nobody knows": (written(line(player(99))), "there is no player"),
    "a ladder there is not": (written(line(ladder="states-hard")), "ladder is one of"),
    "a ladder of luck": (written(line(ladder="classic-house")), "ladder is one of"),
    "a result in words": (written(line(games=[["", "won"]])), "bool | null"),
    "a result as a number": (written(line(games=[["", 1]])), "bool | null"),
    "a game of three": (written(line(games=[["", True, 1]])), "length 2"),
    "a rival's name for its slug": (written(line(games=[["Opal Winterbourne", True]])), "a rival is written like"),
    "a rival too long": (written(line(games=[["a" * (RIVAL_CHARACTERS_MAX + 1), True]])), "a rival is written like"),
    "a rival between people": (written(line(ladder="states-versus")), "no rivals"),
    "a total in words": (written(line(total="7")), "$.total"),
    "half a win": (written(line(total=7.5)), "$.total"),
    "less than none": (written(line(total=-1)), "total is a number"),
    "more than anybody": (written(line(total=10**30)), "total"),
    "digits without end": (written(line()).replace(b'"total": 7', b'"total": ' + b"7" * 5000), ""),
    "a total below the wins": (written(line(games=[["", True]] * 9)), "contains the 9"),
    "nothing in it": (written(line(games=[], total=0)), "nothing in it"),
    "the same line twice": (written(line(), line()), "the same as line 1"),
    "the same written otherwise": (written(line()) + json.dumps(line(), indent=None).encode(), "the same as line 1"),
    "a line too long": (b'{"player":"' + b"0" * LINE_BYTES_MAX + b'"}\n', "at most"),
}


async def test_an_empty_file_is_refused() -> None:
    assert [each.why for each in (await found(b"")).refusals] == ["the file is empty"]


@pytest.mark.parametrize("what", REFUSED)
async def test_nonsense_is_refused_with_its_line_and_a_reason(what: str) -> None:
    data, why = REFUSED[what]
    last = (await found(data)).refusals[-1]
    assert last.line == max(1, data.rstrip(b"\n").count(b"\n") + 1 if data.strip() else 1)
    assert why in last.why, last.why
    after = await found(data + (b"" if data.endswith(b"\n") else b"\n") + written(line(B)))
    assert {each.line for each in after.refusals} == {last.line}, "the line after it was refused, too"


async def test_every_refused_line_is_named_and_not_the_first_alone() -> None:
    data = written(line(), line(total=-1), line(B), line(player(99)), line(ladder="x"))
    assert [each.line for each in (await found(data)).refusals] == [2, 4, 5]


async def test_a_file_with_too_many_records_is_refused() -> None:
    lines = [line(total=total) for total in range(1, LEAVES_MAX + 2)]
    assert (await found(written(*lines[:LEAVES_MAX]))).refusals == []
    assert "several files" in (await found(written(*lines))).refusals[-1].why


results = st.sampled_from([True, False, None])
slugs = st.sampled_from(["", "opal-winterbourne", "a", "0-z" + "z" * (RIVAL_CHARACTERS_MAX - 3)])


@given(st.lists(st.tuples(slugs, results), min_size=1, max_size=3), st.integers(0, 3), st.booleans())
async def test_a_record_of_any_length_is_whole_in_its_entries_and_each_fits_a_leaf(
    pattern: list[tuple[str, bool | None]], times: int, more: bool
) -> None:
    games = (pattern * (4 * GAMES_PER_LEAF))[: GAMES_PER_LEAF * times + more]
    (read_,) = [await found(written(line(games=games, total=GAMES_PER_LEAF * 4)))]
    assert read_.refusals == []
    assert [game for entry in read_.imports for game in entry.games] == games
    assert len({entry.record for entry in read_.imports}) == len(read_.imports) == max(1, times + more)
    assert all(len(leaf.body) <= LEAF_BYTES_MAX for leaf in read_.leaves)


async def test_parts_of_one_record_add_up_to_the_record() -> None:
    games = [["", True]] * (GAMES_PER_LEAF + 5) + [["", False]] * 10
    imports = (await found(written(line(games=games, total=2000)))).imports
    row = fold(RECORDS, enumerate(imports))[key(A, "states-relaxed")]
    assert (row.old_games, row.old_wins, row.old_stars, row.old_total) == (
        len(games),
        len(games) - 10,
        len(games) - 10,
        2000,
    )


async def test_all_leaves_come_or_none_whatever_the_store_does_and_never_one_twice() -> None:
    leaves = (await found(written(*[line(total=total) for total in range(7, 50)]))).leaves
    for seed in range(30):
        contrary = ContraryLedger(seed)
        await asyncio.gather(*(add(contrary, leaves) for _ in range(3)))
        contrary.calm = True
        bodies = await contrary.leaves(0, 1000)
        assert list(bodies) == [leaf.body for leaf in leaves]
        assert await missing(contrary, leaves) == 0


# ---------------------------------------------------------------- in a published ledger


@pytest.fixture
async def published(tmp_path: Path) -> AsyncIterator[Published]:
    async with publishing(tmp_path / "data") as published:
        yield published


async def test_imports_are_signed_audited_and_refilled_like_any_leaf(published: Published) -> None:
    await store(published.log, played(0))
    await published.copy()
    leaves = (await found(written(line(), line(B)))).leaves
    await add(published.ledger, leaves)
    await store(published.log, played(1))
    await published.sign()
    fetch = fetcher(str(published.folder / "archive"))
    seen = audited = Seen(published.hand.key)
    for _ in check(fetch, seen, NOW):
        audited = Seen.load(seen.save())
    assert (audited.faults, audited.frontier.size, len(audited.imported)) == ([], 6, 2)
    head = await published.ledger.head()

    unsigned = (await found(written(line(total=1000)))).leaves
    await add(published.ledger, unsigned)
    signed = await last_signed(published.archive, published.hand.key, published.keys)
    await refill(published.log, published.ledger, published.archive, signed, lambda done: None)
    assert await published.ledger.leaves(6, 9) == [unsigned[0].body], "what wasn't signed yet is lost"
    assert (await published.ledger.head()).size == head.size + 1
    await published.sign()
    audited = Seen.load(audited.save())
    for _ in check(fetch, audited, NOW):
        pass
    assert (audited.faults, len(audited.imported)) == ([], 3)


async def test_an_import_that_stands_twice_in_a_ledger_is_named(published: Published) -> None:
    (leaf,) = (await found(written(line()))).leaves
    bodies = (leaf.body, leaf.body)
    copy = ledger.Copy(tuple(ledger.Leaf(b"%d" % at, body) for at, body in enumerate(bodies)))
    await published.ledger.append(EMPTY, copy)
    publisher = published.publisher()
    await publisher.sign()
    await publisher.close()
    seen = Seen(published.hand.key)
    for _ in check(fetcher(str(published.folder / "archive")), seen, NOW):
        pass
    (fault,) = seen.faults
    assert "leaf 1: import" in fault


# ---------------------------------------------------------------- the command


async def bodies(data: Path) -> list[bytes]:
    database = await Database.reader(data / "statecraft.db")
    try:
        return list(await SqliteLedger(database).leaves(0, 100_000))
    finally:
        await database.close()


async def imported(data: Path) -> list[Imported]:
    return [entry for entry in map(entries.decode, await bodies(data)) if isinstance(entry, Imported)]


@pytest.mark.thorough
async def test_the_command_imports_beside_a_server_and_without_one_and_nothing_twice(tmp_path: Path) -> None:
    file = tmp_path / "old.jsonl"
    with serving(tmp_path) as server:
        await play(server)
        guest = server.join()
        file.write_bytes(written(line(guest.player)))
        dry = run("import", file, "--dry-run", "--data", server.data)
        assert (dry.returncode, await imported(server.data)) == (0, []), dry.stderr
        assert "1 records would be imported" in dry.stdout
        done = run("import", file, "--data", server.data)
        assert (done.returncode, len(await imported(server.data))) == (0, 1), done.stderr
        await play(server)
        again = run("import", file, "--data", server.data)
        assert (again.returncode, len(await imported(server.data))) == (0, 1)
        assert "0 records imported, 1 were there already" in again.stdout
        with server.http() as http:
            until(lambda: http.get("/api/ledger").json()["signed"] == 5)
    file.write_bytes(written(line(guest.player, total=8), line(guest.player, ladder="states-strategic")))
    assert run("import", file, "--data", server.data).returncode == 0
    with serving(tmp_path) as server, server.http() as http:
        until(lambda: http.get("/api/ledger").json()["signed"] == 7)


async def test_the_command_refuses_a_file_whole_and_says_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "old.jsonl"
    with serving(tmp_path) as server:
        guest = server.join()
        file.write_bytes(written(line(guest.player), line(player(5)), line(guest.player, total=-1)))
        refused = run("import", file, "--data", server.data)
        assert refused.returncode == 1
        assert "line 2: there is no player" in refused.stderr
        assert "line 3: total" in refused.stderr
        assert "Nothing was imported: 2 faults" in refused.stderr
        assert await bodies(server.data) == []
    nowhere = run("import", tmp_path / "nowhere", "--data", server.data)
    assert (nowhere.returncode, "Traceback" in nowhere.stderr) == (2, False)


def kill_import(file: Path, data: Path, seconds: float) -> None:
    command = [sys.executable, "-m", "server", "import", str(file), "--data", str(data)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    time.sleep(seconds)
    process.kill()
    process.wait()


@pytest.mark.parametrize("kills", [3, pytest.param(25, marks=pytest.mark.slow)])
async def test_a_command_that_is_killed_has_imported_all_or_nothing(tmp_path: Path, kills: int) -> None:
    server = Server(tmp_path).start()
    guest = server.join()
    server.stop()
    file, chance, some = tmp_path / "old.jsonl", Random(1), 0
    for number in range(kills):
        file.write_bytes(written(*[line(guest.player, total=10_000 * number + 7 + each) for each in range(3000)]))
        await asyncio.to_thread(kill_import, file, server.data, 0.5 + chance.random())
        found_ = await bodies(server.data)
        assert len(found_) % 3000 == 0
        some = len(found_)
        database = await Database.reader(server.data / "statecraft.db")
        assert EMPTY.extend(map(leaf_hash, found_))[0] == await SqliteLedger(database).head()
        await database.close()
    done = run("import", file, "--data", server.data)
    assert done.returncode == 0, done.stderr
    assert len(await bodies(server.data)) - some in (0, 3000)
