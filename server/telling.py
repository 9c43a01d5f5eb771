"""Facts as sentences, for the terminal. Each game's own facts have their sentences here."""

import datetime
from typing import Any

from projections.replay import Moment
from rules import cards, fifty_states, game, war
from rules.cast import CAST
from rules.game import SEATS, Card
from rules.states import STATES

_NAMES = {steward.slug: steward.name for steward in CAST}


Seats = tuple[int, ...]
"""Whose hands are told, where the log opens them."""


def told(moment: Moment, seats: Seats = SEATS) -> str | None:
    """One sentence for a moment of a game; None where there is nothing to tell."""
    fact: Any = moment.fact
    match fact:
        case game.Opened(rules=rules, mode=mode, at_ms=at_ms):
            when = datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC)
            return f"A game of {rules}, {mode}, opened {when:%Y-%m-%d %H:%M} UTC."
        case game.Seated(seat, player, rival):
            house = _NAMES.get(rival, rival) or "the computer"
            return f"Seat {seat}: {'player ' + player.hex()[:8] if player else house}."
        case game.Reserved(seat, player):
            return f"Seat {seat} is kept for player {player.hex()[:8]}."
        case game.Credited(ms):
            return f"{ms / 1000:g} s are given back: no server was up."
        case game.Dealt((a, b)):
            return f"Dealt: {a} cards and {b}. {_hands(moment, seats)}".rstrip()
        case fifty_states.Committed(seat, battle):
            return f"Battle {battle}: seat {seat} seals its card."
        case fifty_states.Revealed(seat, _, card) | fifty_states.Played(seat, _, card):
            return f"  Seat {seat} shows {_card(card)}."
        case fifty_states.Captured(seat, _, card, discarded):
            return f"  Seat {seat} wins with {_card(discarded)}, which leaves the game, and captures {_card(card)}."
        case fifty_states.RoundEnded(round_):
            return f"Round {round_} ends. {_hands(moment, seats)}".rstrip()
        case war.Turned(battle, (a, b)):
            where = f"Battle {battle}:" if len(moment.table.position.rows) == 1 else " "
            return f"{where} {cards.name(a)} against {cards.name(b)}."
        case war.Laid(_, (a, b)):
            return f"  War! Face down: {a} and {b}."
        case war.Taken(_, seat, count):
            piles = " and ".join(map(str, moment.table.position.sizes))
            return f"  Seat {seat} takes {count} cards. Piles: {piles}."
        case game.Resigned(seat):
            return f"Seat {seat} resigns."
        case game.TimeUp(owing):
            return f"Time is up for seat {' and seat '.join(map(str, owing))}."
        case game.Lost(version):
            return f"The operator lost what had been shown after event {version}: that counts against the operator."
        case game.Finished(None, reason):
            return f"The game ends without a winner ({reason})."
        case game.Finished(winner, reason):
            return f"Seat {winner} wins ({reason})."
        case game.Unsealed():
            return "S is published: anyone can check the deal now."
        case _:
            return None


def _card(card: Card) -> str:
    return f"{STATES[card - 1].name} ({card})"


def _hands(moment: Moment, seats: Seats) -> str:
    if moment.hands is None or moment.hands == ((), ()):
        return ""
    return " ".join(f"Seat {seat}: {', '.join(map(_card, moment.hands[seat])) or 'nothing'}." for seat in seats)
