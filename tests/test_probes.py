"""What machines ask that look after a server: whether it runs, whether it may be sent players, and its numbers."""

import contextlib
import json
import resource
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from server.readiness import TROUBLES
from tests.running import RULES, Server, connected, eventually, serving, until

pytestmark = pytest.mark.anyio
TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("probes")) as server:
        yield server


def numbers(server: Server, **headers: str) -> dict[str, float]:
    """Every sample by name and labels."""
    with server.http(headers=headers) as http:
        answer = http.get("/metrics")
    assert answer.status_code == 200, answer.text
    found = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


def ready(server: Server) -> httpx.Response:
    with server.http() as http:
        return http.get("/readyz")


async def test_a_played_game_is_counted_wherever_it_went(server: Server) -> None:
    before = numbers(server)
    async with connected(server, server.join()) as client:
        game = await client.open()
        followed = await client.follow(game)
        await client.play_on(followed, Random(3))
        refused = await client.do(game, {"do": "Play", "battle": 1, "card": 0}, "late")
        assert refused["type"] == "refused"
        await client.ping()
        heard = len(client.frames)
        during = numbers(server)
        answers = sum(map(len, client.answers.values()))

        def grown(name: str) -> float:
            return during.get(name, 0) - before.get(name, 0)

        assert grown("statecraft_commands_total{outcome=done}") == answers - 1
        assert grown(f"statecraft_commands_total{{outcome={refused['reason']}}}") == 1
        appends = len({event.hash for event in followed.events})
        assert 0 < grown("statecraft_append_seconds_count") <= appends
        assert grown("statecraft_append_seconds_count") == grown("statecraft_append_seconds_bucket{le=+Inf}")
        assert grown("statecraft_append_seconds_sum") > 0
        assert grown("statecraft_frames_total") >= heard
        assert grown("statecraft_frame_bytes_total") > heard
        assert (grown("statecraft_sockets"), grown("statecraft_sessions"), grown("statecraft_subscriptions")) == (
            1,
            1,
            1,
        )
        assert grown("statecraft_games") == 1
    assert (await eventually(lambda: numbers(server)))["statecraft_sweeps_total"] > 0
    await eventually(lambda: numbers(server)["statecraft_sockets"] == before["statecraft_sockets"])


async def test_what_is_entered_is_soon_signed_and_folded(server: Server) -> None:
    async with connected(server, server.join()) as client:
        await client.play_on(await client.follow(await client.open()), Random(4))

    def level() -> bool:
        at = numbers(server)
        lags = [value for name, value in at.items() if name.startswith("statecraft_projection_lag_leaves")]
        return at["statecraft_ledger_leaves"] >= 2 and at["statecraft_ledger_unsigned_leaves"] == 0 == max(lags)

    assert await eventually(level)
    assert numbers(server)["statecraft_ledger_partitions_stopped"] == 0


async def test_who_waits_to_be_paired_is_counted_until_he_leaves(server: Server) -> None:
    async with connected(server, server.join()) as client:
        await client.ask("queue", rules="fifty-states/1")
        assert numbers(server)["statecraft_queue_players"] == 1
        await client.ask("leave_queue", rules="fifty-states/1")
        assert numbers(server)["statecraft_queue_players"] == 0
    assert {"statecraft_put_back_total", "statecraft_forks_total"} <= numbers(server).keys()


async def test_what_the_server_closes_is_counted_by_its_code(server: Server) -> None:
    before = numbers(server).get("statecraft_closes_total{code=4000}", 0)
    async with connected(server) as client:
        await client.send_raw("nonsense")
        assert await client.close_code() == 4000
    assert numbers(server)["statecraft_closes_total{code=4000}"] == before + 1
    with server.http() as http:
        assert http.get("/metrics").text.count("# TYPE statecraft_") > 15


def test_a_well_server_is_alive_and_ready(server: Server) -> None:
    with server.http() as http:
        assert http.get("/healthz").json() == {"ok": True}
    answer = until(lambda: ready(server) if ready(server).json() == {"ready": True, "troubles": []} else None)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-cache"
    assert {name for name in numbers(server) if name.startswith("statecraft_trouble")} == {
        f"statecraft_trouble{{trouble={name}}}" for name in TROUBLES
    }


def test_metrics_are_told_to_nobody_whom_a_balancer_brings(server: Server) -> None:
    with server.http() as http:
        for header in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-Ip"):
            answer = http.get("/metrics", headers={header: "127.0.0.1"})
            assert (answer.status_code, answer.json()["error"]) == (403, "not_from_here")


def test_metrics_with_a_token_are_told_to_who_has_it_from_anywhere(tmp_path: Path) -> None:
    with serving(tmp_path, {"STATECRAFT_METRICS_TOKEN": TOKEN}) as server, server.http() as http:
        for given in (
            {},
            {"Authorization": "Bearer x"},
            {"Authorization": f"Bearer {TOKEN}x"},
            {"Authorization": TOKEN},
        ):
            assert http.get("/metrics", headers=given).status_code == 401
        assert numbers(server, Authorization=f"Bearer {TOKEN}", **{"X-Forwarded-For": "203.0.113.9"})
        assert TOKEN not in server.said + server.errors


async def test_a_ledger_that_is_not_signed_is_said_and_keeps_nobody_from_playing(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.mkdir()
    (archive / "checkpoint").write_text("another ledger's\n")
    with serving(tmp_path, {"STATECRAFT_ARCHIVE": str(archive)}) as server:
        answer = await eventually(lambda: ready(server) if ready(server).json()["troubles"] else None)
        assert answer.status_code == 200
        (trouble,) = answer.json()["troubles"]
        assert (trouble["trouble"], trouble["stops"]) == ("signing", False)
        assert "isn't signed by" in trouble["why"]
        assert numbers(server)["statecraft_trouble{trouble=signing}"] == 1
        async with connected(server, server.join()) as client:
            assert (await client.ask("meet", rules=RULES, mode="relaxed"))["type"] == "met"
        lines = [json.loads(line) for line in server.said.splitlines() if line.startswith("{")]
        (line,) = [line for line in lines if line["event"] == "the ledger isn't signed"]
        assert line["level"] == "error"
        assert line["timestamp"].endswith("Z")


@pytest.mark.parametrize("fast_path", ["1", "0"])
async def test_a_fault_is_logged_with_the_game_and_the_command_that_it_is_about(tmp_path: Path, fast_path: str) -> None:
    game = bytes(16).hex()
    with serving(tmp_path, {"STATECRAFT_FAST_PATH": fast_path}) as server:
        guest = server.join()
        with contextlib.closing(sqlite3.connect(server.data / "statecraft.db")) as stored:
            stored.execute("ALTER TABLE events RENAME TO hidden")
        sit = {"type": "sit", "id": "s1", "game": game, "entropy_hash": "A" * 43 + "="}
        resign = {"type": "do", "id": "c1", "game": game, "command": {"do": "Resign"}}
        for message in (sit, resign):
            async with connected(server, guest) as client:
                await client.send(message)
                assert await client.close_code() == 1011
        lines = [json.loads(line) for line in server.said.splitlines() if line.startswith("{")]
    faults = [line for line in lines if line["event"] == "a fault of ours closed a connection"]
    assert [(line.get("game"), line.get("command")) for line in faults] == [(game, "s1"), (game, "c1")]


async def test_a_store_that_takes_nothing_is_said_and_the_server_wants_nobody(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        await eventually(lambda: ready(server).status_code == 200)
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        wal_bytes = (server.data / "statecraft.db-wal").stat().st_size
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (wal_bytes, hard))
        answer = await eventually(lambda: ready(server) if ready(server).status_code == 503 else None)
        stopping = {each["trouble"] for each in answer.json()["troubles"] if each["stops"]}
        assert stopping == {"store"}
        with server.http() as http:
            assert http.get("/healthz").status_code == 200
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (hard, hard))
        await eventually(lambda: ready(server).status_code == 200)
