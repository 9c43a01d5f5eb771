"""What every archive promises: bytes once put stay, and nothing half-written is ever found."""

from pathlib import Path

import pytest
from obstore.store import LocalStore, MemoryStore

from server.archive import Archive, Different, DirectoryArchive, ObjectArchive, archive

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["directory", "file URL", "object store", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Archive:
    folder = tmp_path / "archive"
    match request.param:
        case "directory":
            return archive(folder)
        case "file URL":
            return archive(folder.as_uri())
        case "object store":
            folder.mkdir()
            return ObjectArchive(LocalStore(folder))
        case _:
            return ObjectArchive(MemoryStore())


def test_a_url_is_an_object_store_and_a_path_a_directory(tmp_path: Path) -> None:
    assert isinstance(archive(tmp_path), DirectoryArchive)
    assert isinstance(archive(str(tmp_path)), DirectoryArchive)
    assert isinstance(archive("memory:///"), ObjectArchive)
    # An object store's own files aren't synced, ours are.
    assert isinstance(archive(tmp_path.as_uri()), DirectoryArchive)


async def test_what_is_put_is_found_and_what_is_not_is_not(place: Archive) -> None:
    files = {"a": b"1", "tile/0/000": b"2", "tile/0/000.p/17": b"3", "tile/0/x001/067": b"", "big": bytes(1 << 20)}
    await place.put(files)
    for path, data in files.items():
        assert await place.get(path) == data
    for path in ("b", "tile/0/001", "tile/0", "tile/0/000.p/18"):
        assert await place.get(path) is None


async def test_the_same_bytes_again_are_fine_and_others_are_refused(place: Archive) -> None:
    await place.put({"games/1": b"one", "games/2": b"two"})
    await place.put({"games/1": b"one", "games/3": b"three"})
    with pytest.raises(Different):
        await place.put({"games/1": b"another"})
    assert await place.get("games/1") == b"one"
    assert await place.get("games/3") == b"three"


async def test_what_may_change_is_replaced(place: Archive) -> None:
    await place.put({"checkpoint": b"one"}, over=True)
    await place.put({"checkpoint": b"two"}, over=True)
    assert await place.get("checkpoint") == b"two"


async def test_a_folder_goes_with_all_that_is_in_it_and_nothing_beside_it(place: Archive) -> None:
    await place.put({"tile/0/000.p/1": b"1", "tile/0/000.p/2": b"2", "tile/0/000": b"3", "tile/0/001.p/1": b"4"})
    await place.remove_folder("tile/0/000.p")
    await place.remove_folder("tile/0/009.p")
    paths = ("tile/0/000.p/1", "tile/0/000.p/2", "tile/0/000", "tile/0/001.p/1")
    assert [await place.get(path) for path in paths] == [None, None, b"3", b"4"]


async def test_nothing_lies_about_in_a_directory(tmp_path: Path) -> None:
    place = DirectoryArchive(tmp_path)
    await place.put({"a/b": b"1"})
    await place.put({"a/b": b"1"})
    with pytest.raises(Different):
        await place.put({"a/b": b"2"})
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]
