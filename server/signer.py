"""Publishes the ledger and signs it: first the archive holds what is signed, then there is a signature.

Exactly one process signs (it holds the pen: server/pen.py); the others of its store read on, and one of them takes
over. What is signed is final: the last signed note is kept in the archive and beside the key, and nothing is ever
signed that doesn't begin with what both of them say. docs/audit.md has the formats.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import structlog
from obstore.exceptions import BaseError

from events import chain, entries, ledger, merkle, notes, tiles
from events.entries import Closing
from events.ledger import Ledger
from events.log import LetGo, Log, Unknown
from events.merkle import Frontier, leaf_hash
from events.notes import BadCheckpoint, BadNote, Checkpoint, VerifierKey
from events.tiles import WIDTH, Bundle, Tile
from projections import saved
from server.archive import CHECKPOINT, KEY, Archive, Different, game_path, read_file, write_file
from server.pen import Claimed, Pen, Refuses, Signing

SIGN_SECONDS = 0.25
"""Between two looks, and so between two signatures."""
FOLLOW_SECONDS = 0.5
"""Between two looks at what another process has signed, and whether it still does."""
BEHIND_SECONDS_MAX = 15.0
"""Without a note of what another process was about to sign: it isn't this archive, or that one can't write there."""
LEAVES_MAX = 4096
"""Under one signature more than under the last, so that publishing takes a bounded amount of memory."""

log_line = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Signed:
    """A checkpoint under the ledger's key."""

    checkpoint: Checkpoint
    note: bytes

    @property
    def size(self) -> int:
        return self.checkpoint.size


def signer(private: bytes) -> notes.Signer:
    """Who signs with this key. A ledger's name comes from its key, so no two ledgers share one."""
    unnamed = notes.Signer("unnamed", private).key
    return notes.Signer(f"statecraft/{sha256(unnamed.public).hexdigest()[:16]}", private)


def read_note(note: bytes, key: VerifierKey) -> Signed:
    """Raises BadNote, BadCheckpoint."""
    return Signed(Checkpoint.parse(notes.read(note, [key]).text, key.name), note)


class Publisher:
    """The ledger's one signing hand. `signed` is what everybody may read."""

    def __init__(
        self, ledger_: Ledger, log: Log, archive: Archive, hand: notes.Signer | VerifierKey, folder: Path, pen: Pen
    ) -> None:
        """`hand`: the ledger's key; the public one alone where the pen is never taken. `folder`: where notes are."""
        self._ledger = ledger_
        self._log = log
        self._archive = archive
        self._hand = hand
        self._folder = folder
        self._pen = pen
        self._holds = False
        """Whether the ledger was held against both notes since the pen was taken."""
        self._behind_since: float | None = None
        self._archived = 0
        """Leaves that the archive's own note covers."""
        self._grown = asyncio.Event()
        """Replaced at each signature."""
        self._listeners: list[Callable[[], None]] = []
        self.signed: Signed | None = None
        self.refusal: str | None = None
        """Why nothing is signed just now."""
        self.begun = asyncio.Event()
        """Set once `signed` is all that was ever signed: before, it may be less."""

    def listen(self, listener: Callable[[], None]) -> None:
        """Be told, on the event loop, whenever more is signed. Must not raise."""
        self._listeners.append(listener)

    @property
    def key(self) -> VerifierKey:
        return self._hand.key if isinstance(self._hand, notes.Signer) else self._hand

    async def run(self) -> None:
        """For ever. What keeps it from signing it says once, and tries again."""
        try:
            while True:
                seconds, refusal = SIGN_SECONDS, None
                try:
                    try:
                        await self.sign()
                    except Signing:
                        # Until that one ends: then it is this one's turn.
                        await self._follow()
                        seconds = FOLLOW_SECONDS
                except Refuses as refuses:
                    refusal = str(refuses)
                except Unknown as error:
                    refusal = f"the store can't be used: {error}"
                except (OSError, BaseError) as error:
                    refusal = f"the archive or the keys' folder can't be used: {error}"
                if refusal is not None and refusal != self.refusal:
                    log_line.error("the ledger isn't signed", why=refusal)
                self.refusal = refusal
                await asyncio.sleep(seconds)
        finally:
            await self.close()

    async def close(self) -> None:
        self._holds = False
        await self._pen.let_go()

    async def sign(self) -> bool:
        """Publish and sign what is new, at most LEAVES_MAX leaves; whether there is more. Raises Refuses."""
        try:
            if not await self._pen.take():
                self._holds = False
            if not self._holds:
                await self._begin_or_let_go()
            return await self._sign()
        except Signing:
            self._holds = False
            raise

    async def _sign(self) -> bool:
        assert isinstance(self._hand, notes.Signer), "who has no key isn't given the pen"
        head = await self._ledger.head()
        size = self.signed.size if self.signed else 0
        if head.size < size or (self.signed and await self._root(size) != self.signed.checkpoint.root):
            raise Refuses(_went_another_way(size, head.size))
        if head.size == size:
            return False
        target = min(head.size, size + LEAVES_MAX)
        checkpoint = Checkpoint(self.key.name, target, await self._root(target))
        await self._check_consistency(checkpoint)
        await self._publish(checkpoint)
        await self._pen.claim(Claimed(target, checkpoint.root))
        note = notes.sign(str(checkpoint), self._hand)
        await asyncio.to_thread(write_file, self._folder / "ledger.note", note, over=True)
        # The archive may be slow, and a process may sleep: an older note would stand there in a newer one's place.
        self._pen.check()
        await self._archive.put({CHECKPOINT: note}, over=True)
        before, self._archived = self._archived, target
        self._show(Signed(checkpoint, note))
        await self._tidy(before, target)
        return target < head.size

    async def _follow(self) -> None:
        """What another process has signed and published. Raises Refuses."""
        kept = self._noted("the archive's checkpoint", await self._archive.get(CHECKPOINT))
        if kept is not None and (self.signed is None or kept.size > self.signed.size):
            await self._keep(kept)
            self._show(kept)
        self.begun.set()
        await self._check_behind()

    async def _keep(self, signed: Signed) -> None:
        """Beside the key, for whoever takes the pen later, and for what reads it there."""
        own = self._noted("the note beside the key", read_file(self._folder / "ledger.note"))
        if own is None or own.size < signed.size:
            with contextlib.suppress(OSError):  # Where nothing may be written nobody signs.
                await asyncio.to_thread(write_file, self._folder / "ledger.note", signed.note, over=True)

    async def _check_behind(self) -> None:
        """Raises Refuses if for long nothing is here of what another process signs."""
        claimed, now = await self._pen.claimed(), asyncio.get_running_loop().time()
        if claimed is None or (self.signed is not None and self.signed.size >= claimed.size):
            self._behind_since = None
        elif self._behind_since is None:
            self._behind_since = now
        elif now - self._behind_since > BEHIND_SECONDS_MAX:
            raise Refuses(
                f"another server has {claimed.size} leaves to sign, and this archive has a note of "
                f"{self.signed.size if self.signed else 0}: it can't write there, or names another archive "
                "(STATECRAFT_ARCHIVE)"
            )

    def _show(self, signed: Signed) -> None:
        self.signed = signed
        self._grown.set()
        self._grown = asyncio.Event()
        for listener in self._listeners:
            listener()

    async def covers(self, index: int, seconds_max: float) -> Signed | None:
        """The first checkpoint seen with that leaf under it; None if there is none in time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds_max):
                while self.signed is None or self.signed.size <= index:
                    await self._grown.wait()
        return self.signed if self.signed is not None and self.signed.size > index else None

    # ------------------------------------------------------------ the beginning

    async def _begin_or_let_go(self) -> None:
        """Whoever can't begin keeps nobody else from it."""
        try:
            await self._begin()
        except BaseException:
            await self._pen.let_go()
            raise
        self._holds = True

    async def _begin(self) -> None:
        """Hold the ledger against both notes, and against what the last holder of the pen claimed. Raises Refuses."""
        own = self._noted("the note beside the key", read_file(self._folder / "ledger.note"))
        kept = self._noted("the archive's checkpoint", await self._archive.get(CHECKPOINT))
        head, claimed = await self._ledger.head(), await self._pen.claimed()
        stood = [(noted.size, noted.checkpoint.root) for noted in filter(None, (own, kept))]
        if claimed is not None:
            stood.append((claimed.size, claimed.root))
        for size, root in stood:
            if head.size < size or await self._root(size) != root:
                raise Refuses(_went_another_way(size, head.size))
        await self._put({KEY: f"{self.key}\n".encode()}, over=False)
        self._archived = kept.size if kept else 0
        # Between the two writes the one beside the key is ahead: what it covers is in the archive already.
        last = max(filter(None, (own, kept)), key=lambda noted: noted.size, default=None)
        if last is not None:
            if self._archived < last.size:
                await self._publish(last.checkpoint)
                await self._archive.put({CHECKPOINT: last.note}, over=True)
                self._archived = last.size
            await asyncio.to_thread(write_file, self._folder / "ledger.note", last.note, over=True)
            self._show(last)
        self.begun.set()

    def _noted(self, where: str, note: bytes | None) -> Signed | None:
        if note is None:
            return None
        try:
            return read_note(note, self.key)
        except (BadNote, BadCheckpoint) as error:
            why = f"{where} isn't signed by {self.key}: {error}. Restore keys/ledger.key, or name another archive"
            raise Refuses(why) from error

    async def _check_consistency(self, checkpoint: Checkpoint) -> None:
        """By the same proof a stranger would ask for. Raises Refuses."""
        if self.signed is None or self.signed.size == 0:
            return
        old, new = self.signed.size, checkpoint.size
        ranges = merkle.consistency_leaves(old, new)
        hash_of = await ledger.read(self._ledger, [node for leaves in ranges for node in merkle.nodes(leaves)])
        try:
            merkle.check_consistency(
                old, new, self.signed.checkpoint.root, checkpoint.root, merkle.consistency(old, new, hash_of)
            )
        except merkle.Unproven as error:
            raise Refuses(f"{_went_another_way(old, new)} ({error})") from error

    async def _root(self, size: int) -> bytes:
        return merkle.root(size, await ledger.read(self._ledger, merkle.nodes((0, size))))

    # ------------------------------------------------------------ the archive

    async def _publish(self, checkpoint: Checkpoint) -> None:
        """Everything that a reader of this checkpoint may ask for, durably. Raises Refuses."""
        for size in range(self._archived, checkpoint.size, LEAVES_MAX):
            await self._publish_from(size, min(size + LEAVES_MAX, checkpoint.size))

    async def _publish_from(self, old: int, new: int) -> None:
        first = old - old % WIDTH
        bodies = await self._ledger.leaves(first, new - first)
        edge = [node for tile in tiles.edge(old) for node in _nodes(tile)]
        hash_of = await ledger.read(self._ledger, [*edge, *merkle.nodes((0, old))])
        hashes = [leaf_hash(body) for body in bodies[old - first :]]
        after, made = tiles.grow(old, hashes, hash_of)
        if after != await self._frontier(new):
            raise Refuses("the ledger's leaves don't give its nodes: the store is damaged")
        await self._put(await self._games(bodies[old - first :]), over=False)
        files = {tile.path: data for tile, data in made}
        for bundle in tiles.bundles_made(old, new):
            start = bundle.index * WIDTH - first
            files[bundle.path] = tiles.bundle(bodies[start : start + bundle.width])
        # What no note covers yet may have been put by a process that was killed before it signed.
        await self._archive.put(files, over=True)

    async def _games(self, bodies: Sequence[bytes]) -> dict[str, bytes]:
        """The files of the games that these leaves close."""
        files = {}
        for body in bodies:
            entry = entries.decode(body)
            if isinstance(entry, Closing):
                files[game_path(entry.game)] = await self._game(entry)
        return files

    async def _game(self, entry: Closing) -> bytes:
        try:
            events = await self._log.read(entry.game)
        except LetGo:
            events = ()
        ends_well = bool(events) and (events[-1].version, events[-1].hash) == (entry.version, entry.hash)
        if not ends_well or chain.check(chain.origin(entry.game), events) is not None:
            kept = await self._archive.get(game_path(entry.game))
            if kept is not None:
                return kept  # It was let go, or lost, after it had been put there.
            raise Refuses(f"the log of game {entry.game.hex()} doesn't end as its closing leaf says")
        return saved.save(entry.game, events).encode()

    async def _put(self, files: dict[str, bytes], over: bool) -> None:
        try:
            await self._archive.put(files, over)
        except Different as error:
            raise Refuses(f"the archive holds another {error}: it belongs to another ledger, or was changed") from error

    async def _frontier(self, size: int) -> Frontier:
        return Frontier.read(size, await ledger.read(self._ledger, merkle.nodes((0, size))))

    async def _tidy(self, old: int, new: int) -> None:
        """Partial tiles and bundles whose full ones are signed now: a reader asks for those instead."""
        for tile in tiles.made(old, new):
            if tile.width == WIDTH:
                await self._archive.remove_folder(f"{tile.path}.p")
        for bundle in tiles.bundles_made(old, new):
            if bundle.width == WIDTH:
                await self._archive.remove_folder(f"{bundle.path}.p")


def is_signed(what: Tile | Bundle, size: int) -> bool:
    """Whether a tile or bundle belongs to a tree of `size` leaves."""
    level = what.level * tiles.HEIGHT if isinstance(what, Tile) else 0
    return what.index * WIDTH + what.width <= size >> level


def _nodes(tile: Tile) -> list[merkle.Node]:
    first = tile.index * WIDTH
    return [(tile.level * tiles.HEIGHT, index) for index in range(first, first + tile.width)]


def _went_another_way(signed: int, held: int) -> str:
    return (
        f"{signed} leaves are signed, and this store's ledger, of {held}, doesn't begin with them: it comes from an "
        "older backup, or from elsewhere. Nothing is signed until `statecraft refill` has brought them back"
    )
