"""The boards that a server publishes, fetched whole: what `audit --all` holds against the ledger."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import urlopen

import msgspec

from projections.leaderboard import Board
from projections.standings import Place, Snapshot

FETCHES_MAX = 8
"""At once."""
TRIES_MAX = 5
RETRY_SECONDS = 1.0
TIMEOUT_SECONDS = 60


class NoBoard(Exception):
    """A board that couldn't be had as of one position, and why."""


def fetch_boards(url: str, boards: Sequence[Board], as_of: int) -> Iterator[Snapshot | NoBoard]:
    """In the order asked, each as of at least that many leaves. Raises OSError if the server can't be reached."""
    with ThreadPoolExecutor(FETCHES_MAX, "boards") as threads:
        yield from threads.map(lambda board: _fetch(url, board, as_of), boards)


def _fetch(url: str, board: Board, as_of: int) -> Snapshot | NoBoard:
    """A board on the move, or one that isn't folded so far yet, is asked for again."""
    why = ""
    for attempt in range(TRIES_MAX):
        if attempt:
            time.sleep(RETRY_SECONDS)
        try:
            found = _read(f"{url.rstrip('/')}/api/boards/{'/'.join(board)}/export", board)
        except HTTPError as error:
            why = f"the server answered {error.code}"
            continue
        except HTTPException as error:
            why = f"its end is missing: {error!r}"
            continue
        if isinstance(found, str):
            why = found
        elif found.as_of < as_of:
            why = f"it is as of {found.as_of} leaves, {as_of} are signed"
        else:
            return found
    return NoBoard(f"{'/'.join(board)}: {why}")


class _Head(msgspec.Struct):
    window: str
    as_of: int
    leaf_hash: str
    size: int
    moved: bool


class _Row(msgspec.Struct):
    rank: int
    position: int
    player: str
    value: int
    index: int


class _End(msgspec.Struct):
    """Any other line is none."""

    end: bool = False
    moved: bool = False


def _read(address: str, board: Board) -> Snapshot | str:
    """Or why not, where another try may help. Raises OSError, HTTPException."""
    with urlopen(address, timeout=TIMEOUT_SECONDS) as answer:
        lines = answer.read().splitlines()
    try:
        first, *rows, last = lines
        head, end = msgspec.json.decode(first, type=_Head), msgspec.json.decode(last, type=_End)
        if not end.end:
            return "its end is missing"
        if head.moved or end.moved:
            return "it moved while it was read"
        found = msgspec.json.Decoder(_Row)
        places = tuple(
            Place(row.rank, row.position, bytes.fromhex(row.player), row.value, row.index)
            for row in map(found.decode, rows)
        )
        if head.window != board.window:
            return f"another window came: {head.window}"
        return Snapshot(board, head.as_of, bytes.fromhex(head.leaf_hash), head.size, places)
    except (ValueError, RecursionError) as error:  # msgspec's are ValueErrors
        return f"it isn't of the form in docs/protocol.md: {error!r}"
