"""A deployment of Redis as one thing to read and write: finds whoever holds a key, and follows when that changes.

A write is sent once. It is sent again only after an answer that says it didn't run (moved, loading, script missing);
what ends without an answer is Unknown. Reads are repeated until they are answered.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import hiredis

from events.log import PARTITIONS, Unknown
from events.redis_address import Address, Place
from events.redis_again import PAUSE_SECONDS, Again
from events.redis_connection import Connection, Lost, Refused, Reply, Value, connect, fence_beside
from events.redis_durability import Durability, facts, findings, refusal
from events.redis_script import Script
from events.redis_topology import SLOTS, Patience, Range, Unreachable, primaries, slot_of

FORMAT = "1"
SCANNED = 1000
"""Keys looked at by one command."""
NOT_RUN = {"TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "NOREPLICAS", "BUSY"}
"""Answers of a server that can't run it now."""

Heard = Callable[[bytes, bytes], None]
"""(channel, message)"""


class BadStore(Exception):
    """What is stored there is of another version, or isn't ours."""


_FORMAT = Script(
    """
    redis.call('HSETNX', KEYS[1], 'format', ARGV[1])
    redis.call('HSETNX', KEYS[1], 'partitions', ARGV[2])
    return redis.call('HMGET', KEYS[1], 'format', 'partitions')
    """,
    flags="allow-oom",
)


@dataclass(eq=False, slots=True)
class _Node:
    """A primary, and what it was asked to tell. Long reads don't hold up writes: each has its own connection."""

    place: Place
    writes: Connection
    reads: Connection
    channels: set[bytes] = field(default_factory=set)

    @property
    def alive(self) -> bool:
        return self.writes.alive and self.reads.alive

    def close(self) -> None:
        self.writes.close()
        self.reads.close()


class RedisStore:
    """Opened with `open`; `events/redis_log.py` and `events/redis_ledger.py` work with it."""

    def __init__(self, address: Address, durability: Durability, patience: Patience) -> None:
        self.address = address
        self.durability = durability
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._nodes: dict[Place, _Node] = {}
        self._owners: list[_Node | None] = [None] * SLOTS
        self._guests: set[Place] = set()
        """Nodes that are taking slots over: they hold none yet, and are asked all the same."""
        self._room = asyncio.Semaphore(patience.in_flight_max)
        self._stale = asyncio.Event()
        self._changed = asyncio.Event()
        """Replaced whenever it was looked who holds what."""
        self.trouble: Exception | None = None
        """Why not every key has a server now."""
        self._trouble_at: float | None = None
        """When it began, on the event loop's clock."""
        self._listeners: dict[bytes, Heard] = {}
        """By channel."""
        self._joined: list[Callable[[], None]] = []
        self._looking: asyncio.Task[None] | None = None
        self._joining = asyncio.Lock()

    @classmethod
    async def open(cls, address: Address, durability: Durability, patience: Patience | None = None) -> Self:
        """Raises Unreachable, Refused (with what to change), BadStore."""
        store = cls(address, durability, patience or Patience())
        try:
            await store._find()
            store._looking = asyncio.create_task(store._keep_looking())
            await store._check_format()
        except BaseException:
            await store.close()
            raise
        return store

    async def _find(self) -> None:
        """The first look, patient for a moment: servers that are started together come up together."""
        until = self._loop.time() + self._patience.connect_seconds_max
        # Replicas may be on their way, and Sentinels about to name another; else a refusal stands.
        settles = self.address.kind != "server" or self.durability.replicas > 0
        while True:
            try:
                await self._look()
            except (OSError, TimeoutError, Lost, Refused) as error:
                self.trouble = error
            if self.trouble is None:
                return
            late = self._loop.time() > until
            if isinstance(self.trouble, Refused) and (late or not settles):
                raise self.trouble
            if late:
                raise Unreachable(f"{self.address}: {str(self.trouble) or 'no answer in time'}") from self.trouble
            await asyncio.sleep(PAUSE_SECONDS[0])

    async def _check_format(self) -> None:
        key = b"{statecraft}:store"
        try:
            found = await self.write(b"statecraft", _FORMAT, (key,), (FORMAT, PARTITIONS))
        except Unknown as error:
            raise Unreachable(f"{self.address}: {error}") from error
        if found != [FORMAT.encode(), b"%d" % PARTITIONS]:
            raise BadStore(f"{self.address} holds format and partitions {found}, not {FORMAT} and {PARTITIONS}")

    async def close(self) -> None:
        """What is unanswered is Unknown. Closing twice is harmless."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        for node in self._nodes.values():
            node.close()
        self._nodes.clear()
        self._owners = [None] * SLOTS
        self.trouble = Unreachable("it was closed here")
        await asyncio.sleep(0)  # transports say that they are gone in the next tick

    @property
    def divided(self) -> bool:
        """Whether keys of different tags may lie on different servers, so that no script may touch both."""
        return self.address.kind == "cluster"

    # ------------------------------------------------------------ asking

    async def write(self, tag: bytes, script: Script, keys: Sequence[bytes], arguments: Sequence[Value]) -> Reply:
        """What the script returned, as durable as was promised. All `keys` begin with `{tag}`. Raises Unknown."""
        async with self._room:
            try:
                return await self._ask(tag, ("EVALSHA", script.hash, len(keys), *keys, *arguments), script, once=True)
            except Unreachable as error:
                raise Unknown(f"it wasn't sent: {error}") from error

    async def read(self, tag: bytes, *command: Value) -> Reply:
        """The reply, of what was confirmed as was promised. Raises Unreachable."""
        return await self._ask(tag, command, None, once=False)

    async def read_by(self, tag: bytes, script: Script, keys: Sequence[bytes], arguments: Sequence[Value]) -> Reply:
        """What the script, which writes nothing, returned. Raises Unreachable."""
        return await self._ask(tag, ("EVALSHA", script.hash, len(keys), *keys, *arguments), script, once=False)

    async def keys(self, pattern: bytes) -> AsyncIterator[Sequence[bytes]]:
        """All keys that match, of every primary, some perhaps twice; for whoever is alone here. Raises Unreachable."""
        if self.trouble is not None:
            raise Unreachable(str(self.trouble))
        for node in {id(each): each for each in self._owners if each is not None}.values():
            cursor = b"0"
            while True:
                try:
                    reply = await node.reads.send("SCAN", cursor, "MATCH", pattern, "COUNT", SCANNED)
                except Lost as lost:
                    raise Unreachable(str(lost)) from lost
                if isinstance(reply, hiredis.ReplyError):
                    raise Unreachable(str(reply))
                cursor, found = reply
                yield found
                if cursor == b"0":
                    break

    async def _ask(self, tag: bytes, command: tuple[Value, ...], script: Script | None, once: bool) -> Reply:
        slot = slot_of(tag)
        fence = fence_beside(b"{" + tag + b"}")
        node, asking = self._owners[slot], False
        again = Again(self._loop, self._wait_seconds_max)
        while True:
            if node is None or not node.alive:
                await self._await_change(again)
                node, asking = self._owners[slot], False
                continue
            connection = node.writes if once else node.reads
            if asking:
                connection.tell("ASKING")
            try:
                reply = await connection.send(*command, confirm=fence)
            except Lost as lost:
                self._stale.set()
                if once:
                    raise Unknown(str(lost)) from lost
                await again.pause(lost)
                node, asking = self._owners[slot], False
                continue
            if not isinstance(reply, hiredis.ReplyError):
                return reply
            code, _, rest = str(reply).partition(" ")
            if code == "NOSCRIPT" and script is not None:
                command = ("EVAL", script.text, *command[2:])
            elif code in ("MOVED", "ASK"):
                node, asking = await self._redirected(rest, again), code == "ASK"
                if asking and node is not None:
                    self._guests.add(node.place)
            elif code in NOT_RUN:
                self._stale.set()
                await again.pause(reply)
                node, asking = self._owners[slot], False
            elif once:
                raise Unknown(str(reply))
            else:
                raise Unreachable(str(reply))

    @property
    def _wait_seconds_max(self) -> float:
        """Of a call that comes now: nobody waits anew for what others have waited for in vain."""
        patience = self._patience
        if self._trouble_at is None:
            return patience.wait_seconds_max
        waited = self._loop.time() - self._trouble_at
        return max(patience.wait_seconds_max - waited, min(patience.late_seconds_max, patience.wait_seconds_max))

    async def _redirected(self, rest: str, again: Again) -> _Node | None:
        """The node that the answer `SLOT HOST:PORT` names."""
        host, _, port = rest.partition(" ")[2].rpartition(":")
        self._stale.set()
        if not host:
            return None
        try:
            return await self._join(Place(host, int(port)))
        except (OSError, TimeoutError, Lost, Refused) as error:
            await again.pause(error)
            return None

    async def _await_change(self, again: Again) -> None:
        changed = self._changed
        self._stale.set()
        again.check(self.trouble)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(again.seconds):
                await changed.wait()

    # ------------------------------------------------------------ who holds what

    async def _keep_looking(self) -> None:
        pause_seconds = PAUSE_SECONDS[0]
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._patience.look_seconds):
                    await self._stale.wait()
            self._stale.clear()
            try:
                await self._look()
            except (OSError, TimeoutError, Lost, Refused) as error:
                self.trouble = error
            now = self._loop.time()
            self._trouble_at = (self._trouble_at or now) if self.trouble else None
            self._changed.set()
            self._changed = asyncio.Event()
            # However often somebody runs into a wall, it is looked for a door only so often.
            pause_seconds = min(2 * pause_seconds, PAUSE_SECONDS[1]) if self.trouble else PAUSE_SECONDS[0]
            if self.trouble:
                self._stale.set()
            await asyncio.sleep(pause_seconds)

    async def _look(self) -> None:
        """Connect to whoever holds something, part from whoever doesn't any more. Raises what `primaries` raises."""
        ranges = await primaries(
            self.address, [place for place, node in self._nodes.items() if node.alive], self._patience
        )
        places = list(dict.fromkeys(each.place for each in ranges))
        joined = await asyncio.gather(*map(self._join, places), return_exceptions=True)
        troubles: list[Exception] = []
        for fault in joined:
            if isinstance(fault, OSError | TimeoutError | Lost | Refused):
                troubles.append(fault)
            elif isinstance(fault, BaseException):
                raise fault
        self._guests -= set(places)
        for place in self._nodes.keys() - set(places) - self._guests:
            self._nodes.pop(place).close()
        self._own(ranges)
        covered = sum(each.last - each.first + 1 for each in ranges)
        if covered < SLOTS:
            troubles.append(Unreachable(f"nobody holds {SLOTS - covered} of the cluster's {SLOTS} slots"))
        self.trouble = troubles[0] if troubles else None

    def _own(self, ranges: Sequence[Range]) -> None:
        owners: list[_Node | None] = [None] * SLOTS
        for each in ranges:
            owners[each.first : each.last + 1] = [self._nodes.get(each.place)] * (each.last - each.first + 1)
        self._owners = owners
        self._subscribe()

    async def _join(self, place: Place) -> _Node:
        """The node there, connected and fit for what was promised. Raises OSError, TimeoutError, Lost, Refused."""
        if (node := self._nodes.get(place)) is not None and node.alive:
            return node
        async with self._joining:
            if (node := self._nodes.get(place)) is not None:
                if node.alive:
                    return node
                node.close()
            writes, said = await self._connect(place, partial(self._pushed, place))
            try:
                found = findings(self.durability, await facts(writes, said))
                if why := refusal(found):
                    raise Refused(f"{place} can't promise `{self.durability}`: {why}")
                reads, _ = await self._connect(place, lambda message: None)
            except BaseException:
                writes.close()
                raise
            self._nodes[place] = node = _Node(place, writes, reads)
            for joined in self._joined:
                joined()
            return node

    async def _connect(self, place: Place, pushed: Callable[[list[Any]], None]) -> tuple[Connection, dict[bytes, Any]]:
        patience = self._patience
        return await connect(
            place,
            self.address.credentials,
            patience.connect_seconds_max,
            patience.reply_seconds_max,
            self.durability.confirmation(patience.confirm_seconds_max),
            pushed,
            self._stale.set,
        )

    # ------------------------------------------------------------ hearing

    def on_join(self, joined: Callable[[], None]) -> None:
        """Be told of each connection to a primary that is made from here on: it may hold less than the one before."""
        self._joined.append(joined)

    def listen(self, channels: Sequence[bytes], heard: Heard) -> None:
        """Hear what is said on these sharded channels, on the writing connection: in the order in which it ran there.

        What is said while a connection is away isn't heard later."""
        assert self._listeners.keys().isdisjoint(channels), "one listener a channel, who may tell others"
        self._listeners.update(dict.fromkeys(channels, heard))
        self._subscribe()

    def publish(self, channel: bytes, message: bytes) -> None:
        """Say something on a sharded channel, to whoever hears it: nobody, if its server is away just now."""
        node = self._owners[slot_of(_tag(channel))]
        if node is not None and node.alive:
            node.writes.tell("SPUBLISH", channel, message)

    def _subscribe(self) -> None:
        for channel in self._listeners:
            node = self._owners[slot_of(_tag(channel))]
            if node is not None and node.alive and channel not in node.channels:
                node.channels.add(channel)
                node.writes.tell("SSUBSCRIBE", channel, answered=partial(self._subscribed, node, channel))

    def _subscribed(self, node: _Node, channel: bytes, reply: Reply) -> None:
        if isinstance(reply, hiredis.ReplyError):
            node.channels.discard(channel)
            self._stale.set()

    def _pushed(self, place: Place, message: list[Any]) -> None:
        kind, channel = message[0], message[1]
        if kind == b"smessage" and (heard := self._listeners.get(channel)) is not None:
            heard(channel, message[2])
        elif kind == b"sunsubscribe" and (node := self._nodes.get(place)) is not None:
            # Its slot has moved to another node.
            node.channels.discard(channel)
            self._stale.set()


def _tag(key: bytes) -> bytes:
    return key[1 : key.index(b"}")]
