"""Replays over the socket: a game told again from its log, at once or at a pace, from any version on.

Only the log's own bytes are folded here, never what this server knows beside them: so a game that still runs shows its
public view and can show no more. A paced replay is one timer, whoever watches it.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from events import chain
from events.chain import Head, Stored
from events.log import Log, Unknown
from events.shapes import Undecodable
from projections.replay import Moment, Recording
from server import wire
from server.audience import Watcher
from server.games import Damaged
from server.wire import Subscribe, Trouble

REPLAYS_MAX = 4
"""Of one connection."""
AT_ONCE_MAX = 1024
"""Events that a replay without a pace sends; whoever wants more asks again from there."""
CHUNK = 256
"""Events in one frame, and folds between two looks at what else there is to do."""
GAP_MS_MAX = 3000
"""A longer pause in the recorded times is shortened to this, before the speed."""
STEP_MS_MIN = 20
"""Between two steps, whatever the recorded times."""
EVENTS_KEPT_MAX = 100_000
"""Of all recordings in mind; the rest is read again from the log when somebody asks."""


class Recordings:
    """The recordings this process has in mind, the last used last."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._kept: OrderedDict[bytes, Recording] = OrderedDict()

    async def of(self, game: bytes) -> Recording | Trouble:
        """The game's recording, not behind what its log held when this was called."""
        try:
            recording = await self._read(game)
        except (Undecodable, Damaged):
            self._kept.pop(game, None)
            return Trouble.DAMAGED
        except Unknown:
            return Trouble.TRY_AGAIN
        if recording is None:
            return Trouble.UNKNOWN_GAME
        self._kept[game] = recording
        self._kept.move_to_end(game)
        while len(self._kept) > 1 and sum(len(each.events) for each in self._kept.values()) > EVENTS_KEPT_MAX:
            self._kept.popitem(last=False)
        return recording

    async def _read(self, game: bytes) -> Recording | None:
        head = await self._log.head(game)
        known = self._kept.get(game)
        if known is not None and known.head.version <= head.version:
            fresh = await self._log.read(game, known.head.version) if known.head != head else ()
            # Another task may have brought it further meanwhile.
            fresh = [event for event in fresh if event.version > known.head.version]
            if chain.check(known.head, fresh) is None:
                if fresh:
                    known.extend(fresh)
                if head.version <= known.head.version and known.head_at(head.version) == head:
                    return known
        events = await self._log.read(game)
        if chain.check(chain.origin(game), events) is not None:
            raise Undecodable("its events don't chain")
        return Recording(game, events) if events else None


@dataclass(eq=False, slots=True)
class Replay:
    """One replay under way."""

    topic: str
    recording: Recording
    wanted: Subscribe
    moment: Moment
    end: int
    """The version it ends at."""
    timer: asyncio.TimerHandle | None = None


class Replays:
    """The replays of one connection."""

    def __init__(self, recordings: Recordings, watcher: Watcher) -> None:
        self._recordings = recordings
        self._watcher = watcher
        self._running: dict[bytes, Replay] = {}

    def __len__(self) -> int:
        return len(self._running)

    async def subscribe(self, game: bytes, wanted: Subscribe) -> None:
        """Answer `subscribed`, what stood there, and what follows. Replaces the connection's replay of this game."""
        self.unsubscribe(game)
        if len(self._running) >= REPLAYS_MAX:
            self._refuse(wanted.topic, Trouble.TOO_MANY_SUBSCRIPTIONS)
            return
        recording = await self._recordings.of(game)
        if isinstance(recording, Trouble):
            self._refuse(wanted.topic, recording)
        elif wanted.as_ not in (None, "public") and not recording.over:
            self._refuse(wanted.topic, Trouble.NOT_OVER)
        else:
            try:
                await self._begin(game, recording, wanted)
            except Undecodable:
                self._refuse(wanted.topic, Trouble.DAMAGED)

    async def _begin(self, game: bytes, recording: Recording, wanted: Subscribe) -> None:
        head = recording.head
        held = Head(*wanted.after) if wanted.after is not None else None
        recovered = held is None or (held.version <= head.version and recording.head_at(held.version) == held)
        start = min(wanted.at, head.version) if wanted.at is not None else held.version if held and recovered else 0
        end = head.version if wanted.limit is None else min(head.version, start + wanted.limit)
        await _folded(recording, start)
        replay = Replay(wanted.topic, recording, wanted, recording.at(start), end)
        self._running[game] = replay
        starts = recording.head_at(start)
        self._watcher.tell(wire.Subscribed(wanted.topic, recovered, starts.version, starts.hash))
        if wanted.at is not None:
            self._show(replay, ())
        if wanted.speed is None and wanted.beat_ms is None:
            await self._tell_at_once(replay)
            self._finish(game, replay)
        else:
            self._wait(game, replay)

    async def _tell_at_once(self, replay: Replay) -> None:
        recording, first = replay.recording, replay.moment.version
        replay.end = min(replay.end, first + AT_ONCE_MAX)
        await _folded(recording, replay.end)
        for at in range(first, replay.end, CHUNK):
            until = min(at + CHUNK, replay.end)
            events = tuple(recording.events[at:until])
            if until < replay.end:
                self._watcher.way.send(
                    wire.moment_frame(self._watcher.codec, replay.topic, events[-1].head, events, None)
                )
            else:
                replay.moment = recording.at(until)
                self._show(replay, events)

    # ------------------------------------------------------------ at a pace

    def _wait(self, game: bytes, replay: Replay) -> None:
        """Until the next step is due; or the replay is over."""
        if replay.moment.version >= replay.end:
            self._finish(game, replay)
            return
        delay_ms = self._delay_ms(replay)
        replay.timer = asyncio.get_running_loop().call_later(delay_ms / 1000, self._step, game, replay)

    def _delay_ms(self, replay: Replay) -> float:
        if replay.wanted.speed is None:
            return float(replay.wanted.beat_ms or 0)
        version = replay.moment.version
        before_ms = replay.recording.at_ms(version) if version else replay.recording.at_ms(1)
        gap_ms = min(replay.recording.at_ms(version + 1) - before_ms, GAP_MS_MAX)
        return max(gap_ms / replay.wanted.speed, STEP_MS_MIN)

    def _step(self, game: bytes, replay: Replay) -> None:
        recording, first = replay.recording, replay.moment.version
        try:
            replay.moment = recording.after(replay.moment)
            # Recorded at the same time, shown at the same time; a fixed beat has a step for each event.
            while (
                replay.wanted.speed is not None
                and replay.moment.version < min(replay.end, first + CHUNK)
                and recording.at_ms(replay.moment.version + 1) <= replay.moment.at_ms
            ):
                replay.moment = recording.after(replay.moment)
        except Undecodable:
            self._running.pop(game, None)
            self._refuse(replay.topic, Trouble.DAMAGED)
            return
        self._show(replay, tuple(recording.events[first : replay.moment.version]))
        self._wait(game, replay)

    # ------------------------------------------------------------ frames

    def _show(self, replay: Replay, events: tuple[Stored, ...]) -> None:
        moment, topic = replay.moment, replay.topic
        head = replay.recording.head_at(moment.version)
        self._watcher.way.send(wire.moment_frame(self._watcher.codec, topic, head, events, moment.table))
        seats = {"0": (0,), "1": (1,), "open": (0, 1)}.get(replay.wanted.as_ or "", ())
        if moment.hands is not None and moment.table.dealt:
            for seat in seats:
                self._watcher.tell(wire.Hand(topic, moment.version, seat, moment.hands[seat]))

    def _finish(self, game: bytes, replay: Replay) -> None:
        self._running.pop(game, None)
        head = replay.recording.head_at(replay.moment.version)
        self._watcher.tell(wire.Replayed(replay.topic, head.version, head.hash, replay.recording.head.version))

    def unsubscribe(self, game: bytes) -> None:
        replay = self._running.pop(game, None)
        if replay is not None and replay.timer is not None:
            replay.timer.cancel()

    def leave(self) -> None:
        """The connection is gone."""
        for game in tuple(self._running):
            self.unsubscribe(game)

    def _refuse(self, topic: str, why: Trouble) -> None:
        self._watcher.tell(wire.NotSubscribed(topic, why))


async def _folded(recording: Recording, version: int) -> None:
    """Fold up to a moment in pieces: others want to be heard too."""
    while True:
        if recording.reach(version, CHUNK):
            return
        await asyncio.sleep(0)
