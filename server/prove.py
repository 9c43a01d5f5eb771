"""Makes a game's proof from what is signed: its leaves, their way to the root, and its file in the archive."""

from events import ledger
from events.database import Database
from events.sqlite_ledger import SqliteLedger
from projections import saved
from projections.proof import Place, Proof, check, save
from server.archive import CHECKPOINT, archive, game_path
from server.keys import ledger_key
from server.settings import Settings
from server.signer import read_note, signer
from server.witness import witness


class NoProof(Exception):
    """Nothing can be proved of this game, and why."""


async def make_proof(settings: Settings, name: str) -> bytes:
    """A proof's bytes, of the game with this id in hex. Also while a server runs.

    Raises NoProof, FileNotFoundError, Newer, BadKeys."""
    if len(name) != 32 or not all(digit in "0123456789abcdef" for digit in name):
        raise NoProof(f"{name} is no game's id (32 hex digits)")
    if not settings.log.is_file():
        raise NoProof(f"there is no log at {settings.log}")
    game, kept = bytes.fromhex(name), archive(settings.archive)
    key = signer(ledger_key(settings.keys)).key
    note, data = await kept.get(CHECKPOINT), await kept.get(game_path(game))
    if note is None or data is None:
        raise NoProof(f"nothing signed closes game {name}: it runs, is about to be signed, or isn't known here")
    signed = read_note(note, key)
    database = await Database.reader(settings.log)
    try:
        places = []
        for once in (ledger.opening(game), ledger.closing(game)):
            index = await SqliteLedger(database).find(once)
            if index is None or index >= signed.size:
                raise NoProof(f"game {name} isn't under the signed checkpoint yet")
            found = await witness(SqliteLedger(database), signed, index)
            places.append(Place(index, found.entry, found.proof))
    finally:
        await database.close()
    written = save(Proof(key, signed.note.decode(), places[0], places[1], saved.load(data))).encode()
    proven = check(written, key)
    if not proven.passed:
        raise NoProof(f"it doesn't prove itself: {proven.failure or proven.findings.failure}")
    return written
