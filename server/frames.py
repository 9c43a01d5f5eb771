"""WebSocket frames on the way past websockets' parser: the plain ones, in and out (RFC 6455 section 5.2). No I/O."""

from collections.abc import Sequence
from struct import Struct

from websockets.frames import Opcode
from websockets.speedups import apply_mask

FIN = 0x80
MASKED = 0x80
CONTROL = 0x08
"""In opcodes that may come between the pieces of a message."""
PINGS = (FIN | Opcode.PING, FIN | Opcode.PONG)

_SHORT, _MIDDLING, _LONG = (Struct(head).pack for head in (">BB", ">BBH", ">BBQ"))
"""Heads of frames, by the width of their size."""


class Incoming:
    """A client's bytes. Whole messages in one plain frame are cut out of them; every other byte is for a parser that
    knows all of the standard, and comes in the order in which it was sent."""

    __slots__ = ("_at", "_bytes", "_foreign", "_in_pieces", "_in_ping", "_payload_bytes_max", "_plain")

    def __init__(self, payload_bytes_max: int) -> None:
        self._payload_bytes_max = payload_bytes_max
        self._bytes = b""
        self._at = 0
        self._plain = -1
        self._foreign = 0
        """Bytes to come of a frame that the parser has begun to read."""
        self._in_ping = False
        """Whether that is a ping or a pong."""
        self._in_pieces = False
        """Whether the parser waits for the rest of a message."""

    def expect(self, opcode: Opcode) -> None:
        """Which frames are messages. Before that none is."""
        self._plain = FIN | opcode

    def add(self, received: bytes) -> None:
        self._bytes = self._bytes[self._at :] + received if self._bytes else received
        self._at = 0

    @property
    def is_empty(self) -> bool:
        """Whether all was taken."""
        return self._at == len(self._bytes)

    @property
    def is_ping(self) -> bool:
        """Whether what comes next is a ping or a pong, which needn't wait for the message before it."""
        if self._foreign:
            return self._in_ping
        return not self.is_empty and self._bytes[self._at] in PINGS

    def rest(self) -> bytes:
        """All that wasn't taken."""
        rest, self._bytes, self._at = self._bytes[self._at :], b"", 0
        return rest

    def take(self) -> tuple[bytes, bool] | None:
        """A message's payload and True, or bytes for the parser and False. None: more must come first."""
        data, at = self._bytes, self._at
        there = len(data) - at
        if self._foreign and there:
            return self._pass(min(self._foreign, there))
        if there < 2:
            return self._wait()
        first, second = data[at], data[at + 1]
        size, start = second & 127, at + 2
        if size > 125:
            width = 2 if size == 126 else 8
            if there < 2 + width:
                return self._wait()
            size, start = int.from_bytes(data[start : start + width], "big"), start + width
        if second & MASKED:
            start += 4
        end = start + size
        if first == self._plain and second & MASKED and not self._in_pieces and size <= self._payload_bytes_max:
            if end > len(data):
                return self._wait()
            self._move(end)
            return apply_mask(data[start:end], data[start - 4 : start]), True
        self._in_ping = first in PINGS
        if not first & CONTROL:
            self._in_pieces = not first & FIN
        self._foreign = end - at
        return self._pass(min(self._foreign, there))

    def _move(self, at: int) -> None:
        # A connection may rest for long: what it sent last, as much as the system gives at once, isn't kept.
        if at == len(self._bytes):
            self._bytes, self._at = b"", 0
        else:
            self._at = at

    def _pass(self, count: int) -> tuple[bytes, bool]:
        piece = self._bytes[self._at : self._at + count]
        self._move(self._at + count)
        self._foreign -= count
        return piece, False

    def _wait(self) -> tuple[bytes, bool] | None:
        self._bytes, self._at = self._bytes[self._at :], 0
        return None


class Framing:
    """Messages as a server sends them where no extension was agreed on.

    The last ones are remembered, since what happens in a game goes to everybody who watches it."""

    def __init__(self) -> None:
        self._opcode = 0
        self._payloads: Sequence[bytes] = ()
        self._framed = b""

    def framed(self, opcode: int, payloads: Sequence[bytes]) -> bytes:
        if payloads != self._payloads or opcode != self._opcode:
            first = FIN | opcode
            pieces: list[bytes] = []
            for payload in payloads:
                size = len(payload)
                # Of a whole, unmasked frame.
                if size < 126:
                    pieces.append(_SHORT(first, size))
                elif size < 1 << 16:
                    pieces.append(_MIDDLING(first, 126, size))
                else:
                    pieces.append(_LONG(first, 127, size))
                pieces.append(payload)
            self._opcode, self._payloads, self._framed = opcode, payloads, b"".join(pieces)
        return self._framed
