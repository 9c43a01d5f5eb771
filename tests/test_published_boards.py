"""Boards fetched from a server that may say anything: each is a snapshot, or why it is none; never a crash."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from projections.leaderboard import Board
from projections.standings import Place, Snapshot
from server.published_boards import NoBoard, fetch_boards

DAY = "2026-11-{:02}"
HEAD = {"as_of": 7, "leaf_hash": "ab" * 32, "size": 1, "moved": False}
ROW = {"rank": 1, "position": 0, "player": "cd" * 16, "value": 3, "index": 5, "name": None}
END = {"end": True, "moved": False}
WRONG: dict[str, tuple[Any, ...]] = {
    "a position that is text": ({**HEAD, "as_of": "7"}, ROW, END),
    "a position that is no whole number": ({**HEAD, "as_of": 7.5}, ROW, END),
    "a position below the checkpoint": ({**HEAD, "as_of": 6}, ROW, END),
    "a hash that isn't hex": ({**HEAD, "leaf_hash": "xy"}, ROW, END),
    "a value that is text": (HEAD, {**ROW, "value": "3"}, END),
    "no end": (HEAD, ROW),
    "an end that says it is none": (HEAD, ROW, {**END, "end": False}),
    "a board that moved": (HEAD, ROW, {**END, "moved": True}),
    "another window": ({**HEAD, "window": "all"}, ROW, END),
    "lists in lists": (HEAD, "[" * 100_000, END),
    "a list": ([], [], []),
    "nothing": (),
}


@contextmanager
def saying(answers: dict[str, bytes]) -> Iterator[str]:
    """A server with these answers by window, and its address."""

    class Says(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = answers[self.path.split("/")[5]]
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            """Silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Says) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def body(window: str, lines: tuple[Any, ...]) -> bytes:
    told = [{"window": window, **line} if isinstance(line, dict) and "as_of" in line else line for line in lines]
    return b"".join(
        line.encode() + b"\n" if isinstance(line, str) else json.dumps(line).encode() + b"\n" for line in told
    )


def test_a_board_of_the_documented_form_is_a_snapshot() -> None:
    board = Board("states-relaxed", "wins", DAY.format(1))
    with saying({board.window: body(board.window, (HEAD, ROW, END))}) as url:
        (found,) = fetch_boards(url, [board], 7)
    place = Place(1, 0, bytes.fromhex("cd" * 16), 3, 5)
    assert found == Snapshot(board, 7, bytes.fromhex("ab" * 32), 1, (place,))


def test_whatever_else_a_server_says_is_told_as_a_board_that_could_not_be_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("server.published_boards.RETRY_SECONDS", 0)
    asked = {Board("states-relaxed", "wins", DAY.format(at)): what for at, what in enumerate(WRONG, 1)}
    with saying({board.window: body(board.window, WRONG[what]) for board, what in asked.items()}) as url:
        found = dict(zip(asked.values(), fetch_boards(url, list(asked), 7), strict=True))
    assert {what for what, each in found.items() if not isinstance(each, NoBoard)} == set()
    assert "its end is missing" in str(found["no end"])
    assert "as of 6 leaves, 7 are signed" in str(found["a position below the checkpoint"])
