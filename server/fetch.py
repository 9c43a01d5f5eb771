"""A published ledger's files from a directory, from a server, or from an object store: what `audit --all` reads."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import obstore
from obstore.store import HTTPStore, from_url

from projections.whole import Fetch
from server.archive import read_file

FETCHES_MAX = 16
"""At once."""


def fetcher(place: str) -> Fetch:
    """Of a directory or a URL: http(s)://… of a server, or an object store's. Raises obstore's BaseError."""
    if "://" not in place:
        return _fetch_from_folder(Path(place))
    is_web = place.startswith(("http://", "https://"))
    store = HTTPStore.from_url(place, client_options={"allow_http": True}) if is_web else from_url(place)
    threads = ThreadPoolExecutor(FETCHES_MAX, "fetch")

    def get(path: str) -> bytes | None:
        try:
            return bytes(obstore.get(store, path).bytes())
        except FileNotFoundError:
            return None

    def fetch(paths: Sequence[str]) -> Mapping[str, bytes | None]:
        return dict(zip(paths, threads.map(get, paths), strict=True))

    return fetch


def _fetch_from_folder(folder: Path) -> Fetch:
    def fetch(paths: Sequence[str]) -> Mapping[str, bytes | None]:
        return {path: read_file(folder / path) for path in paths}

    return fetch
