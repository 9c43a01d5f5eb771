"""A connection's way out: what waits for its peer, how much may, and when it is written.

What is sent in one tick of the event loop is written at its end, at once: each write costs a call of the system's.
"""

import asyncio
from collections.abc import Callable

from server.lines import Line
from server.tally import Tally
from server.wire import Code

OUTGOING_BYTES_MAX = 1 << 20
WRITE_BYTES = 64 << 10
"""A write takes no further frame when it has so many."""
ROOM_BYTES = OUTGOING_BYTES_MAX // 4
"""Where no more than this waits, a page of a backlog may follow."""
REASON_BYTES_MAX = 123
"""Of a close frame's reason (RFC 6455 section 5.5)."""


class Ticks:
    """Who has something to write when this tick is over: one callback for all of them."""

    def __init__(self) -> None:
        self._waiting: list[Outgoing] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, outgoing: "Outgoing") -> None:
        if not self._waiting:
            loop = self._loop = self._loop or asyncio.get_running_loop()
            # Once more around: what was acknowledged in this tick is answered in the next one.
            loop.call_soon(loop.call_soon, self._over)
        self._waiting.append(outgoing)

    def _over(self) -> None:
        waiting, self._waiting = self._waiting, []
        for number, outgoing in enumerate(waiting):
            try:
                outgoing.flush()
            except BaseException:
                # A fault of ours, which ends this one; all the others mustn't wait for ever because of it.
                for other in waiting[number + 1 :]:
                    self.add(other)
                outgoing.abort()
                raise


class Outgoing:
    """Frames on their way to one peer, bounded: a reader that falls behind what happens is closed, not waited for.

    What has happened long ago waits for room, as long as the peer takes a frame every `stall_seconds`."""

    __slots__ = (
        *("_bytes", "_close", "_ending", "_frames", "_late", "_line", "_over", "_stall_seconds"),
        *("_tally", "_ticks", "_waits", "_written", "ends"),
    )

    def __init__(
        self, line: Line, ticks: Ticks, stall_seconds: float, tally: Tally, ending: Callable[[], None] | None = None
    ) -> None:
        """`ending`: called soon after it was closed, from here too: nothing can be answered any more."""
        self._line = line
        self._ticks = ticks
        self._stall_seconds = stall_seconds
        self._tally = tally
        self._ending = ending
        self._frames: list[bytes] = []
        self._bytes = 0
        self._waits = False
        """Whether a flush is coming."""
        self._written: asyncio.Event | None = None
        """Where somebody waits: set when a frame has gone, or none will go any more."""
        self._close: tuple[int, str] | None = None
        self._late: asyncio.TimerHandle | None = None
        self._over = False
        self.ends = False
        """Whether nothing that is sent from here on goes out."""

    def send(self, frame: bytes) -> None:
        if self.ends:
            return
        size = self._bytes + len(frame)
        if size > OUTGOING_BYTES_MAX:
            self._too_slow()
            return
        self._bytes = size
        self._frames.append(frame)
        if not self._waits:
            self._waits = True
            self._ticks.add(self)

    @property
    def waiting_bytes(self) -> int:
        return self._bytes

    def has_room(self) -> bool:
        return self._bytes <= ROOM_BYTES

    async def room(self) -> bool:
        """Wait for room. False: nothing will be sent any more. A peer that takes nothing meanwhile is closed."""
        while not self.has_room() and not self.ends:
            if self._written is None:
                self._written = asyncio.Event()
            try:
                async with asyncio.timeout(self._stall_seconds):
                    await self._written.wait()
            except TimeoutError:
                self._too_slow()
        return not self.ends

    def _too_slow(self) -> None:
        self._frames, self._bytes = [], 0
        self.close(Code.TOO_SLOW, "too slow: reconnect and resume from the last version you hold")

    def close(self, code: int, why: str) -> None:
        """Close after the frames already waiting. A peer that doesn't take them is waited for so long and no longer."""
        if self.ends:
            return
        self._close = (code, _short(why))
        self.ends = True
        self._tally.closes[int(code)] += 1
        loop = asyncio.get_running_loop()
        self._late = loop.call_later(self._stall_seconds, self._line.abort)
        if self._ending is not None:
            loop.call_soon(self._ending)
        self._tell_written()
        if not self._waits:
            self._waits = True
            self._ticks.add(self)

    def abort(self) -> None:
        """End the line without another word."""
        self._line.abort()

    def over(self) -> None:
        """The line is."""
        self._over = self.ends = True
        self._frames, self._bytes = [], 0
        if self._late is not None:
            self._late.cancel()
        self._tell_written()

    def flush(self) -> None:
        """Write what waits, as far as the line takes it."""
        self._waits = False
        line = self._line
        while self._frames and line.takes:
            frames, size_bytes = self._frames, self._bytes
            if size_bytes > WRITE_BYTES:
                frames, size_bytes = self._some()
            self._frames = self._frames[len(frames) :] if frames is not self._frames else []
            self._bytes -= size_bytes
            self._tally.frames += len(frames)
            self._tally.frame_bytes += size_bytes
            line.write(frames)
            if self._written is not None:
                self._tell_written()
        if self._close is not None and not self._frames and line.takes and not self._over:
            line.close(*self._close)

    def _some(self) -> tuple[list[bytes], int]:
        """What goes in one write where too much waits, and how many bytes that is."""
        count = size_bytes = 0
        while size_bytes < WRITE_BYTES and count < len(self._frames):
            size_bytes += len(self._frames[count])
            count += 1
        return self._frames[:count], size_bytes

    def _tell_written(self) -> None:
        if self._written is not None:
            self._written.set()
            self._written = None


def _short(why: str) -> str:
    return why.encode()[:REASON_BYTES_MAX].decode(errors="ignore")
