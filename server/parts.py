"""What the endpoints work with, as server/app.py joins it."""

from collections.abc import Callable
from dataclasses import dataclass

from events.ledger import Ledger
from events.log import Log
from server.archive import Archive
from server.audience import Audience
from server.board_feeds import BoardFeeds
from server.boards import Boards
from server.games import Games
from server.hall import Hall
from server.people import People
from server.projector import Projector
from server.sequencer import Sequencer
from server.settings import Settings
from server.signer import Publisher


@dataclass(slots=True)
class Parts:
    """What the endpoints work with."""

    settings: Settings
    clock: Callable[[], int]
    log: Log
    games: Games
    audience: Audience
    people: People
    ledger: Ledger
    sequencer: Sequencer
    publisher: Publisher
    archive: Archive
    projector: Projector
    boards: Boards
    hall: Hall
    board_feeds: BoardFeeds
    connections: int = 0
