"""Who may sign the ledger: one process at a time, of a machine or of all servers of a Redis.

On Redis the pen is held by a key that expires when its holder is no more. A holder that slept through that is found out
before it signs: what is to be signed is first claimed, in the ledger's own slot, by whoever holds the pen then, and
never less than what was claimed before. The next holder signs nothing that doesn't begin with it.
"""

import asyncio
import contextlib
import fcntl
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from events.log import Unknown
from events.redis_ledger import TAG
from events.redis_script import Script
from events.redis_store import RedisStore

HELD_MS = 5000
"""After so long without a sign of its holder the pen is free."""
KEEP_SECONDS = 1.0
LET_GO_SECONDS = 3.0
AGAIN_SECONDS = 0.2
LOCK = "ledger.lock"
PEN, CLAIMED = b"{ledger}:pen", b"{ledger}:claimed"


class Refuses(Exception):
    """Nothing is signed, and why, and what to do."""


class Signing(Refuses):
    """Another process signs, or is to."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A tree that somebody was about to sign."""

    size: int
    root: bytes


class Pen(Protocol):
    async def take(self) -> bool:
        """Hold it, or go on holding it: whether nobody else can have held it since this was asked last. Raises Signing,
        Unknown."""

    async def claimed(self) -> Claimed | None:
        """The furthest that a holder was about to sign, as far as that is known. Raises Unknown."""

    async def claim(self, claimed: Claimed) -> None:
        """This is signed next. Raises Signing where another may have held the pen since it was taken, Unknown."""

    def check(self) -> None:
        """Without asking anybody. Raises Signing where another may have taken the pen by now."""

    async def forget(self) -> None:
        """What was claimed is no more: the store was brought back to what the archive holds. Raises Unknown."""

    async def let_go(self) -> None:
        """Whether it is held or not."""


async def taken_up(pen: Pen) -> None:
    """Hold it. Of a Redis, whoever was killed with it in hand, or was brought back from a backup, holds it for a while
    yet: that is waited for; a file's is free at once. Raises Signing, Unknown."""
    now = asyncio.get_running_loop().time
    until = now() + (HELD_MS / 1000 + 1 if isinstance(pen, RedisPen) else 0)
    while True:
        try:
            await pen.take()
            return
        except Signing:
            if now() >= until:
                raise
        await asyncio.sleep(AGAIN_SECONDS)


class FilePen:
    """Of a file's one server. The lock ends with the process, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._lock: int | None = None

    async def take(self) -> bool:
        if self._lock is not None:
            return True
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise Signing(f"another process signs ({self._path})") from None
        self._lock = lock
        return False

    async def claimed(self) -> Claimed | None:
        return None

    async def claim(self, claimed: Claimed) -> None:
        self.check()

    def check(self) -> None:
        assert self._lock is not None

    async def forget(self) -> None:
        pass

    async def let_go(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def is_locked(path: Path) -> bool:
    """Whether a process holds that lock."""
    try:
        lock = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that servers of one directory that look at once don't see each other.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


_TAKE = Script(
    """
    local holder = redis.call('GET', KEYS[1])
    if holder and holder ~= ARGV[1] then return 0 end
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
    return holder and 2 or 1
    """
)
"""2: it was held on."""
_CLAIM = Script(
    """
    local pen, claimed = unpack(KEYS)
    local holder, size, root = unpack(ARGV)
    if redis.call('GET', pen) ~= holder then return 0 end
    if tonumber(redis.call('HGET', claimed, 'size') or '0') > tonumber(size) then return 0 end
    redis.call('HSET', claimed, 'size', size, 'root', root)
    return 1
    """
)
_FORGET = Script("redis.call('UNLINK', KEYS[1])", flags="allow-oom")
_LET_GO = Script("if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('UNLINK', KEYS[1]) end", flags="allow-oom")


class RedisPen:
    """Of all servers of a Redis: `{ledger}:pen` is its holder, `{ledger}:claimed` a hash of size and root."""

    def __init__(self, store: RedisStore, folder: Path | None = None) -> None:
        """`folder`: of the ledger's key, where a release before this pen signs under a FilePen."""
        self._store = store
        self._path = None if folder is None else folder / LOCK
        self._id = secrets.token_bytes(16)
        self._until = 0.0
        """When it is to be taken for lost, on the loop's clock: a little earlier than it is."""
        self._lapsed = True
        """Whether another may have held it since it was taken."""
        self._keeping: asyncio.Task[None] | None = None

    async def take(self) -> bool:
        if self._path is not None and is_locked(self._path):
            await self.let_go()
            raise Signing(f"a server of an older release signs ({self._path})")
        if asyncio.get_running_loop().time() >= self._until:
            await self._take()
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep())
        was_held, self._lapsed = not self._lapsed, False
        return was_held

    async def _take(self) -> None:
        now = asyncio.get_running_loop().time()
        try:
            taken = await self._store.write(TAG, _TAKE, (PEN,), (self._id, HELD_MS))
        except Unknown:
            self._lapsed = True  # Perhaps it was free before.
            raise
        if not taken:
            self._until = 0.0
            raise Signing("another server signs")
        self._until = now + HELD_MS / 1000
        self._lapsed = self._lapsed or taken == 1

    async def _keep(self) -> None:
        """As long as it is held, however long the archive takes meanwhile."""
        while True:
            await asyncio.sleep(KEEP_SECONDS)
            try:
                await self._take()
            except Signing:
                return
            except Unknown:
                continue

    async def claimed(self) -> Claimed | None:
        size, root = await self._store.read(TAG, "HMGET", CLAIMED, "size", "root")
        return Claimed(int(size), root) if root is not None else None

    async def claim(self, claimed: Claimed) -> None:
        if self._lapsed:
            raise Signing("another server may have signed meanwhile")
        if not await self._store.write(TAG, _CLAIM, (PEN, CLAIMED), (self._id, claimed.size, claimed.root)):
            self._until = 0.0
            raise Signing("another server has begun to sign")

    def check(self) -> None:
        if self._lapsed or asyncio.get_running_loop().time() >= self._until:
            raise Signing("another server may have begun to sign")

    async def forget(self) -> None:
        await self._store.write(TAG, _FORGET, (CLAIMED,), ())

    async def let_go(self) -> None:
        if self._keeping is None:
            return
        self._keeping.cancel()
        await asyncio.gather(self._keeping, return_exceptions=True)
        self._keeping, self._until = None, 0.0
        # If that can't be told now it is free a little later all the same.
        with contextlib.suppress(Unknown, TimeoutError):
            async with asyncio.timeout(LET_GO_SECONDS):
                await self._store.write(TAG, _LET_GO, (PEN,), (self._id,))


class NoPen:
    """Of a server that isn't to sign, and follows the one that does."""

    def __init__(self, pen: Pen) -> None:
        self._pen = pen

    async def take(self) -> bool:
        raise Signing("this server isn't to sign (STATECRAFT_SIGNS)")

    async def claimed(self) -> Claimed | None:
        return await self._pen.claimed()

    async def claim(self, claimed: Claimed) -> None:
        self.check()

    def check(self) -> None:
        raise Signing("this server isn't to sign (STATECRAFT_SIGNS)")

    async def forget(self) -> None:
        raise AssertionError("who doesn't sign refills nothing")

    async def let_go(self) -> None:
        pass
