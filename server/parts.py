"""What the endpoints work with, as server/app.py joins it."""

from collections.abc import Callable
from dataclasses import dataclass

from events.database import Database
from events.ledger import Ledger
from events.log import Log
from server.archive import Archive
from server.audience import Audience
from server.board_feeds import BoardFeeds
from server.boards import Boards
from server.clock import Beats, Sweep
from server.doors import Doors
from server.games import Games
from server.hall import Hall
from server.joins import Joins
from server.letting_go import LettingGo
from server.people import People
from server.projector import Projector
from server.replaying import Recordings
from server.sequencer import Sequencer
from server.sessions import Sessions
from server.settings import Settings
from server.signed import SignedPrefix
from server.signer import Publisher
from server.tally import Tally


@dataclass(slots=True)
class Parts:
    """What the endpoints work with."""

    settings: Settings
    clock: Callable[[], int]
    log: Log
    games: Games
    audience: Audience
    recordings: Recordings
    people: People
    ledger: Ledger
    sequencer: Sequencer
    publisher: Publisher
    letting_go: LettingGo
    archive: Archive
    signed: SignedPrefix
    projector: Projector
    boards: Boards
    boards_database: Database
    hall: Hall
    board_feeds: BoardFeeds
    joins: Joins
    beats: Beats
    sweep: Sweep
    tally: Tally
    doors: Doors
    sessions: Sessions
    connections: int = 0
