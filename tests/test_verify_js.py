"""The verifier in JavaScript, which shares no code with the one in Python: its own tests, and the two side by side."""

import json
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from events import chain, codec
from projections import saved
from projections.audit import audit_file
from rules import fifty_states, timing
from rules.fifty_states import FIFTY_STATES
from rules.game import OPEN_MS_MAX, CallTime, Resign, Rules
from rules.war import CLASSIC, GAMEWEAVE, PLAYBOOK, Turned
from scripts.make_strategic_js import OUT, strategic_js
from tests.duels import Given, Going
from tests.pairs import Duel
from tests.positions import NOW, Played, at_random, war_game

TOP = Path(__file__).resolve().parent.parent
VERIFY = TOP / "server" / "web" / "verify"
GOLDEN = sorted((TOP / "tests" / "golden").rglob("*.jsonl"))
CLASSICS: list[dict[str, int | str]] = [
    {"down": down, "length": length} for down in (3, 1) for length in ("full", "short")
]
WARS: list[tuple[Rules, dict[str, int | str]]] = [
    (PLAYBOOK, {}),
    (GAMEWEAVE, {}),
    *((CLASSIC, settings) for settings in CLASSICS),
    *((CLASSIC, {**settings, "seed": 2**32 - 1}) for settings in CLASSICS),
]
node_seconds_max = 180


def node(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs node in the checkout; no package needs to be installed. A machine without node fails the test."""
    found = shutil.which("node")
    assert found, "the verifier's tests need node"
    return subprocess.run([found, *arguments], cwd=TOP, capture_output=True, text=True, timeout=node_seconds_max)


def checked(*files: Path) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and one result a file."""
    done = node(VERIFY / "cli.mjs", *files)
    assert done.stderr == ""
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("tests", "least"), [("verify", 150), ("war", 150), ("between", 45), ("pledge", 9)])
@pytest.mark.thorough
def test_its_own_tests_pass(tests: str, least: int) -> None:
    done = node("--test", "--test-reporter=tap", f"tests/js/{tests}.test.mjs")
    assert done.returncode == 0, done.stdout
    counts = dict(re.findall(r"^# (\w+) (\d+)$", done.stdout, re.MULTILINE))
    assert int(counts["pass"]) > least
    assert counts["skipped"] == counts["todo"] == counts["fail"] == "0"


def test_golden_games_check_out_on_the_command_line() -> None:
    code, results = checked(*GOLDEN)
    assert code == 0
    assert results == [{"file": str(path), "ok": True, "over": True, "failure": None} for path in GOLDEN]


def test_one_bad_game_among_good_ones_is_named(tmp_path: Path) -> None:
    bad, cut = tmp_path / "bad.jsonl", tmp_path / "cut.jsonl"
    lines = GOLDEN[0].read_bytes().splitlines(keepends=True)
    bad.write_bytes(b"".join(lines).replace(b'"version":3,', b'"version":4,'))
    cut.write_bytes(b"".join(lines[:-1]))
    code, results = checked(GOLDEN[0], bad, cut)
    assert code == 1
    assert [(each["ok"], each["over"]) for each in results] == [(True, True), (False, False), (True, False)]
    assert results[1]["failure"]["version"] == 3
    assert set(results[1]["failure"]) == {"version", "why", "expected", "found"}


def test_no_file_is_a_mistake_and_no_success() -> None:
    done = node(VERIFY / "cli.mjs")
    assert done.returncode == 2
    assert "usage" in done.stderr


@pytest.mark.parametrize("mode", fifty_states.STRATEGIES)
def test_games_played_by_the_rules_in_python_check_out(mode: str, tmp_path: Path) -> None:
    files = []
    for number in range(60):
        played = Played(mode, number).begin(mix=number % 10 != 9)
        if number % 10 == 9:
            assert played.do(Resign()) is None
        else:
            played.finish(at_random(number))
        files.append(tmp_path / f"{number}.jsonl")
        files[-1].write_text(saved.save(played.game, played.events), encoding="ascii")
        assert audit_file(files[-1].read_bytes()).over
    code, results = checked(*files)
    assert [each for each in results if not (each["ok"] and each["over"])] == []
    assert code == 0
    assert len(results) == 60


def a_war(rules: Rules, settings: dict[str, int | str], number: int) -> Played:
    """Against the computer, to its end: most by the cards, some left, late or left before the cards."""
    if "seed" in settings:
        settings = {**settings, "seed": (int(settings["seed"]) * (number + 1)) % 2**32}
    played = war_game(rules, number, **settings)
    times = 10 if rules is PLAYBOOK else 1
    for _ in range(number % 7):
        assert played.table.finished is not None or played.turn(times) is None
    if number % 10 == 7 and played.table.finished is None:
        assert played.do(Resign()) is None
    if number % 10 == 8 and played.table.finished is None:
        played.now_ms += OPEN_MS_MAX
        assert played.do(CallTime()) is None
    if number % 10 == 9 and "seed" not in settings:
        played = Played("house", number, rules=rules, settings=played.settings).begin(mix=False)
        assert played.do(Resign()) is None
    return played.turn_out(times)


def files(tmp_path: Path, texts: Iterator[str]) -> list[Path]:
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"{number}.jsonl")
        paths[-1].write_text(text, encoding="ascii")
    return paths


@pytest.mark.parametrize(("rules", "settings"), WARS, ids=lambda value: getattr(value, "name", None) or str(value))
def test_wars_played_by_the_rules_in_python_check_out(
    rules: Rules, settings: dict[str, int | str], tmp_path: Path
) -> None:
    wars = [a_war(rules, settings, number) for number in range(10)]
    reasons = {war.table.finished.reason for war in wars if war.table.finished is not None}
    assert {"left", "time"} < reasons
    assert ("void" in reasons) == ("seed" not in settings)
    paths = files(tmp_path, (saved.save(war.game, war.events) for war in wars))
    for path in paths:
        assert audit_file(path.read_bytes()).over, path
    _, results = checked(*paths)
    assert [each for each in results if not (each["ok"] and each["over"])] == []
    assert len(results) == len(wars)


def test_won_cards_that_went_back_in_an_order_of_another_seed_are_refused_by_both(tmp_path: Path) -> None:
    played = war_game(GAMEWEAVE, 12)
    played.dealer = replace(played.dealer, hands=replace(played.dealer.hands, seed=bytes(32)))
    played.turn_out()
    [path] = files(tmp_path, iter([saved.save(played.game, played.events)]))
    failure = audit_file(path.read_bytes()).failure
    [result] = checked(path)[1]
    assert failure is not None
    assert result["failure"]["version"] == failure.version
    wrong = played.facts[failure.version - 1]
    assert isinstance(wrong, Turned)
    assert wrong.battle > 5  # the cards that were dealt come first


def altered(events: list[codec.Event], chance: random.Random) -> list[codec.Event]:
    """One fact gone, repeated, exchanged with the next, or with another value in a field."""
    events = list(events)
    at = chance.choice([chance.randrange(len(events)), chance.randrange(max(0, len(events) - 8), len(events))])
    match chance.randrange(6):
        case 0:
            del events[at]
        case 1:
            events.insert(at, events[at])
        case 2:
            events[at - 1], events[at] = (
                replace(events[at - 1], fact=events[at].fact),
                replace(events[at], fact=events[at - 1].fact),
            )
        case _:
            fact = events[at].fact
            name = chance.choice(fields(fact)).name
            events[at] = replace(events[at], fact=replace(fact, **{name: other(getattr(fact, name), chance)}))
    return events


def other(value: Any, chance: random.Random) -> Any:
    """Another value of the same kind, if one is at hand."""
    match value:
        case bool():
            return not value
        case int():
            return max(0, value + chance.choice([-1, 1, 10]))
        case str():
            return chance.choice(["left", "resigned", "void", "time", "all_cards", "battle_limit", "versus"])
        case bytes():
            return chance.choice([b"", bytes(len(value))])
        case (int(), *_):
            return tuple(max(0, each + chance.choice([-1, 0, 1])) for each in value)
        case tuple():
            return chance.choice([(), *(tuple(sorted(settings.items())) for _, settings in WARS)])
        case _:
            return chance.choice([None, 0, 1])


@pytest.mark.parametrize(
    ("rules", "settings"),
    [war for war in WARS if war[1].get("length") != "full"],
    ids=lambda value: getattr(value, "name", None) or str(value),
)
def test_wars_with_something_altered_are_judged_alike(
    rules: Rules, settings: dict[str, int | str], tmp_path: Path
) -> None:
    """The same verdict, and on the same event but for the freedom that docs/audit.md leaves."""
    texts = []
    for number in range(20):
        chance = random.Random(number)
        war = a_war(rules, settings, number % 10)
        events = altered([codec.decode(stored.body) for stored in war.events], chance)
        bodies = [codec.encode(event) for event in events]
        texts.append(saved.save(war.game, chain.extend(chain.origin(war.game), bodies)))
    paths = files(tmp_path, iter(texts))
    findings = [audit_file(path.read_bytes()) for path in paths]
    _, results = checked(*paths)
    far = 0
    for path, finding, result in zip(paths, findings, results, strict=True):
        if finding.passed and not finding.over:
            continue  # of a running game Python looks at the form and the policy only
        assert (result["ok"], result["over"]) == (finding.passed, finding.passed), (path, finding, result)
        if finding.failure is not None:
            far += abs(finding.failure.version - result["failure"]["version"]) > 1
    assert sum(not finding.passed for finding in findings) > 12
    assert far <= 2


def test_the_policy_in_the_module_is_the_one_in_the_rules() -> None:
    assert OUT.read_bytes() == strategic_js().encode()


def test_the_page_says_what_no_file_can_show_in_the_words_of_the_documentation() -> None:
    documented = (TOP / "docs" / "audit.md").read_text(encoding="utf-8")
    section = documented.split("## What no file can show\n\n")[1].split("\n\n")[0]
    limits = [" ".join(limit.split()) for limit in re.split(r"^- ", section, flags=re.MULTILINE)[1:]]
    program = 'import { limits } from "./server/web/verify/limits.js"; console.log(JSON.stringify(limits));'
    shown = json.loads(node("--input-type=module", "--eval", program).stdout)
    assert len(limits) >= 5
    assert [limit.replace("’", "'") for limit in shown] == limits


def test_nothing_is_loaded_from_anywhere_else() -> None:
    """The page works with the network off: no address, no fetch, no import that waits for a click."""
    for path in (*VERIFY.glob("*.js"), *VERIFY.glob("*.html"), *VERIFY.glob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"://|\bfetch\(|\bimport\(|XMLHttpRequest|WebSocket|innerHTML|\seval\(", text), path.name


# ---------------------------------------------------------------- between people

BETWEEN: list[tuple[Rules, Given]] = [
    (FIFTY_STATES, {}),
    (FIFTY_STATES, {"commit_seconds": 10, "reveal_seconds": 3600}),
    (PLAYBOOK, {}),
    (GAMEWEAVE, {"turn_seconds": 60}),
    (CLASSIC, {"down": 1, "length": "short"}),
    (CLASSIC, {"seed": 12, "length": "short"}),
]


def duels(rules: Rules, given: Given) -> dict[str, Duel]:
    """Games between people with every way they may go and end."""
    numbers = iter(range(10**6))

    def begun(paired: bool = True) -> Going:
        return Going(rules, next(numbers), given, paired)

    def dealt(paired: bool = True) -> Going:
        return begun(paired).sit().mix()

    all_ = {
        "to the end": dealt().battles(),
        "to the end, by whoever came": dealt(paired=False).battles(),
        "nobody came": begun().call(),
        "one came": begun().sit(1).call(),
        "nobody else came": begun(paired=False).call(),
        "left before anybody sat": begun().resign(0),
        "left before the other sat": begun().sit(0).resign(0),
        "resigned": dealt().battles(3).resign(1),
        "resigned in a battle": dealt().battles(2).battle(1).resign(0),
        "called early by the store's clock": begun().call(timing.EARLY_MS_MAX),
        "time given back": dealt().battles(1).credit().credit().call(),
        "seats credited": begun().credit(60_000).sit().mix().battles(2).resign(0),
    }
    if "seed" not in given:
        all_["nobody mixed"] = begun().sit().call()
        all_["one mixed"] = begun().sit().mix(1).call()
        all_["left when one had mixed"] = begun().sit().mix(0).resign(0)
    for stop in range(4 if rules is FIFTY_STATES else 2):
        all_[f"late after {stop}"] = dealt().battles(2).battle(stop).call()
    if rules is not FIFTY_STATES:
        all_["turned by the clock"] = dealt().battles(2).call().call().battle(1).call().battles(3).resign(1)
        over = dealt().battles(2)
        over.duel.now_ms = NOW + OPEN_MS_MAX
        all_["seven days"] = over.call()
    return {name: each.duel for name, each in all_.items()}


@pytest.mark.parametrize(("rules", "given"), BETWEEN, ids=lambda value: getattr(value, "name", None) or str(value))
def test_games_between_people_check_out_in_both(rules: Rules, given: Given, tmp_path: Path) -> None:
    played = duels(rules, given)
    paths = files(tmp_path, (saved.save(each.game, each.events) for each in played.values()))
    findings = [audit_file(path.read_bytes()) for path in paths]
    assert [(name, each.failure) for name, each in zip(played, findings, strict=True) if each.failure] == []
    _, results = checked(*paths)
    assert [(name, each) for name, each in zip(played, results, strict=True) if not each["ok"]] == []
    assert [each.over for each in findings] == [each["over"] for each in results]
    reasons = {each.table.finished.reason for each in played.values() if each.table.finished is not None}
    assert {"void", "resigned"} < reasons
    if rules is FIFTY_STATES:
        assert {"time", "both_late"} < reasons


@pytest.mark.parametrize(("rules", "given"), BETWEEN, ids=lambda value: getattr(value, "name", None) or str(value))
def test_games_between_people_with_something_altered_are_judged_alike(
    rules: Rules, given: Given, tmp_path: Path
) -> None:
    texts = []
    for number, played in enumerate([each for _ in range(2) for each in duels(rules, given).values()]):
        events = [codec.decode(stored.body) for stored in played.events]
        for _ in range(2):
            bodies = [codec.encode(event) for event in altered(events, random.Random(number))]
            texts.append(saved.save(played.game, chain.extend(chain.origin(played.game), bodies)))
    paths = files(tmp_path, iter(texts))
    findings = [audit_file(path.read_bytes()) for path in paths]
    _, results = checked(*paths)
    for path, finding, result in zip(paths, findings, results, strict=True):
        if finding.passed and not finding.over:
            continue  # of a running game Python looks at the form and the policy only
        assert (result["ok"], result["over"]) == (finding.passed, finding.passed), (path, finding, result)
    assert sum(not finding.passed for finding in findings) > len(paths) / 2


@pytest.mark.parametrize(("rules", "given"), BETWEEN, ids=lambda value: getattr(value, "name", None) or str(value))
def test_time_called_too_early_is_blamed_by_both(rules: Rules, given: Given, tmp_path: Path) -> None:
    """The store's clock may be ahead of a server's by two seconds and no more."""
    early = [
        Going(rules, stop, given).sit().mix().battles(1).battle(stop)
        for stop in range(4 if rules is FIFTY_STATES else 2)
    ]
    early += [Going(rules, 8, given), Going(rules, 9, given, paired=False)]
    versions = [len(each.duel.events) + 1 for each in early]
    for each in early:
        each.call(timing.EARLY_MS_MAX + 1)
        if each.duel.table.finished is None:
            each.resign(0)
    paths = files(tmp_path, (saved.save(each.duel.game, each.duel.events) for each in early))
    for path, version, result in zip(paths, versions, checked(*paths)[1], strict=True):
        failure = audit_file(path.read_bytes()).failure
        assert failure is not None
        assert result["failure"] is not None
        assert failure.version == result["failure"]["version"] == version
