"""The compose file and the image: valid by their own tools, pinned, without secrets, and safe where it matters."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.settings import settings
from tests.running import ROOT, wait_seconds_max

COMPOSE = ROOT / "docker-compose.yml"
TOOLS = Path(sys.prefix) / "bin"


def tool(name: str, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TOOLS / name, *map(str, words)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment},
        capture_output=True,
        text=True,
        timeout=wait_seconds_max,
        check=False,
    )


def config(file: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return tool("docker-compose", "-f", file, "config", "--format", "json", **environment)


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    done = config(COMPOSE)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("was", "becomes"),
    [("services:", "servces:"), ("condition: service_healthy", "condition: well"), ("image:", "imag:")],
)
def test_a_compose_file_that_is_wrong_is_refused(tmp_path: Path, was: str, becomes: str) -> None:
    file = tmp_path / "docker-compose.yml"
    file.write_text(COMPOSE.read_text().replace(was, becomes))
    assert config(file).returncode != 0


def test_images_are_pinned_and_no_registry_is_named(told: dict[str, Any]) -> None:
    images = {name: service["image"] for name, service in told["services"].items()}
    assert images.pop("one") == images.pop("two") == "statecraft:local"
    (base,) = re.findall(r"^FROM (.*)$", (ROOT / "Dockerfile").read_text(), re.M)
    for image in (*images.values(), base):
        assert re.fullmatch(r"[a-z]+:\d+\.\d+\.\d+-[a-z-]+", image), image


def test_only_the_balancer_has_a_port_of_the_hosts_and_everything_kept_has_a_named_volume(told: dict[str, Any]) -> None:
    services = told["services"]
    assert [name for name, service in services.items() if service.get("ports")] == ["balancer"]
    for name, service in services.items():
        for volume in service["volumes"]:
            assert volume["type"] == "volume" or name == "balancer", volume
    kept = {name: {volume["target"]: volume["source"] for volume in services[name]["volumes"]} for name in services}
    shared = {"/data/keys": "keys", "/archive": "archive"}
    assert [kept[name] for name in ("one", "two")] == [{"/data": name, **shared} for name in ("one", "two")]
    assert services["two"]["depends_on"]["one"]["condition"] == "service_healthy", "the first one makes the keys"
    assert told["networks"]["store"]["internal"] is True
    assert services["redis"]["networks"].keys() == {"store"}


def test_there_is_no_secret_in_it() -> None:
    told = yaml.safe_load(COMPOSE.read_text())
    for service in told["services"].values():
        for name, value in (service.get("environment") or {}).items():
            if re.search("TOKEN|KEY|PASS|SECRET", name):
                assert re.fullmatch(r"\$\{\w+:-\}", value), name
    assert not re.search(r"redis://[^/\s]*@", COMPOSE.read_text())


def test_redis_keeps_what_it_acknowledged_and_throws_nothing_away(told: dict[str, Any]) -> None:
    words = told["services"]["redis"]["command"]
    options = dict(zip(words[1::2], words[2::2], strict=True))
    assert options["--appendonly"] == "yes"
    assert options["--appendfsync"] == "always"
    assert options["--maxmemory-policy"] == "noeviction"
    assert told["services"]["redis"]["healthcheck"]["test"] == ["CMD", "redis-cli", "ping"]


def test_servers_are_given_the_time_that_leaving_takes_and_settings_they_take(told: dict[str, Any]) -> None:
    for name in ("one", "two"):
        service = told["services"][name]
        given = settings(service["environment"])
        assert service["stop_grace_period"] == "30s"
        assert given.leave_seconds + given.close_seconds < 30
        assert (given.proxies, given.metrics_token) == ("*", None)
        assert service["depends_on"]["redis"]["condition"] == "service_healthy"
    interval = int(re.findall(r"health_interval (\d)s", (ROOT / "deploy" / "Caddyfile").read_text())[0])
    assert interval < given.leave_seconds


def test_the_balancer_asks_what_servers_answer_and_passes_no_numbers_on() -> None:
    caddy = (ROOT / "deploy" / "Caddyfile").read_text()
    assert "health_uri /readyz" in caddy
    assert re.search(r"@inside path /metrics.*\n\s*respond @inside 404", caddy)
    assert "reverse_proxy one:8000 two:8000" in caddy


def test_the_dockerfile_is_well_by_its_linter_and_a_wrong_one_is_not(tmp_path: Path) -> None:
    done = tool("hadolint", "--no-color", ROOT / "Dockerfile")
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = tmp_path / "Dockerfile"
    wrong.write_text("FROM python:latest\nRUN cd /tmp\nCMD python\n")
    assert tool("hadolint", "--no-color", wrong).returncode != 0


def test_the_image_has_every_package_that_runs_and_ends_by_the_engines_signal() -> None:
    text = (ROOT / "Dockerfile").read_text()
    for floor in ("rules", "events", "projections", "server"):
        assert f"COPY {floor} {floor}\n" in text
        assert f"!{floor}\n" in (ROOT / ".dockerignore").read_text()
    assert 'ENTRYPOINT ["python", "-m", "server"]' in text
    assert re.search(r"^USER (?!root)", text, re.M)
    assert "--require-hashes" in text
