"""A proof shows a game and its place in the ledger, offline; whatever is changed in it, it shows nothing any more."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from events import entries, notes
from events.entries import Closing, Opening
from events.notes import Checkpoint, VerifierKey
from projections.proof import BadProof, Place, Proof, check, is_proof, load, save, unlike
from projections.saved import NotSaved, Saved
from projections.saved import load as load_game
from projections.told import told
from server.prove import NoProof, make_proof
from server.settings import settings
from server.signer import signer
from tests.ledgers import HAND, PRIVATE, Published, closing_of, opening_of, played, publishing, store
from tests.test_cli import GOLDEN, run
from tests.tlog import flipped

pytestmark = pytest.mark.anyio


@pytest.fixture
async def published(tmp_path: Path) -> AsyncIterator[Published]:
    async with publishing(tmp_path / "data") as published:
        published.keys.mkdir()
        (published.keys / "ledger.key").write_bytes(PRIVATE)
        for number in range(5):
            await store(published.log, played(number), after=(played(number - 1).game,) if number else ())
        await store(published.log, played(9), whole=False)
        await published.sign()
        yield published


async def proof_of(published: Published, number: int) -> bytes:
    return await make_proof(settings({"STATECRAFT_DATA": str(published.folder)}), played(number).game.hex())


async def test_every_closed_game_has_a_proof_that_holds_under_its_key_and_no_other(published: Published) -> None:
    for number in range(5):
        data = await proof_of(published, number)
        assert is_proof(data)
        proven = check(data, None)
        assert proven.passed, proven
        assert (proven.key, proven.size) == (str(HAND.key), 11)
        assert proven.findings.game == played(number).game
        assert check(data, HAND.key).passed
        other = check(data, signer(flipped(PRIVATE)).key)
        assert not other.passed
        assert "another key" in str(other.failure)


async def test_no_byte_of_a_proof_can_be_changed(published: Published) -> None:
    data = await proof_of(published, 1)
    chance = Random(5)
    head = data.index(b'{"format":"statecraft-game/1"')
    for at in [*range(head), *(chance.randrange(head, len(data)) for _ in range(200))]:
        for bit in (0, 5):
            changed = flipped(data, at, bit)
            assert not check(changed, HAND.key).passed, (at, bit)
    for cut in (0, 1, head, head - 1, len(data) - 1):
        assert not check(data[:cut], HAND.key).passed
    assert not check(data + b"\n", HAND.key).passed


def signed_again(proof: Proof, size: int) -> Proof:
    """The same root under another size, by the key's owner."""
    note = notes.read(proof.checkpoint.encode(), [HAND.key])
    checkpoint = replace(Checkpoint.parse(note.text, HAND.key.name), size=size)
    return replace(proof, checkpoint=notes.sign(str(checkpoint), HAND).decode())


async def test_a_proof_put_together_from_true_parts_proves_nothing(published: Published) -> None:
    one, two = load(await proof_of(published, 1)), load(await proof_of(published, 2))
    wrong = {
        "another game": replace(one, game=two.game),
        "another closing": replace(one, closing=two.closing),
        "another opening": replace(one, opening=two.opening),
        "leaves exchanged": replace(one, opening=one.closing, closing=one.opening),
        "the opening twice": replace(one, closing=one.opening),
        "another index": replace(one, closing=replace(one.closing, index=one.closing.index + 1)),
        "another way": replace(one, closing=replace(one.closing, proof=one.opening.proof)),
        "a short way": replace(one, closing=replace(one.closing, proof=one.closing.proof[:-1])),
        "a tree that is too small": signed_again(one, one.closing.index),
        "a game that isn't over": replace(one, game=Saved(one.game.game, one.game.events[:-1])),
        "a game without events": replace(one, game=Saved(one.game.game, ())),
    }
    for what, proof in wrong.items():
        assert not check(save(proof).encode(), HAND.key).passed, what
    assert check(save(one).encode(), HAND.key).passed


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "[]",
        "7",
        "\ud800",
        '{"format":"statecraft-proof/2","key":"","checkpoint":""}',
        '{"format":"statecraft-proof/1","key":"nobody","checkpoint":""}',
        '{"format":"statecraft-proof/1","key":7,"checkpoint":""}',
        "[" * 100_000,
    ],
)
async def test_nonsense_is_no_proof(published: Published, line: str) -> None:
    _, rest = (await proof_of(published, 1)).split(b"\n", 1)
    with pytest.raises((BadProof, NotSaved)):
        load(line.encode(errors="surrogatepass") + b"\n" + rest)


@pytest.mark.parametrize("place", ['{"index":true,"entry":"","proof":[]}', '{"index":1,"entry":"","proof":[1]}', "{}"])
async def test_a_leaf_is_an_index_an_entry_and_hashes(published: Published, place: str) -> None:
    lines = (await proof_of(published, 1)).split(b"\n")
    lines[1] = place.encode()
    with pytest.raises(BadProof):
        load(b"\n".join(lines))


async def test_a_game_that_is_not_signed_as_closed_has_no_proof(published: Published) -> None:
    await store(published.log, played(7))
    await published.copy()
    for number in (7, 8, 9):
        with pytest.raises(NoProof):
            await proof_of(published, number)


# ---------------------------------------------------------------- what a log tells


@pytest.mark.parametrize("number", range(6))
def test_what_a_game_tells_is_made_again_from_its_events(number: int) -> None:
    game = played(number)
    assert told(game.saved) == (opening_of(game), closing_of(game))
    assert told(Saved(game.game, tuple(game.events[:-2]))) == (opening_of(game), None)
    assert told(Saved(game.game, tuple(game.events[:3]))) == (opening_of(game), None)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_golden_game_tells_an_opening_and_a_closing(path: Path) -> None:
    game = load_game(path.read_bytes())
    opening, closing = told(game)
    assert opening is not None
    assert closing is not None
    assert entries.decode(entries.encode(opening)) == opening
    assert (closing.version, closing.hash) == (len(game.events), game.events[-1].hash)


def test_a_leaf_that_says_anything_else_than_its_game_is_seen() -> None:
    game = played(1)
    opening, closing = opening_of(game), closing_of(game)
    assert unlike(opening, Opening, game.saved) is None
    assert unlike(replace(opening, after=(bytes(16),)), Opening, game.saved) is None
    assert unlike(closing, Closing, game.saved) is None
    assert unlike(opening, Closing, game.saved) is not None
    changes: dict[str, Any] = {
        "game": bytes(16),
        "version": 4,
        "hash": bytes(32),
        "at_ms": 7,
        "rules": "war/1",
        "ladder": "classic-house",
        "counts": False,
        "players": (b"somebody else...", b""),
        "rival": "nobody",
    }
    for name, value in changes.items():
        assert unlike(replace(opening, **{name: value}), Opening, game.saved) is not None, name
        assert unlike(replace(closing, **{name: value}), Closing, game.saved) is not None, name
    results: list[dict[str, Any]] = [
        {"winner": None},
        {"winner": 1 - (closing.winner or 0)},
        {"reason": "time"},
        {"owing": (0,)},
    ]
    for more in results:
        assert unlike(replace(closing, **more), Closing, game.saved) is not None, more


# ---------------------------------------------------------------- the command


async def test_the_command_writes_a_proof_and_audit_checks_it_without_a_store(published: Published) -> None:
    file, game = published.folder / "proof.jsonl", played(2).game.hex()
    assert run("proof", game, "--data", published.folder, "-o", file).returncode == 0
    assert run("proof", game, "--data", published.folder).stdout.encode() == file.read_bytes()
    passed = run("audit", file, STATECRAFT_DATA="/nowhere")
    assert passed.returncode == 0, passed.stderr
    assert f"PASSED: game {game}" in passed.stdout
    assert str(HAND.key) in passed.stdout
    assert "until there is a ledger" not in passed.stdout
    assert run("audit", file, "--key", str(HAND.key)).returncode == 0
    wrong = run("audit", file, "--key", str(signer(flipped(PRIVATE)).key))
    assert wrong.returncode == 1
    assert "another key" in wrong.stdout
    assert run("audit", file, "--key", "nonsense").returncode == 2
    lines = file.read_bytes().split(b"\n")
    lines[2] = lines[2].replace(b'"index":', b'"index":1')
    file.write_bytes(b"\n".join(lines))
    failed = run("audit", file)
    assert (failed.returncode, "FAILED" in failed.stdout) == (1, True)
    missing = run("proof", played(9).game.hex(), "--data", published.folder)
    assert missing.returncode == 2
    assert "Traceback" not in missing.stderr


def test_the_first_line_reads_as_json_anywhere() -> None:
    place = Place(0, b"entry", (bytes(32),))
    proof = Proof(VerifierKey("name", bytes(32)), "text\n\n— name AA==\n", place, place, played(1).saved)
    first = json.loads(save(proof).split("\n")[0])
    assert first == {"format": "statecraft-proof/1", "key": str(proof.key), "checkpoint": proof.checkpoint}
