"""A whole ledger checked from its public files: it passes, goes on where it ended, and names whatever was changed."""

import re
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from events import entries, ledger, notes, tiles
from events.entries import Closing, Entry, LedgerEntry, Opening
from events.ledger import Copy
from events.merkle import EMPTY, leaf_hash
from events.notes import Checkpoint
from events.tiles import Bundle, Tile
from projections import saved
from projections.seen import Seen
from projections.whole import CLOSED_MS_MAX, Fetch, Untrue, check, published_key
from server.archive import CHECKPOINT, archive, game_path
from server.fetch import fetcher
from tests import leaves
from tests.ledgers import HAND, Published, closing_of, opening_of, played, publishing, store
from tests.positions import NOW
from tests.running import connected, serving, until
from tests.test_cli import run
from tests.test_public import play
from tests.tlog import flipped

pytestmark = pytest.mark.anyio

GAMES = 6


@pytest.fixture
async def published(tmp_path: Path) -> AsyncIterator[Published]:
    async with publishing(tmp_path / "data") as published:
        for number in range(GAMES):
            await store(published.log, played(number), after=(played(number - 1).game,) if number else ())
        await published.sign()
        yield published


def folder(published: Published) -> Path:
    return published.folder / "archive"


def audited(fetch: Fetch, seen: Seen | None = None, now_ms: int = NOW) -> Seen:
    seen = seen or Seen(HAND.key)
    for _ in check(fetch, seen, now_ms):
        pass
    return seen


def faults(published: Published, now_ms: int = NOW) -> list[str]:
    return audited(fetcher(str(folder(published))), now_ms=now_ms).faults


async def republish(published: Published, told: Sequence[Entry]) -> None:
    """A ledger of these leaves and no others, signed anew, as only its operator could."""
    await published.ledger.restart()
    shutil.rmtree(folder(published))
    (published.keys / "ledger.note").unlink()
    found = tuple(ledger.Leaf(b"%d" % at, entries.encode(entry)) for at, entry in enumerate(told))
    await published.ledger.append(EMPTY, Copy(found))
    publisher = published.publisher()
    await publisher.sign()
    await publisher.close()


def every_leaf() -> list[Entry]:
    found: list[Entry] = []
    for number in range(GAMES):
        after = (played(number - 1).game,) if number else ()
        found += [opening_of(played(number), after), closing_of(played(number))]
    return found


async def test_what_is_published_passes(published: Published) -> None:
    fetch = fetcher(str(folder(published)))
    assert published_key(fetch) == HAND.key
    seen = audited(fetch)
    assert seen.faults == []
    assert (seen.frontier, len(seen.closed), seen.open) == (await published.ledger.head(), GAMES, {})
    await republish(published, every_leaf())
    assert faults(published) == []


async def test_it_goes_on_where_it_ended_and_reads_nothing_twice(published: Published) -> None:
    plain = fetcher(str(folder(published)))
    asked: list[str] = []

    def fetch(paths: Sequence[str]) -> Mapping[str, bytes | None]:
        asked.extend(paths)
        return plain(paths)

    seen = Seen(HAND.key)
    for _ in check(fetch, seen, NOW):
        seen = Seen.load(seen.save())
        break
    seen = audited(fetch, seen)
    assert [path for path in asked if path.startswith("games/")] == [
        game_path(played(number).game) for number in sorted(range(GAMES), key=lambda n: _index(published, n))
    ]
    asked.clear()
    for number in range(GAMES, GAMES + 2):
        await store(published.log, played(number))
    await published.sign()
    again = audited(fetch, Seen.load(seen.save()))
    assert again.faults == []
    assert again.frontier.size == 2 * GAMES + 4
    assert {path for path in asked if path.startswith("games/")} == {
        game_path(played(number).game) for number in range(GAMES, GAMES + 2)
    }


def _index(published: Published, number: int) -> int:
    data = (folder(published) / Bundle(0, 2 * GAMES).path).read_bytes()
    return tiles.entries(data, 2 * GAMES).index(entries.encode(closing_of(played(number))))


async def test_more_than_one_bundle_is_read_from_full_and_partial_ones(published: Published) -> None:
    for number in range(300):
        await leaves.tell(published.log, leaves.opening(leaves.game(number, number % 256)))
    await published.sign()
    seen = audited(fetcher(str(folder(published))))
    assert (seen.faults, seen.frontier, len(seen.open)) == ([], await published.ledger.head(), 300)
    assert Seen.load(seen.save()) == seen


async def test_a_reader_of_an_older_checkpoint_finds_full_tiles_in_the_place_of_partial_ones(
    published: Published,
) -> None:
    note = (folder(published) / CHECKPOINT).read_bytes()
    for number in range(300):
        await leaves.tell(published.log, leaves.opening(leaves.game(number, number % 256)))
    await published.sign()
    assert not (folder(published) / Bundle(0, 2 * GAMES).path).exists()
    (folder(published) / CHECKPOINT).write_bytes(note)
    seen = audited(fetcher(str(folder(published))))
    assert (seen.faults, seen.frontier.size) == ([], 2 * GAMES)


async def test_an_opening_is_to_be_closed_within_eight_days_to_the_millisecond(published: Published) -> None:
    game = played(9)
    await store(published.log, game, whole=False)
    await published.sign()
    last = opening_of(game).at_ms + CLOSED_MS_MAX
    assert faults(published, last) == []
    seen = audited(fetcher(str(folder(published))), now_ms=last + 1)
    (fault,) = audited(fetcher(str(folder(published))), seen, last + 2).faults  # found twice, told once
    assert game.game.hex() in fault
    await published.log.append(
        game.game, game.events[2].head, leaves.batch(game.events[3:], entries.encode(closing_of(game)))
    )
    await published.sign()
    assert faults(published, last + 1) == []


# ---------------------------------------------------------------- every change is named


@pytest.mark.parametrize("what", ["note", "tile", "bundle", "game"])
async def test_one_byte_flipped_anywhere_is_named(published: Published, what: str) -> None:
    path = {
        "note": CHECKPOINT,
        "tile": Tile(0, 0, 2 * GAMES).path,
        "bundle": Bundle(0, 2 * GAMES).path,
        "game": game_path(played(3).game),
    }[what]
    file = folder(published) / path
    data = file.read_bytes()
    for at in range(0, len(data), 1 if what == "note" else 97):
        file.write_bytes(flipped(data, at))
        if what == "game":
            (fault,) = faults(published)
            assert played(3).game.hex() in fault
        else:
            with pytest.raises(Untrue):
                faults(published)
    file.write_bytes(data)
    assert faults(published) == []


@pytest.mark.parametrize("path", [CHECKPOINT, Tile(0, 0, 2 * GAMES).path, Bundle(0, 2 * GAMES).path])
async def test_what_is_missing_is_named(published: Published, path: str) -> None:
    (folder(published) / path).unlink()
    with pytest.raises(Untrue, match=re.escape(path)):
        faults(published)


async def test_a_missing_game_is_named(published: Published) -> None:
    (folder(published) / game_path(played(3).game)).unlink()
    (fault,) = faults(published)
    assert played(3).game.hex() in fault
    assert "isn't there" in fault


async def test_a_game_of_another_history_is_named(published: Published) -> None:
    """A whole true game, but not the one whose leaf was signed."""
    path = folder(published) / game_path(played(3).game)
    path.write_text(saved.save(played(5).game, played(5).events))
    assert "another game's" in faults(published)[0]
    path.write_text(saved.save(played(3).game, played(3).events[:-1]))
    assert played(3).game.hex() in faults(published)[0]


def changed(kind: type[Entry], number: int, **values: object) -> Callable[[Entry], Entry]:
    def change(entry: Entry) -> Entry:
        return replace(entry, **values) if isinstance(entry, kind) and entry.game == played(number).game else entry  # type: ignore[arg-type]

    return change


@pytest.mark.parametrize(
    "change",
    [
        changed(Closing, 2, winner=None),
        changed(Closing, 2, hash=bytes(32)),
        changed(Closing, 2, players=(b"somebody else...", b"")),
        changed(Opening, 2, hash=bytes(32)),
        changed(Opening, 2, counts=False),
        changed(Opening, 2, ladder="states-versus"),
    ],
)
async def test_a_leaf_that_does_not_say_what_its_game_does_is_named(
    published: Published, change: Callable[[Entry], Entry]
) -> None:
    files = {number: saved.save(played(number).game, played(number).events) for number in range(GAMES)}
    await republish_with(published, [change(entry) for entry in every_leaf()], files)
    (fault,) = faults(published)
    assert played(2).game.hex() in fault


async def republish_with(published: Published, told: Sequence[LedgerEntry], files: Mapping[int, str]) -> None:
    """Also where the publisher itself would have refused."""
    place = archive(folder(published))
    shutil.rmtree(folder(published))
    bodies = [entries.encode(entry) for entry in told]
    frontier, made = tiles.grow(0, map(leaf_hash, bodies), _nothing)
    note = notes.sign(str(Checkpoint(HAND.key.name, len(bodies), frontier.root)), HAND)
    await place.put({tile.path: data for tile, data in made})
    await place.put({Bundle(0, len(bodies)).path: tiles.bundle(bodies), CHECKPOINT: note}, over=True)
    await place.put({game_path(played(number).game): text.encode() for number, text in files.items()})


def _nothing(level: int, index: int) -> bytes:
    raise AssertionError((level, index))


LEAVES_WRONG: dict[str, tuple[Callable[[list[Entry]], list[Entry]], str]] = {
    "a closing left out": (lambda told: told[:5] + told[6:], "isn't closed"),
    "an opening left out": (lambda told: told[:4] + told[5:], "wasn't opened"),
    "an opening twice": (lambda told: [*told, told[0]], "opened before"),
    "a closing twice": (lambda told: [*told, told[1]], "closed before"),
    "a later game first": (lambda told: [*told[2:4], *told[:2], *told[4:]], "isn't closed before"),
    "closing first": (lambda told: [told[1], told[0], *told[2:]], "wasn't opened"),
}


@pytest.mark.parametrize("what", LEAVES_WRONG)
async def test_leaves_that_cannot_follow_one_another_are_named(published: Published, what: str) -> None:
    change, said = LEAVES_WRONG[what]
    files = {number: saved.save(played(number).game, played(number).events) for number in range(GAMES)}
    await republish_with(published, change(every_leaf()), files)
    found = faults(published, NOW + 2 * CLOSED_MS_MAX)
    assert any(said in fault for fault in found), found


async def test_a_second_history_shown_to_a_reader_of_the_first_is_named(published: Published) -> None:
    fetch = fetcher(str(folder(published)))
    seen = audited(fetch)
    half = Seen(HAND.key)
    told = every_leaf()
    for other in (told[2:] + told[:2], told[:-2], [*told[2:], *told[:2], leaves.opening(leaves.game(1))]):
        await republish(published, other)
        with pytest.raises(Untrue):
            audited(fetch, Seen.load(seen.save()))
        assert audited(fetch, Seen.load(half.save())).frontier.size == len(other)
    await republish(published, [*told, leaves.opening(leaves.game(1))])
    assert audited(fetch, Seen.load(seen.save())).frontier.size == len(told) + 1


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format":"statecraft-seen/2"}', '{"format":"statecraft-seen/1"}'])
def test_a_state_file_that_nobody_saved_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  what is wrong with it differs
        Seen.load(text.encode())


# ---------------------------------------------------------------- the command


async def test_the_command_checks_a_directory_remembers_and_tells_a_change(published: Published) -> None:
    place, state = folder(published), published.folder / "seen.json"
    passed = run("audit", "--all", place, "--state", state)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert f"PASSED: {2 * GAMES} leaves, {GAMES} closed games, 0 open" in passed.stdout
    assert str(HAND.key) in passed.stdout
    assert "No board was compared: an archive has none" in passed.stdout
    assert run("audit", "--all", place, "--state", state, "--key", str(HAND.key)).returncode == 0
    wrong = run("audit", "--all", place, "--state", state, "--key", str(HAND.key).replace("statecraft", "another"))
    assert wrong.returncode != 0
    await republish(published, every_leaf()[2:])
    failed = run("audit", "--all", place, "--state", state)
    assert failed.returncode == 1
    assert "FAILED" in failed.stdout
    nothing = run("audit", "--all", place / "nowhere", "--state", state)
    assert (nothing.returncode, "Traceback" in nothing.stderr) == (1, False)


async def test_the_command_checks_a_running_server_by_its_address(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        await play(server, 3)
        async with connected(server, server.join()) as client:
            await client.open("strategic")
        with server.http() as http:
            until(lambda: http.get("/api/ledger").json()["signed"] == 7)
        for _ in range(2):
            done = run("audit", "--all", server.url, "--state", tmp_path / "seen.json")
            assert done.returncode == 0, done.stdout + done.stderr
            assert "PASSED: 7 leaves, 3 closed games, 1 open" in done.stdout
        game = next((server.data / "archive" / "games").iterdir())
        game.write_bytes(flipped(game.read_bytes(), 300))
        failed = run("audit", "--all", server.url, "--state", tmp_path / "other.json")
        assert failed.returncode == 1
        assert game.stem in failed.stdout
