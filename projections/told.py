"""What a game's log must have told the ledger: its two leaves, made again from its events."""

from events import codec
from events.entries import Closing, Opening
from projections.saved import Saved
from rules import game
from rules.catalogue import RULES
from rules.game import HOUSE_SEAT, Finished, Table


def told(game_: Saved) -> tuple[Opening | None, Closing | None]:
    """The opening (of which a log doesn't know what it names) and the closing; None for what hasn't happened.

    For a log that audit passes."""
    events = [codec.decode(stored.body) for stored in game_.events]
    opening: Opening | None = None
    closing: Closing | None = None
    table = Table(game_.game)
    for at, event in enumerate(events):
        opened = event.fact if at == 0 else table.opened
        assert isinstance(opened, game.Opened)
        rules = RULES[opened.rules]
        table = game.evolve(rules, table, event.fact)
        if at + 1 < len(events) and events[at + 1].cause == event.cause:
            continue  # What an append tells, it tells of its end.
        house = table.seats[HOUSE_SEAT]
        players = tuple(seated.player if seated else b"" for seated in table.seats)
        last = game_.events[at]
        head = (game_.game, last.version, last.hash, event.at_ms, opened.rules, f"{rules.ladder}-{opened.mode}")
        who = (opened.counts, (players[0], players[1]), house.rival if house else "")
        if opening is None and None not in table.seats:
            opening = Opening(*head, *who)
        if opening is not None and closing is None and isinstance(finished := table.finished, Finished):
            closing = Closing(*head, *who, finished.winner, finished.reason, table.late)
    return opening, closing
