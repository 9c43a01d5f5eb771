"""The exact sums of RULES.md over open deals, and many deals by the product's own dealing, by `simulate`'s code."""

import os
from collections import Counter
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Invoked

from projections.histogram import svg
from projections.simulation import NoSimulation, Result, Summary, dealt, named, opened, seed, settings_of, summed
from rules.game import Rules
from rules.war import CLASSIC, GAMEWEAVE, PLAYBOOK
from server.cli import command
from tests.positions import war_game

BUDGET = int(os.environ.get("STATECRAFT_BUDGET", "1"))
DEALS = 20_000 * BUDGET


@cache
def of_seeds(name: str, highest: int, down: int | None = None) -> Summary:
    rules = named(name)
    settings = settings_of(rules, {"down": down} if down else {}, True)
    return summed(map(partial(opened, rules, settings), range(1, highest + 1)))


@cache
def of_deals(name: str, deals: int, down: int | None = None) -> Summary:
    rules = named(name)
    settings = settings_of(rules, {"down": down} if down else {}, False)
    return summed(map(partial(dealt, rules, settings), range(deals)))


# ---------------------------------------------------------------- open deals, exactly


def test_open_deals_1_to_300_with_3_down_average_203_70_battles_and_seed_31_is_the_longest() -> None:
    summary = of_seeds("classic", 300, 3)
    assert f"{float(summary.mean):.2f}" == "203.70"
    assert summary.longest is not None
    assert (summary.longest.battles, summary.longest.number) == (918, 31)


def test_open_deals_1_to_300_with_1_down_average_305_72_battles_and_seed_20_is_the_longest() -> None:
    summary = of_seeds("classic", 300, 1)
    assert f"{float(summary.mean):.2f}" == "305.72"
    assert summary.longest is not None
    assert (summary.longest.battles, summary.longest.number) == (1378, 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("down", "battles", "wars", "first", "short"),
    [(3, 3_770_071, 282_626, 10_008, 1_992), (1, 5_857_788, 451_227, 10_165, 2_312)],
)
def test_open_deals_1_to_20000_sum_up_to_the_letter(down: int, battles: int, wars: int, first: int, short: int) -> None:
    summary = of_seeds("classic", 20_000, down)
    assert (summary.battles, summary.wars, summary.winners[0]) == (battles, wars, first)
    assert summary.reasons["no_cards_for_war"] == short
    assert summary.games == 20_000


@pytest.mark.slow
def test_the_same_deals_sum_up_to_the_letter_under_playbook() -> None:
    summary = of_seeds("playbook", 20_000)
    assert (summary.battles, summary.winners[None], summary.winners[0]) == (5_137_057, 2_877, 8_740)
    assert summary.reasons["shortage"] + summary.reasons["equal_shortage"] == 3_891


# ---------------------------------------------------------------- the product's own dealing: four standard errors


@pytest.mark.slow
@pytest.mark.parametrize(("down", "mean", "error"), [(3, 188, 4.5), (1, 292.5, 7)])
def test_classic_lasts_as_long_as_the_rules_say(down: int, mean: float, error: float) -> None:
    assert float(of_deals("classic", DEALS, down).mean) == pytest.approx(mean, abs=error)


@pytest.mark.slow
def test_the_median_of_gameweave_is_180() -> None:
    assert float(of_deals("gameweave", DEALS).median) == pytest.approx(180, abs=6)


@pytest.mark.slow
def test_playbook_is_drawn_as_often_as_the_rules_say() -> None:
    summary = of_deals("playbook", DEALS)
    assert 100 * summary.winners[None] / summary.games == pytest.approx(14.4, abs=1.1)


@pytest.mark.parametrize("rules", [PLAYBOOK, GAMEWEAVE, CLASSIC], ids=["playbook", "gameweave", "classic"])
def test_fewer_deals_are_near_it_and_come_out_again(rules: Rules) -> None:
    summary = of_deals(rules.name, 300)
    again = summed(map(partial(dealt, rules, settings_of(rules, {}, False)), range(300)))
    assert again == summary
    assert summary.games == 300
    assert 150 < float(summary.mean) < 300


# ---------------------------------------------------------------- one game is one game


def test_a_simulated_deal_is_the_one_that_its_seed_deals() -> None:
    for number in range(20):
        hands = CLASSIC.deal(seed(number), ())
        assert sorted(hands.piles[0] + hands.piles[1]) == list(range(52))
    assert len({seed(number) for number in range(1000)}) == 1000
    assert seed(0).hex() == "2939a24bc25f67ee692d44878f62f8c9f7050924cf1dd181bfd949372550c6ee"


def test_a_simulated_open_deal_is_the_game_that_would_be_played() -> None:
    played = war_game(CLASSIC, seed=12, down=1).turn_out()
    end = played.table.finished
    assert end is not None
    result = opened(CLASSIC, settings_of(CLASSIC, {"down": 1}, True), 12)
    position = played.table.position
    assert result == Result(12, position.battles, position.wars, end.winner, end.reason)


def test_the_game_of_50_states_can_be_simulated_too() -> None:
    rules = named("fifty-states")
    summary = summed(map(partial(dealt, rules, settings_of(rules, {}, False)), range(100)))
    assert set(summary.lengths) <= set(range(7, 14))
    assert summary.wars is None
    assert summary.reasons == {"all_cards": 100}


# ---------------------------------------------------------------- sums


def of(*lengths: int) -> Summary:
    return summed(Result(number, battles, 1, number % 2, "all_cards") for number, battles in enumerate(lengths))


def test_the_median_is_the_middle_or_the_mean_of_both_in_the_middle() -> None:
    assert of(9, 1, 5).median == 5
    assert of(9, 1, 5, 6).median == Fraction(11, 2)
    assert of(4).median == 4


def test_a_percentile_is_the_smallest_length_that_so_many_do_not_exceed() -> None:
    hundred = of(*range(100, 0, -1))
    assert [hundred.percentile(percent) for percent in (5, 25, 75, 95, 100)] == [5, 25, 75, 95, 100]
    assert [of(1, 2, 3).percentile(percent) for percent in (5, 34, 95)] == [1, 2, 3]


def test_the_first_of_the_longest_is_named() -> None:
    longest = of(3, 8, 8, 2).longest
    assert longest is not None
    assert longest.number == 1


def test_rules_are_named_with_or_without_their_version() -> None:
    assert named("classic") is named("classic/1") is CLASSIC
    for name in ("", "war", "classic/2", "Classic"):
        with pytest.raises(NoSimulation):
            named(name)


def test_what_can_not_be_simulated_is_said() -> None:
    for rules in (GAMEWEAVE, named("fifty-states")):
        with pytest.raises(NoSimulation):
            settings_of(rules, {}, True)
    for given in ({"down": 2}, {"length": "long"}):
        with pytest.raises(NoSimulation):
            settings_of(CLASSIC, given, False)
    with pytest.raises(NoSimulation):
        settings_of(PLAYBOOK, {"down": 3}, False)


# ---------------------------------------------------------------- the picture


@pytest.mark.parametrize(
    "lengths", [{1: 1}, {7: 3}, {7: 1, 13: 9}, {100: 5, 4999: 1}, dict.fromkeys(range(1, 2000), 7)], ids=len
)
def test_a_histogram_shows_every_game_once_and_stays_in_its_frame(lengths: dict[int, int]) -> None:
    counted = Counter(lengths)
    picture = ElementTree.fromstring(svg(counted, "a & b <c>", 7))
    assert picture[0].text == "a & b <c>"
    bars = [each for each in picture if each.get("fill") == "#3b6ea5"]
    assert 1 <= len(bars) <= 62
    heights = [float(bar.get("height", 0)) for bar in bars]
    assert min(heights) > 0
    for bar in bars:
        assert float(bar.get("x", 0)) + float(bar.get("width", 0)) <= 760 - 24 + 0.1
        assert float(bar.get("y", 0)) >= 56


# ---------------------------------------------------------------- the command


def run(*words: str | Path) -> Invoked:
    return CliRunner().invoke(command, ["simulate", *map(str, words)])


def test_simulate_prints_the_sums_and_draws_the_plot(tmp_path: Path) -> None:
    picture = tmp_path / "lengths.svg"
    done = run("classic", "--seeds", "1-300", "--down", "1", "--length", "full", "--plot", picture)
    assert done.exit_code == 0, done.stderr
    for line in (
        "mean       305.72 battles",
        "longest    1378 (seed 20)",
        "games      300",
        "wars       6998",
        "seat 0     154 (51.33 %)",
        "draws      0 (0.00 %)",
        "  no_cards_for_war   31",
    ):
        assert line in done.stdout.splitlines()
    assert done.stderr.splitlines()[-1] == "300 of 300"
    ElementTree.fromstring(picture.read_text())


def test_simulate_by_the_products_own_dealing_comes_out_again() -> None:
    first, again = (run("gameweave/1", "--deals", "20", "--from", "5") for _ in range(2))
    assert first.exit_code == 0, first.stderr
    assert first.stdout == again.stdout
    assert first.stdout.startswith("gameweave/1, deals 5-24\n")


@pytest.mark.parametrize(
    "words",
    [
        ("chess", "--deals", "1"),
        ("classic",),
        ("classic", "--deals", "1", "--seeds", "1-2"),
        ("classic", "--seeds", "2-1"),
        ("classic", "--seeds", "1-4294967296"),
        ("classic", "--seeds", "one"),
        ("classic", "--seeds", "-1-2"),
        ("classic", "--deals", "0"),
        ("classic", "--deals", "1", "--down", "2"),
        ("playbook", "--deals", "1", "--length", "short"),
        ("gameweave", "--seeds", "1-2"),
        ("classic", "--deals", "1", "--plot", "lengths.png"),
    ],
    ids=" ".join,
)
def test_what_simulate_can_not_do_is_said(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert done.stderr.strip()
    assert isinstance(done.exception, SystemExit)
