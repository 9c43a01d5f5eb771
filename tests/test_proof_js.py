"""Proofs and checkpoints in JavaScript, which shares no code with Python: the same files, the same judgement."""

import json
import os
import re
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from events import entries, notes
from events.entries import Closing, Opening
from events.merkle import Frontier
from events.merkle import inclusion as way
from events.notes import Checkpoint
from projections import saved
from projections.proof import Place, Proof, check, load, save
from projections.saved import Saved
from projections.told import told
from server.prove import make_proof
from server.settings import settings
from server.signer import signer
from tests.ledgers import HAND, PRIVATE, Published, played, publishing, store
from tests.test_proof import signed_again
from tests.test_verify_js import GOLDEN, TOP, checked
from tests.tlog import Naive, flipped

FLIPS = 120


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def published(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str) -> AsyncIterator[Published]:
    async with publishing(tmp_path_factory.mktemp("proofs") / "data") as published:
        published.keys.mkdir()
        (published.keys / "ledger.key").write_bytes(PRIVATE)
        for number in range(5):
            await store(published.log, played(number), after=(played(number - 1).game,) if number else ())
        await published.sign()
        yield published


async def proof_of(published: Published, number: int) -> bytes:
    return await make_proof(settings({"STATECRAFT_DATA": str(published.folder)}), played(number).game.hex())


def judged_alike(folder: Path, files: dict[str, bytes]) -> dict[str, bool]:
    """What both say of each file, by name."""
    paths = []
    for number, data in enumerate(files.values()):
        paths.append(folder / f"{number}.jsonl")
        paths[-1].write_bytes(data)
    _, results = checked(*paths)
    python = {name: check(data, None).passed for name, data in files.items()}
    script = {name: each["ok"] and each["over"] for name, each in zip(files, results, strict=True)}
    assert script == python
    return python


@pytest.mark.anyio
async def test_every_proof_checks_out(published: Published, tmp_path: Path) -> None:
    files = {str(number): await proof_of(published, number) for number in range(5)}
    assert set(judged_alike(tmp_path, files).values()) == {True}


@pytest.mark.anyio
async def test_no_byte_of_a_proof_can_be_changed(published: Published, tmp_path: Path) -> None:
    data = await proof_of(published, 1)
    chance = Random(7)
    head = data.index(b'{"format":"statecraft-game/1"')
    places = [chance.randrange(head if number % 4 else len(data)) for number in range(FLIPS)]
    files = {f"{at} {bit}": flipped(data, at, bit) for at in places for bit in (chance.randrange(8),)}
    # What begins like nothing of ours is taken for a saved game by JavaScript, and is none.
    files |= {f"cut at {at}": data[:at] for at in (1, 30, head - 1, head, len(data) - 1)}
    files["a line more"] = data + b"\n"
    assert set(judged_alike(tmp_path, files).values()) == {False}


@pytest.mark.anyio
async def test_a_proof_put_together_from_true_parts_proves_nothing(published: Published, tmp_path: Path) -> None:
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
        "another key": replace(one, key=signer(flipped(PRIVATE)).key),
        "a game that isn't over": replace(one, game=Saved(one.game.game, one.game.events[:-1])),
        "a game without events": replace(one, game=Saved(one.game.game, ())),
    }
    files = {name: save(proof).encode() for name, proof in wrong.items()}
    lines = files["another key"].split(b"\n", 1)
    files["half a character"] = lines[0].replace(b'"checkpoint":"', b'"checkpoint":"\\ud800') + b"\n" + lines[1]
    assert set(judged_alike(tmp_path, files).values()) == {False}


def placed(game: Saved, opening: bytes, closing: bytes) -> bytes:
    """A proof of a ledger that holds these two entries and another between them, by its own key."""
    naive = Naive([opening, b"something else", closing])
    frontier, _ = Frontier(0, ()).extend([naive.tree(at, at + 1) for at in range(3)])
    checkpoint = Checkpoint(HAND.key.name, 3, frontier.root)
    note = notes.sign(str(checkpoint), HAND).decode()
    places = [Place(at, naive.entries[at], way(at, 3, naive.hash_of)) for at in (0, 2)]
    return save(Proof(HAND.key, note, places[0], places[1], game)).encode()


@pytest.mark.thorough
def test_what_every_golden_game_tells_the_ledger_is_told_alike(tmp_path: Path) -> None:
    files, wrong = {}, {}
    for path in GOLDEN:
        game = saved.load(path.read_bytes())
        opening, closing = told(game)
        assert opening is not None
        assert closing is not None
        files[path.stem] = placed(game, entries.encode(opening), entries.encode(closing))
        after = replace(opening, after=(bytes(15) + b"\1", bytes(15) + b"\2"))
        files[f"{path.stem} after others"] = placed(game, entries.encode(after), entries.encode(closing))
        for number, (first, last) in enumerate(altered(opening, closing)):
            wrong[f"{path.stem} {number}"] = placed(game, entries.encode(first), entries.encode(last))
    assert set(judged_alike(tmp_path, files).values()) == {True}
    assert set(judged_alike(tmp_path, wrong).values()) == {False}


def altered(opening: Opening, closing: Closing) -> list[tuple[Opening, Closing]]:
    """The two leaves of a game, each time with one thing in one of them that its events don't say."""
    changes: dict[str, Any] = {
        "game": bytes(16),
        "version": opening.version + 1,
        "hash": bytes(32),
        "at_ms": 7,
        "rules": "war/1",
        "ladder": "classic-gold",
        "counts": not opening.counts,
        "players": (b"somebody else...", b""),
        "rival": "nobody",
    }
    results: dict[str, Any] = {
        "winner": 1 if closing.winner != 1 else None,
        "reason": "unheard_of",
        "owing": () if closing.owing else (0,),
    }
    return [
        *((replace(opening, **{name: value}), closing) for name, value in changes.items()),
        *((opening, replace(closing, **{name: value})) for name, value in (changes | results).items()),
    ]


@pytest.mark.anyio
async def test_games_named_before_an_opening_rise(published: Published, tmp_path: Path) -> None:
    game = played(1).saved
    opening, closing = told(game)
    assert opening is not None
    assert closing is not None
    one, two = bytes(15) + b"\1", bytes(15) + b"\2"
    body = entries.encode(replace(opening, after=(one, two)))
    files = {
        "falling": body.replace(one + b"\xc4\x10" + two, two + b"\xc4\x10" + one),
        "twice": body.replace(one + b"\xc4\x10" + two, one + b"\xc4\x10" + one),
        "short": entries.encode(replace(opening, after=(b"short",))),
        "behind": body + b"\0",
    }
    assert len(set(files.values()) - {body}) == 4
    proofs = {name: placed(game, each, entries.encode(closing)) for name, each in files.items()}
    said = judged_alike(tmp_path, {name: each for name, each in proofs.items() if name != "short"})
    assert set(said.values()) == {False}


def test_trees_and_notes_are_those_of_the_published_values() -> None:
    checkpoint = Checkpoint(HAND.key.name, 70_000, bytes(range(32)), ("an extension",))
    other = signer(flipped(PRIVATE))
    note = notes.sign(str(checkpoint), HAND).decode()
    text, _, signature = note.rpartition("\n\n")
    two = notes.sign(str(checkpoint), HAND, other).decode()
    given = {
        "key": str(HAND.key),
        "note": note,
        "size": 70_000,
        "root": bytes(range(32)).hex(),
        "right": [two, two.replace(signature, "", 1) + signature],
        "wrong": [
            note + signature,
            note + "\n",
            f"{text}\n\n",
            f"{text}\n\n\n{signature}",
            notes.sign(str(checkpoint), other).decode(),
            *(
                notes.sign(said, HAND).decode()
                for said in (
                    str(replace(checkpoint, origin="somebody else's")),
                    "\n".join((checkpoint.origin, "070000", str(checkpoint).split("\n")[2], "")),
                    "\n".join((checkpoint.origin, "70000", "AAAA", "")),
                    "\n".join((checkpoint.origin, "70000", "")),
                    "\n".join((checkpoint.origin, "70000", str(checkpoint).split("\n")[2], "", "an empty line", "")),
                )
            ),
        ],
    }
    done = subprocess.run(
        ["node", "--test", "--test-reporter=tap", "tests/js/ledger.test.mjs"],
        cwd=TOP,
        capture_output=True,
        text=True,
        env={**os.environ, "STATECRAFT_NOTES": json.dumps(given)},
    )
    assert done.returncode == 0, done.stdout
    counts = dict(re.findall(r"^# (\w+) (\d+)$", done.stdout, re.MULTILINE))
    assert int(counts["pass"]) > 45
    assert counts["skipped"] == counts["todo"] == counts["fail"] == "0"
