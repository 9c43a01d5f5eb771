"""`serve --demo`: an empty install comes alive by its own doors, and one that isn't empty is left alone."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from projections.audit import audit_file
from server.demo import NAMES
from tests.running import ROOT, Server, until, wait_seconds_max


def test_an_empty_install_is_filled_and_goes_on_and_a_filled_one_is_refused(tmp_path: Path) -> None:
    server = Server(tmp_path, words=("--demo", "10")).start()

    def ask(path: str) -> Any:
        with server.http() as http:
            return http.get(path).json()

    until(lambda: "a few go on" in server.said)
    until(lambda: ask("/api/ledger")["signed"] >= 20)
    places = until(
        lambda: [
            place
            for ladder in ("states-relaxed", "states-strategic", "playbook-house")
            for place in ask(f"/api/boards/{ladder}/best_streak/all").get("places", ())
        ]
    )
    assert {place["name"] for place in places} <= set(NAMES)
    with server.http() as http:
        until(lambda: "statecraft_sockets 4.0" in http.get("/metrics").text)
        leaf = http.get("/api/ledger/leaves/0").json()
        assert leaf["index"] == 0
    assert server.stop() == -15
    assert server.errors == ""
    for path in (server.data / "archive" / "games").iterdir():
        assert audit_file(path.read_bytes()).passed
    again = subprocess.run(
        [sys.executable, "-m", "server", "serve", "--port", "0", "--data", str(server.data), "--demo", "6"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=wait_seconds_max,
        check=False,
    )
    assert again.returncode == 2
    assert "has games" in again.stderr
