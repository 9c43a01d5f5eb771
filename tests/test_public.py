"""The ledger over HTTP: what anybody can fetch from anywhere, and check against the public key alone."""

import base64
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from events import entries, merkle, tiles
from events.entries import Closing, Opening
from events.notes import BadNote, VerifierKey
from events.tiles import Bundle, Tile
from projections import saved
from projections.audit import audit_file
from projections.proof import check, is_proof
from rules.game import Opened
from server.signer import Signed, read_note
from tests.running import Server, all_signed, connected, serving, until
from tests.tlog import flipped

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("public")) as server:
        yield server


@pytest.fixture
def http(server: Server) -> Iterator[httpx.Client]:
    with server.http(headers={"Origin": "https://elsewhere.example"}) as http:
        yield http


def key_of(http: httpx.Client) -> VerifierKey:
    return VerifierKey.parse(http.get("/ledger.vkey").text.strip())


def checkpoint(http: httpx.Client) -> Signed:
    return read_note(http.get("/checkpoint").content, key_of(http))


def leaves(http: httpx.Client, size: int) -> list[bytes]:
    found: list[bytes] = []
    for bundle in tiles.bundles_made(0, size):
        found += tiles.entries(http.get(f"/{bundle.path}").content, bundle.width)
    return found


async def play(server: Server, games: int = 1, mode: str = "relaxed") -> list[bytes]:
    """Whole games of one new player."""
    guest, played = server.join(), []
    async with connected(server, guest) as client:
        for number in range(games):
            game = await client.open(mode)
            followed = await client.follow(game)
            await client.play_on(followed, Random(number))
            played.append(game)
    return played


def witnessed(http: httpx.Client, game: bytes) -> Any:
    answer = http.get(f"/api/games/{game.hex()}/witness", params={"wait_ms": 2000})
    assert answer.status_code == 200
    return answer.json() if answer.json()["witnessed"] else None


def get(http: httpx.Client, path: str, **given: Any) -> httpx.Response:
    return http.get(path, **given)


async def test_an_opening_is_witnessed_and_its_proof_holds(server: Server, http: httpx.Client) -> None:
    async with connected(server, server.join()) as client:
        game = await client.open()
        followed = await client.follow(game)
    assert isinstance(followed.facts[0], Opened)
    assert followed.facts[0].witnessed
    told = until(lambda: witnessed(http, game))
    assert told["game"] == game.hex()
    assert told["key"] == str(key_of(http))
    signed = read_note(told["checkpoint"].encode(), key_of(http))
    entry = base64.b64decode(told["entry"])
    opening = entries.decode_of_game(entry)
    assert isinstance(opening, Opening)
    assert (opening.game, opening.version, opening.hash) == (game, followed.head.version, followed.head.hash)
    proof = [base64.b64decode(each) for each in told["proof"]]
    merkle.check_inclusion(told["index"], signed.size, merkle.leaf_hash(entry), proof, signed.checkpoint.root)
    hash_ = merkle.leaf_hash(flipped(entry))
    with pytest.raises(merkle.Unproven):
        merkle.check_inclusion(told["index"], signed.size, hash_, proof, signed.checkpoint.root)


async def test_what_is_signed_can_be_fetched_and_is_the_ledger(server: Server, http: httpx.Client) -> None:
    games = await play(server, 3)
    until(lambda: get(http, f"/games/{games[-1].hex()}.jsonl").status_code == 200)
    signed = checkpoint(http)
    bodies = leaves(http, signed.size)
    needed = {tile: get(http, f"/{tile.path}").content for tile in tiles.made(0, signed.size)}
    proven = tiles.ProvenTiles(signed.size, signed.checkpoint.root, needed.__getitem__)
    assert [proven.hash_of(0, index) for index in range(signed.size)] == list(map(merkle.leaf_hash, bodies))
    found = [entries.decode_of_game(body) for body in bodies]
    mine = [entry for entry in found if entry.game in games]
    assert [(type(entry), entry.game) for entry in mine] == [
        (kind, game) for game in games for kind in (Opening, Closing)
    ]
    # Each opening names the game before it, and no other.
    afters = [entry.after for entry in mine if isinstance(entry, Opening)]
    assert afters == [(), (games[0],), (games[1],)]
    for entry in mine:
        if isinstance(entry, Closing):
            file = get(http, f"/games/{entry.game.hex()}.jsonl").content
            assert audit_file(file).passed
            assert saved.load(file).events[-1].hash == entry.hash
            assert file == server.export(entry.game)


async def test_it_may_be_read_from_anywhere_and_what_never_changes_is_kept(server: Server, http: httpx.Client) -> None:
    (game,) = await play(server)
    until(lambda: get(http, f"/games/{game.hex()}.jsonl").status_code == 200)
    size = checkpoint(http).size
    lasting = (f"/games/{game.hex()}.jsonl", f"/{Tile(0, 0, size).path}", f"/{Bundle(0, size).path}")
    changing = ("/checkpoint", "/ledger.vkey", "/api/ledger", f"/api/games/{game.hex()}/witness")
    for path in (*lasting, *changing):
        answer = get(http, path)
        assert answer.status_code == 200, path
        assert answer.headers["access-control-allow-origin"] == "*"
        kept = answer.headers.get_list("cache-control")
        assert kept == (["public, max-age=31536000, immutable"] if path in lasting else ["no-cache"])
        assert "access-control-allow-credentials" not in answer.headers
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/tile/0/001",
        "/tile/0/000.p/0",
        "/tile/0/000.p/256",
        "/tile/0/000.p/255",
        "/tile/1/000",
        "/tile/entries/999",
        "/tile/0/..%2f..%2f..%2fkeys%2fledger.key",
        "/tile/%2e%2e/%2e%2e/keys/ledger.key",
        f"/games/{'0' * 32}.jsonl",
        "/games/..%2f..%2fkeys%2fledger.key.jsonl",
        f"/api/games/{'0' * 32}/witness",
        f"/api/games/{'0' * 31}/witness",
    ],
)
async def test_what_is_not_signed_is_not_there(server: Server, http: httpx.Client, path: str) -> None:
    await play(server)
    answer = get(http, path)
    assert answer.status_code == 404
    assert answer.headers.get("access-control-allow-origin", "*") == "*"


async def test_a_running_game_is_no_closed_one(server: Server, http: httpx.Client) -> None:
    async with connected(server, server.join()) as client:
        game = await client.open()
        await client.mix(await client.follow(game))
    until(lambda: witnessed(http, game))
    assert get(http, f"/games/{game.hex()}.jsonl").status_code == 404


@pytest.mark.parametrize("wait", ["-1", "2001", "1.5", "", "ten", "٣"])
async def test_a_wait_that_is_none_is_refused(server: Server, http: httpx.Client, wait: str) -> None:
    async with connected(server, server.join()) as client:
        game = await client.open()
    assert get(http, f"/api/games/{game.hex()}/witness", params={"wait_ms": wait}).status_code == 400


async def test_how_far_the_ledger_is_can_be_seen(server: Server, http: httpx.Client) -> None:
    await play(server)
    at = all_signed(http)
    assert at["leaves"] > 0
    assert at["key"] == str(key_of(http))
    assert f"The ledger's key is {at['key']}" in server.said.splitlines()
    assert (at["partitions_stopped"], at["not_signed_because"]) == ({}, None)


def test_a_note_that_was_changed_is_none(server: Server, http: httpx.Client) -> None:
    until(lambda: get(http, "/checkpoint").status_code == 200)
    note, key = get(http, "/checkpoint").content, key_of(http)
    with pytest.raises(BadNote):
        read_note(note.replace(b"\n\n", b"\nmore\n\n"), key)


async def test_a_stopped_signer_keeps_nobody_from_playing(tmp_path: Path) -> None:
    """The archive is another ledger's, so nothing is signed: it is said, and games go on, unwitnessed."""
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "checkpoint").write_bytes(b"nonsense\n")
    with serving(tmp_path, {"STATECRAFT_ARCHIVE": str(tmp_path / "archive")}) as server, server.http() as http:
        games = await play(server, 2)
        for game in games:
            assert get(http, f"/api/games/{game.hex()}/witness", params={"wait_ms": 10}).json()["witnessed"] is False
        at = get(http, "/api/ledger").json()
        assert "the archive's checkpoint isn't signed by" in until(
            lambda: get(http, "/api/ledger").json()["not_signed_because"]
        )
        assert (at["signed"], at["leaves"]) == (0, 4)
        assert get(http, "/checkpoint").status_code == 404
        assert (tmp_path / "archive" / "checkpoint").read_bytes() == b"nonsense\n"


def growth(http: httpx.Client, size: int | str) -> Any:
    answer = get(http, "/api/ledger/consistency", params={"size": size})
    assert answer.status_code == 200, answer.text
    assert answer.headers["access-control-allow-origin"] == "*"
    return answer.json()


async def test_whoever_saw_an_older_ledger_is_proved_that_it_only_grew(server: Server, http: httpx.Client) -> None:
    await play(server)
    old = until(lambda: checkpoint(http) if growth(http, 0)["checkpoint"] else None)
    assert growth(http, 0)["proof"] == []
    await play(server, games=2)
    new = until(lambda: fresh if (fresh := checkpoint(http)).size >= old.size + 4 else None)
    for size in {1, old.size - 1, old.size, new.size}:
        told = growth(http, size)
        fresh = read_note(told["checkpoint"].encode(), key_of(http)).checkpoint
        proof = [base64.b64decode(each) for each in told["proof"]]
        if size == old.size:
            merkle.check_consistency(size, fresh.size, old.checkpoint.root, fresh.root, proof)
            with pytest.raises(merkle.Unproven):
                merkle.check_consistency(size, fresh.size, flipped(old.checkpoint.root), fresh.root, proof)
    assert growth(http, new.size + 1000)["proof"] is None


@pytest.mark.parametrize("size", ["", "-1", "1.5", "٣", "one", "1" * 20])
def test_a_size_that_is_none_is_refused(http: httpx.Client, size: str) -> None:
    answer = get(http, "/api/ledger/consistency", params={"size": size})
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_size")


async def test_a_closed_game_is_given_with_its_place_in_the_ledger(server: Server, http: httpx.Client) -> None:
    (game,) = await play(server)
    proven = until(lambda: found if is_proof(found := get(http, f"/api/games/{game.hex()}/proof").content) else None)
    assert check(proven, key_of(http)).passed
    assert proven.endswith(server.export(game))
    async with connected(server, server.join()) as client:
        running = await client.open()
    assert get(http, f"/api/games/{running.hex()}/proof").content == server.export(running)
    assert get(http, f"/api/games/{'0' * 32}/proof").status_code == 404


async def test_every_leaf_is_given_with_its_way_to_the_root(server: Server, http: httpx.Client) -> None:
    await play(server)
    signed = until(lambda: checkpoint(http) if growth(http, 0)["checkpoint"] else None)
    for index in range(signed.size):
        told = get(http, f"/api/ledger/leaves/{index}").json()
        fresh = read_note(told["checkpoint"].encode(), key_of(http)).checkpoint
        entry, proof = base64.b64decode(told["entry"]), [base64.b64decode(each) for each in told["proof"]]
        merkle.check_inclusion(index, fresh.size, merkle.leaf_hash(entry), proof, fresh.root)
    for wrong in ("00", "-1", "1.0", "x", "10000000", "9" * 30):
        assert get(http, f"/api/ledger/leaves/{wrong}").json()["error"] == "unknown_leaf"
