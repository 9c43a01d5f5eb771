"""What the queue pairs by: a player's rating as the signed ledger gives it."""

from projections import elo
from projections.leaderboard import LEADERBOARD, RATED, prefix
from projections.windows import ALL
from server.projector import Projector
from server.view import NotReady


async def rating(projector: Projector, player: bytes, ladder: str) -> int:
    """In hundredths; where there is none yet, or it is being rebuilt, what everybody begins with."""
    if ladder != RATED:
        return elo.START
    key = prefix(ladder, ALL) + player
    try:
        found = await projector.read(LEADERBOARD.name, key, limit=1)
    except NotReady:
        return elo.START
    return found.rows[0][1].rating if found.rows else elo.START
