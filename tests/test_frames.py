"""Frames that pass websockets' parser by: however the bytes come, the same messages as it would find."""

import sys
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN, SERVER, Protocol

from server.frames import Framing, Incoming

SIZE_MAX = 300


def masked(opcode: int, data: bytes, fin: bool = True) -> bytes:
    return Frame(Opcode(opcode), data, fin).serialize(mask=True)


def whole(payload: bytes) -> tuple[bytes, bool]:
    return payload, True


def taken(incoming: Incoming, *pieces: bytes) -> list[tuple[bytes, bool]]:
    found = []
    for piece in pieces:
        incoming.add(piece)
        while (each := incoming.take()) is not None:
            found.append(each)
    return found


def binary() -> Incoming:
    incoming = Incoming(SIZE_MAX)
    incoming.expect(Opcode.BINARY)
    return incoming


def pieces_of(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    return [stream[start:end] for start, end in pairwise(places)]


def read_by_websockets(stream: bytes, protocol: Protocol | None = None) -> tuple[list[Any], Any]:
    """The data frames a parser finds, and the close it answers with."""
    protocol = protocol or Protocol(SERVER, state=OPEN, max_size=SIZE_MAX)
    protocol.receive_data(stream)
    events = [event for event in protocol.events_received() if isinstance(event, Frame)]
    return [(event.opcode, bytes(event.data), event.fin) for event in events if event.opcode < 8], protocol.close_sent


frames = st.one_of(
    st.builds(masked, st.just(Opcode.BINARY), st.binary(max_size=SIZE_MAX)),
    st.builds(masked, st.sampled_from([Opcode.TEXT, Opcode.PING, Opcode.PONG]), st.binary(max_size=125)),
    st.builds(masked, st.sampled_from([Opcode.BINARY, Opcode.CONT]), st.binary(max_size=20), st.booleans()),
    st.just(masked(Opcode.BINARY, bytes(SIZE_MAX + 1))),
    st.just(Frame(Opcode.BINARY, b"bare").serialize(mask=False)),
    st.binary(min_size=1, max_size=12),
)


@given(sent=st.lists(frames, max_size=8), cuts=st.lists(st.integers(0, 5000), max_size=8))
def test_with_the_parser_it_finds_what_the_parser_alone_finds(sent: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(sent)
    found: list[Any] = []
    parser = Protocol(SERVER, state=OPEN, max_size=SIZE_MAX)
    incoming = binary()
    for piece in pieces_of(stream, cuts):
        incoming.add(piece)
        while parser.state is OPEN and (each := incoming.take()) is not None:
            data, is_message = each
            found += [(Opcode.BINARY, data, True)] if is_message else read_by_websockets(data, parser)[0]
    expected, close = read_by_websockets(stream)
    assert found == expected
    # A frame that is not all here yet may be held back, but never one that is wrong.
    assert parser.close_sent == close


def test_a_plain_frame_is_taken_and_every_other_is_left_to_the_parser() -> None:
    plain = masked(Opcode.BINARY, b"plain")
    for other in (
        masked(Opcode.TEXT, b"text"),
        masked(Opcode.PING, b"ping"),
        masked(Opcode.BINARY, bytes(SIZE_MAX + 1)),
        Frame(Opcode.BINARY, b"not masked").serialize(mask=False),
        bytes([plain[0] | 0x40]) + plain[1:],
        bytes([plain[0] | 3]) + plain[1:],
    ):
        assert taken(binary(), plain + other + plain) == [whole(b"plain"), (other, False), whole(b"plain")]


def test_a_message_in_pieces_is_the_parsers_and_so_is_what_breaks_into_it() -> None:
    first, last = masked(Opcode.BINARY, b"a", False), masked(Opcode.CONT, b"b")
    ping, plain = masked(Opcode.PING, b""), masked(Opcode.BINARY, b"c")
    assert taken(binary(), first + ping + last + plain) == [(first, False), (ping, False), (last, False), whole(b"c")]
    assert taken(binary(), first + plain) == [(first, False), (plain, False)]


def test_nothing_is_a_message_before_it_is_said_which_frames_are() -> None:
    incoming = Incoming(SIZE_MAX)
    incoming.add(masked(Opcode.BINARY, b"early"))
    incoming.expect(Opcode.BINARY)
    assert incoming.take() == whole(b"early")
    assert incoming.rest() == b""


def test_a_frame_that_is_too_large_is_not_waited_for() -> None:
    head = masked(Opcode.BINARY, bytes(SIZE_MAX + 1))[:8]
    assert taken(binary(), head) == [(head, False)]


@pytest.mark.parametrize("last", [masked(Opcode.BINARY, b"last"), masked(Opcode.PING, b"")], ids=["message", "ping"])
def test_of_bytes_that_were_taken_none_stays_in_memory(last: bytes) -> None:
    incoming, received = binary(), masked(Opcode.BINARY, bytes(SIZE_MAX)) * 800 + last
    others = sys.getrefcount(received)
    incoming.add(received)
    # Whoever deals with the last one may be busy with it for long, and asks for no more.
    while not incoming.is_empty:
        incoming.take()
    assert sys.getrefcount(received) == others


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 70_000])
@pytest.mark.parametrize("opcode", [Opcode.TEXT, Opcode.BINARY])
def test_frames_have_the_bytes_that_websockets_gives_them(size: int, opcode: Opcode) -> None:
    payloads = (b"x" * size, b"y")
    expected = b"".join(Frame(opcode, each).serialize(mask=False) for each in payloads)
    assert Framing().framed(opcode, payloads) == expected


def test_what_is_framed_for_one_is_never_given_to_whom_it_is_not_for() -> None:
    framing = Framing()
    sent = [(Opcode.BINARY, (b"a",)), (Opcode.BINARY, (b"b",)), (Opcode.TEXT, (b"b",)), (Opcode.TEXT, (b"b", b"b"))]
    for opcode, payloads in (*sent, *sent):
        for _ in range(2):
            expected = b"".join(Frame(opcode, each).serialize(mask=False) for each in payloads)
            assert framing.framed(opcode, payloads) == expected
