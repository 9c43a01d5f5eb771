"""What the endpoints work with, as server/app.py joins it."""

from collections.abc import Callable
from dataclasses import dataclass

from events.log import Log
from server.audience import Audience
from server.games import Games
from server.people import People
from server.records import Records
from server.settings import Settings


@dataclass(slots=True)
class Parts:
    """What the endpoints work with."""

    settings: Settings
    clock: Callable[[], int]
    log: Log
    games: Games
    audience: Audience
    people: People
    records: Records
    connections: int = 0
