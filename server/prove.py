"""Makes a game's proof from what is signed: its leaves, their way to the root, and its file in the archive."""

from events import ledger
from events.ledger import Ledger
from events.notes import VerifierKey
from projections import saved
from projections.proof import Place, Proof, check, save
from server.archive import CHECKPOINT, Archive, archive, game_path
from server.settings import Settings
from server.shared_keys import public_key
from server.signer import Signed, read_note
from server.stores import stores_to_read
from server.witness import witness


class NoProof(Exception):
    """Nothing can be proved of this game, and why."""


async def make_proof(settings: Settings, name: str) -> bytes:
    """A proof's bytes, of the game with this id in hex. Also while a server runs.

    Raises NoProof, stores.FAULTS, BadKeys."""
    if len(name) != 32 or not all(digit in "0123456789abcdef" for digit in name):
        raise NoProof(f"{name} is no game's id (32 hex digits)")
    if settings.redis is None and not settings.log.is_file():
        raise NoProof(f"there is no log at {settings.log}")
    game, kept = bytes.fromhex(name), archive(settings.archive)
    key = await public_key(settings, kept)
    note = await kept.get(CHECKPOINT)
    async with stores_to_read(settings) as opened:
        signed = None if note is None else read_note(note, key)
        written = await proof(opened.ledger, kept, signed, key, game)
    proven = check(written, key)
    if not proven.passed:
        raise NoProof(f"it doesn't prove itself: {proven.failure or proven.findings.failure}")
    return written


async def proof(ledger_: Ledger, kept: Archive, signed: Signed | None, key: VerifierKey, game: bytes) -> bytes:
    """A proof's bytes, not checked. Raises NoProof."""
    data = await kept.get(game_path(game))
    if signed is None or data is None:
        raise NoProof(f"nothing signed closes game {game.hex()}: it runs, is about to be signed, or isn't known here")
    places = []
    for once in (ledger.opening(game), ledger.closing(game)):
        index = await ledger_.find(once)
        if index is None or index >= signed.size:
            raise NoProof(f"game {game.hex()} isn't under the signed checkpoint yet")
        found = await witness(ledger_, signed, index)
        places.append(Place(index, found.entry, found.proof))
    return save(Proof(key, signed.note.decode(), places[0], places[1], saved.load(data))).encode()
