"""The three Wars as data, and their settings: the only place that knows where they differ (RULES.md, War)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from rules import open_deals
from rules.game import SECONDS_MAX, VERSUS, Reason, Refused, Settings


@dataclass(frozen=True, slots=True)
class Variant:
    """One War; with a game's settings put in, the rules of that game."""

    name: str
    ladder: str
    down: int
    """Face-down cards of a war, if a seat has them."""
    needs: int
    """A seat with fewer cards left can't begin a war."""
    keeps: int
    """Cards a seat doesn't lay face down, so that one is there to turn up."""
    short: tuple[str, str]
    """Why the game ends at a war that can't be fought: the seat with fewer cards left loses; both have as many."""
    short_takes: bool
    """Whether the cards in play are taken at such an end; else they stay on the table, nobody's."""
    shuffled: bool
    """Whether won cards go back in random order; else the winner's, then the loser's, each as they were played."""
    limit: int | None
    """The game ends after this battle. (A battle's number has two bytes in the streams of chance.)"""
    limit_counts: bool
    """Whether more cards win then; else it is a draw."""
    times: int
    """Battles that one command may turn."""
    downs: tuple[int, ...]
    """What the setting `down` may be, the default first; none: there is no such setting."""
    lengths: tuple[tuple[str, int], ...]
    """What the setting `length` may be, the default first, and the limits they mean."""
    seeds: bool
    """Whether the setting `seed` makes an open deal."""


PLAYBOOK: Final = Variant(
    name="playbook/1",
    ladder="playbook",
    down=1,
    needs=2,
    keeps=1,
    short=("shortage", "equal_shortage"),
    short_takes=False,
    shuffled=False,
    limit=500,
    limit_counts=False,
    times=10,
    downs=(),
    lengths=(),
    seeds=False,
)
GAMEWEAVE: Final = Variant(
    name="gameweave/1",
    ladder="gameweave",
    down=3,
    needs=0,
    keeps=0,
    short=("cannot_flip", "cannot_flip"),
    short_takes=False,
    shuffled=True,
    limit=None,
    limit_counts=False,
    times=1,
    downs=(),
    lengths=(),
    seeds=False,
)
CLASSIC: Final = Variant(
    name="classic/1",
    ladder="classic",
    down=3,
    needs=1,
    keeps=1,
    short=("no_cards_for_war", "both_out_at_war"),
    short_takes=True,
    shuffled=False,
    limit=5000,
    limit_counts=True,
    times=1,
    downs=(3, 1),
    lengths=(("full", 5000), ("short", 100)),
    seeds=True,
)
VARIANTS: Final[Mapping[str, Variant]] = {variant.name: variant for variant in (PLAYBOOK, GAMEWEAVE, CLASSIC)}

MODES = ("house", VERSUS)
TURN_SECONDS = 5
"""Between people, if nothing else was set."""


def settings(variant: Variant, mode: str, given: Mapping[str, int | str]) -> Settings | Refused:
    """The variant's settings with what was left out; a seed only if one was given."""
    if mode not in MODES:
        return Refused(Reason.UNKNOWN_MODE)
    named: dict[str, tuple[int | str, ...]] = {
        "down": variant.downs,
        "length": tuple(length for length, _ in variant.lengths),
    }
    allowed = {name: values for name, values in named.items() if values}
    whole = {name: values[0] for name, values in allowed.items()}
    if mode == VERSUS:
        whole["turn_seconds"] = TURN_SECONDS
    for name, value in given.items():
        if name == "seed" and variant.seeds:
            # Text isn't guessed at, not even digits; and True is no 1.
            if type(value) is not int or not 0 <= value <= open_deals.SEED_MAX:
                return Refused(Reason.BAD_SEED)
        elif name == "turn_seconds" and mode == VERSUS:
            if type(value) is not int or not 1 <= value <= SECONDS_MAX:
                return Refused(Reason.UNKNOWN_SETTING)
        elif value not in allowed.get(name, ()) or type(value) is bool:
            return Refused(Reason.UNKNOWN_SETTING)
        whole[name] = value
    return tuple(sorted(whole.items()))


@lru_cache(maxsize=256)  # of few settings, but those with a seed are of one game alone
def in_force(variant: Variant, settings: Settings) -> Variant:
    """The variant as a game with these settings plays it."""
    for setting in settings:
        match setting:
            case ("down", int(down)):
                variant = replace(variant, down=down)
            case ("length", str(length)):
                variant = replace(variant, limit=dict(variant.lengths)[length])
            case _:
                assert setting[0] in ("seed", "turn_seconds")
    return variant
