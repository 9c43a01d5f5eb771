"""Backup and restore: beside a running server, compared by heads, refilled to what was signed since; and the keys."""

import asyncio
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from server.backup import NoBackup, backup
from server.restore import restore
from server.settings import Settings, settings
from tests.running import ROOT, Followed, Guest, Server, connected, eventually, serving, until, wait_seconds_max

pytestmark = pytest.mark.anyio
Files = dict[str, bytes]


def run(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "server", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        timeout=wait_seconds_max,
        check=False,
    )


def well(*words: object, **environment: str) -> str:
    done = run(*words, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def play(server: Server, guest: Guest, seed: int, battles: int | None = None) -> Followed:
    """A whole game, or its first battles."""
    async with connected(server, guest) as client:
        held = await client.follow(await client.open())
        if battles is None:
            await client.play_on(held, Random(seed))
        else:
            await client.mix(held)
            for _ in range(battles):
                await client.play(held)
        return held


def signed(server: Server, leaves: int) -> int:
    """Wait until so many are under the signature."""

    def at() -> int | None:
        with server.http() as http:
            size: int = http.get("/api/ledger").json()["signed"] or 0
        return size if size >= leaves else None

    return until(at)


async def test_a_restored_store_has_every_head_and_is_refilled_to_what_was_signed_since(tmp_path: Path) -> None:
    archive = {"STATECRAFT_ARCHIVE": str(tmp_path / "archive")}
    with serving(tmp_path, archive) as server:
        guests = [server.join() for _ in range(3)]
        done = await asyncio.gather(*(play(server, guest, number) for number, guest in enumerate(guests)))
        running = await play(server, guests[0], 9, battles=2)
        await eventually(lambda: signed(server, 7))
        # Beside the running server, while others play on.
        going = asyncio.create_task(play(server, guests[1], 10))
        said = await asyncio.to_thread(well, "backup", tmp_path / "kept.tar", "--keys", "--data", server.data)
        assert "Written: " in said
        later = [await going, *[await play(server, guests[2], number) for number in (11, 12)]]
        size = await eventually(lambda: signed(server, 13))
    elsewhere = tmp_path / "elsewhere"
    restored = well("restore", tmp_path / "kept.tar", "--data", elsewhere / "data")
    # What the backup said it holds is what is there.
    assert [line for line in said.splitlines() if line.startswith("  ")] == [
        line for line in restored.splitlines() if line.startswith("  ")
    ]
    for name in ("operator-1.key", "ledger.key"):
        path = elsewhere / "data" / "keys" / name
        assert path.read_bytes() == (server.data / "keys" / name).read_bytes()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"the {size} leaves that were signed" in well("refill", "--data", elsewhere / "data", **archive)
    with serving(elsewhere, archive) as again:
        for followed in (*done, *later):
            assert again.audit(followed.game).head == followed.head
        assert await asyncio.to_thread(signed, again, size) == size
        async with connected(again, guests[0]) as client:
            assert (await client.follow(running.game, running.head, running)).starts[-1]["recovered"]
            await client.play_on(running, Random(1))
        audited = await asyncio.to_thread(run, "audit", "--all", again.url, "--state", tmp_path / "seen.json")
        assert audited.returncode in (0, 3), audited.stdout + audited.stderr
        assert "FAILED" not in audited.stdout


async def test_without_its_keys_a_restored_store_is_not_served_and_with_them_it_is(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    with serving(tmp_path / "first") as server:
        held = await play(server, server.join(), 1, battles=1)
        (tmp_path / "kept").mkdir()
        await asyncio.to_thread(well, "backup", tmp_path / "kept", "--data", server.data)
    (file,) = (tmp_path / "kept").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with tarfile.open(file) as tar:
        assert not any(name.endswith(".key") for name in tar.getnames())
    data = tmp_path / "second" / "data"
    assert "put the keys" in well("restore", file, "--data", data)
    refused = run("serve", "--port", "0", "--data", data)
    assert refused.returncode == 2
    assert "no keys" in refused.stderr
    assert not list((data / "keys").glob("*.key")), "a key was made that no game goes with"
    for key in (server.data / "keys").glob("*.key"):
        shutil.copy2(key, data / "keys")
    with serving(tmp_path / "second", {"STATECRAFT_ARCHIVE": str(server.data / "archive")}) as again:
        assert again.audit(held.game).head == held.head


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    with serving(folder) as server:
        asyncio.run(play(server, server.join(), 1, battles=1))
        backup(at(server.data), folder / "kept.tar", True, lambda done, size: None)
    return folder / "kept.tar"


def at(data: Path) -> Settings:
    return settings({"STATECRAFT_DATA": str(data)})


def unpacked(file: Path) -> Files:
    with tarfile.open(file) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar}  # type: ignore[union-attr]


def packed(target: Path, files: Files) -> Path:
    with tarfile.open(target, "w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return target


def _manifest(change: Callable[[dict[str, Any]], None]) -> Callable[[Files], None]:
    def changed(files: Files) -> None:
        manifest = json.loads(files["manifest.json"])
        change(manifest)
        files["manifest.json"] = json.dumps(manifest).encode()

    return changed


def _flip(name: str) -> Callable[[Files], None]:
    def flip(files: Files) -> None:
        data = bytearray(files[name])
        data[len(data) // 2] ^= 1
        files[name] = bytes(data)

    return flip


WRONG: dict[str, tuple[Callable[[Files], None], str]] = {
    "one bit of the log": (_flip("statecraft.db"), "was changed"),
    "one bit of a key": (_flip("keys/operator-1.key"), "was changed"),
    "no manifest": (lambda files: files.pop("manifest.json"), "no backup of ours"),  # type: ignore[dict-item]
    "a file too few": (lambda files: files.pop("people.db"), "it was cut"),  # type: ignore[dict-item]
    "a file too many": (lambda files: files.update({"more": b""}), "its manifest doesn't"),
    "a way out": (
        _manifest(lambda told: told["files"].update({"../out": {"bytes": 0, "sha256": ""}})),
        "its manifest names ../out",
    ),
    "other heads": (_manifest(lambda told: told["store"].update(games=99)), "doesn't hold what it says"),
    "another root": (_manifest(lambda told: told["store"].update(root="00" * 32)), "doesn't hold what it says"),
    "a newer release's": (_manifest(lambda told: told.update(schema=99)), "newer release"),
    "no JSON": (lambda files: files.update({"manifest.json": b"{"}), "can't be read"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_backup_that_was_changed_is_refused_and_leaves_nothing(kept: Path, tmp_path: Path, what: str) -> None:
    change, said = WRONG[what]
    files = unpacked(kept)
    change(files)
    with pytest.raises(NoBackup, match=said):
        restore(at(tmp_path / "data"), packed(tmp_path / "changed.tar", files))
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize("bytes_kept", [0, 100, 5000, 40_000])
def test_a_backup_that_was_cut_is_refused(kept: Path, tmp_path: Path, bytes_kept: int) -> None:
    cut = tmp_path / "cut.tar"
    cut.write_bytes(kept.read_bytes()[:bytes_kept])
    with pytest.raises(NoBackup):
        restore(at(tmp_path / "data"), cut)
    assert list((tmp_path / "data").iterdir()) == []


def test_nothing_is_restored_over_a_store_or_over_other_keys(kept: Path, tmp_path: Path) -> None:
    restore(at(tmp_path / "data"), kept)
    again = run("restore", kept, "--data", tmp_path / "data")
    assert (again.returncode, "a store already" in again.stderr) == (2, True)
    keys = tmp_path / "other" / "keys"
    keys.mkdir(parents=True)
    (keys / "operator-1.key").write_bytes(bytes(32))
    with pytest.raises(NoBackup, match="another key"):
        restore(at(tmp_path / "other"), kept)
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["keys"]


def test_what_can_not_be_backed_up_is_said(kept: Path, tmp_path: Path) -> None:
    nothing = run("backup", tmp_path / "kept.tar", "--data", tmp_path / "nowhere")
    assert (nothing.returncode, "no log" in nothing.stderr) == (2, True)
    with pytest.raises(NoBackup, match="already"):
        backup(at(kept.parent / "data"), kept, False, lambda done, size: None)
    assert [path.name for path in tmp_path.iterdir()] == []


# ---------------------------------------------------------------- keys


async def test_after_a_rotation_old_games_keep_their_key_and_new_ones_get_the_next(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        guest, other = server.join(), server.join()
        old = await play(server, guest, 1, battles=2)
        said = await asyncio.to_thread(well, "keys", "rotate", "--data", server.data)
        assert "Operator key 2" in said
        listed = await asyncio.to_thread(well, "keys", "--data", server.data)
        assert [line.partition(",")[0] for line in listed.splitlines()[:2]] == ["operator key 1", "operator key 2"]
        with server.http() as http:
            assert http.get("/api/ledger").json()["key"] in listed
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(server.start)
        new = await play(server, other, 2)
        assert (old.facts[0].key, new.facts[0].key) == (1, 2)
        async with connected(server, guest) as client:
            await client.follow(old.game, old.head, old)
            await client.play_on(old, Random(1))
        assert server.audit(old.game).over
        assert server.audit(new.game).over


def test_keys_that_are_not_there_are_not_made_by_looking(tmp_path: Path) -> None:
    done = run("keys", "--data", tmp_path)
    assert (done.returncode, "there are no keys" in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []
