"""The socket of a running server: what it refuses, how it closes, who sees what, and how a lost connection resumes."""

import asyncio
import contextlib
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import InvalidStatus
from websockets.frames import Opcode
from websockets.typing import Subprotocol

from events import chain, codec
from events.chain import Head
from projections import saved
from rules.fifty_states import Played
from tests.running import (
    BOTH,
    JSON,
    MSGPACK,
    PATHS,
    RULES,
    Client,
    Closed,
    Followed,
    Guest,
    Message,
    Server,
    close_code_of,
    connect,
    connected,
    frame,
    raw_socket,
    serving,
)

pytestmark = pytest.mark.anyio

NOBODYS = bytes(16)


@pytest.fixture(scope="module", params=PATHS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("socket"), request.param) as running:
        yield running


@pytest.fixture
def guest(server: Server) -> Guest:
    return server.join()


@pytest.fixture(params=BOTH)
def subprotocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def begun(client: Client, mode: str = "relaxed") -> Followed:
    """A game whose first battle waits for a card."""
    followed = await client.follow(await client.open(mode))
    await client.mix(followed)
    return followed


async def goes_on(server: Server, client: Client, followed: Followed) -> None:
    """Nothing was lost: the same game is played to its end, and what is stored is sound."""
    await client.play_on(followed, Random(1))
    findings = server.audit(followed.game)
    assert findings.over
    assert findings.head == followed.head


async def comes_back(server: Server, guest: Guest, followed: Followed) -> None:
    """After a close: reconnect, resume from the last event held, play to the end."""
    async with connected(server, guest) as client:
        again = await client.follow(followed.game, after=followed.head, held=followed)
        assert again.starts[-1]["recovered"] is True
        await goes_on(server, client, again)


def refused(answer: Message) -> str:
    assert answer["type"] == "refused", answer
    reason: str = answer["reason"]
    return reason


# ---------------------------------------------------------------- cards that may not be played


async def test_every_card_that_is_not_in_the_hand_is_refused_with_the_same_reason(
    server: Server, guest: Guest, subprotocol: str
) -> None:
    async with connected(server, guest, subprotocol) as client:
        followed = await begun(client)
        before = followed.head
        assert followed.hand is not None
        others = set(range(1, 51)) - set(followed.hand)
        reasons = {
            refused(await client.do(followed.game, {"do": "Play", "battle": 1, "card": card})) for card in others
        }
        assert reasons == {"not_your_card"}
        assert followed.head == before
        await goes_on(server, client, followed)


@pytest.mark.parametrize("card", [0, 51, 2**31])
async def test_a_card_that_does_not_exist_is_refused(server: Server, guest: Guest, card: int) -> None:
    async with connected(server, guest) as client:
        followed = await begun(client)
        assert refused(await client.do(followed.game, {"do": "Play", "battle": 1, "card": card})) == "no_such_card"
        await goes_on(server, client, followed)


async def test_a_card_of_the_past_is_refused(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client:
        followed = await begun(client)
        assert followed.hand is not None
        card = followed.hand[3]
        await client.play(followed, card)
        again = {"do": "Play", "battle": followed.battle, "card": card}
        assert refused(await client.do(followed.game, again)) == "card_gone"
        await goes_on(server, client, followed)


async def test_a_card_captured_in_this_round_is_refused_until_the_next(
    server: Server, guest: Guest, subprotocol: str
) -> None:
    async with connected(server, guest, subprotocol) as client:
        while True:
            followed = await begun(client)
            assert followed.hand is not None
            await client.play(followed, max(followed.hand))
            captured = followed.table["position"]["captured"][0]
            if captured:
                break
            await client.do(followed.game, {"do": "Resign"})
        command = {"do": "Play", "battle": followed.battle, "card": captured[0]}
        assert refused(await client.do(followed.game, command)) == "captured_this_round"
        while not followed.over and followed.table["position"]["round"] == 1:
            await client.play(followed)
        if not followed.over:
            await client.play(followed, captured[0])
        await goes_on(server, client, followed)


async def test_nothing_is_played_before_the_seal_of_the_house_stands(
    server: Server, guest: Guest, subprotocol: str
) -> None:
    async with connected(server, guest, subprotocol) as client:
        followed = await client.follow(await client.open())
        for card in (1, 25, 50):
            answer = await client.do(followed.game, {"do": "Play", "battle": 1, "card": card})
            assert refused(answer) == "not_dealt"
        assert followed.hand is None
        assert followed.table["position"] is None
        await goes_on(server, client, followed)


@pytest.mark.parametrize("battle", [0, 2, 3, 2**31])
async def test_another_battle_than_the_one_that_is_played_is_refused(server: Server, guest: Guest, battle: int) -> None:
    async with connected(server, guest) as client:
        followed = await begun(client)
        assert followed.hand is not None
        command = {"do": "Play", "battle": battle, "card": followed.hand[0]}
        assert refused(await client.do(followed.game, command)) == "wrong_battle"
        await goes_on(server, client, followed)


async def test_commits_and_reveals_are_not_for_games_against_the_house(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client:
        followed = await begun(client)
        assert followed.hand is not None
        commit = {"do": "Commit", "battle": 1, "seal": bytes(32)}
        reveal = {"do": "Reveal", "battle": 1, "card": followed.hand[0], "salt": bytes(32)}
        assert refused(await client.do(followed.game, commit)) == "wrong_opponent"
        assert refused(await client.do(followed.game, reveal)) == "wrong_opponent"
        await goes_on(server, client, followed)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
async def test_entropy_of_another_size_is_refused(server: Server, guest: Guest, subprotocol: str, size: int) -> None:
    async with connected(server, guest, subprotocol) as client:
        followed = await client.follow(await client.open())
        answer = await client.do(followed.game, {"do": "Mix", "entropy": bytes(size)})
        assert refused(answer) == "bad_entropy"
        await goes_on(server, client, followed)


async def test_entropy_is_mixed_once(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client:
        followed = await begun(client)
        again = await client.do(followed.game, {"do": "Mix", "entropy": bytes([1]) * 32})
        assert refused(again) == "already_mixed"
        await goes_on(server, client, followed)


# ---------------------------------------------------------------- games that aren't there, or not yours


async def test_nobody_acts_in_the_game_of_another(server: Server, guest: Guest, subprotocol: str) -> None:
    stranger = server.join()
    async with connected(server, guest) as client, connected(server, stranger, subprotocol) as other:
        followed = await begun(client)
        assert followed.hand is not None
        commands: list[Message] = [
            {"do": "Play", "battle": 1, "card": followed.hand[0]},
            {"do": "Mix", "entropy": bytes(32)},
            {"do": "Resign"},
        ]
        for command in commands:
            assert refused(await other.do(followed.game, command)) == "not_seated"
        # Not even under the id that its owner used.
        assert refused(await other.do(followed.game, commands[1], "mix")) == "not_seated"
        await goes_on(server, client, followed)


async def test_without_a_session_one_may_only_watch(server: Server, guest: Guest, subprotocol: str) -> None:
    async with connected(server, guest) as client, connected(server, None, subprotocol) as watcher:
        followed = await begun(client)
        assert watcher.frames[0]["player"] is None
        seen = await watcher.follow(followed.game)
        assert refused(await watcher.do(followed.game, {"do": "Resign"})) == "no_session"
        assert refused(await watcher.ask("open", rules=RULES, mode="relaxed", settings={})) == "no_session"
        assert refused(await watcher.ask("meet", rules=RULES, mode="relaxed")) == "no_session"
        await goes_on(server, client, followed)
        await watcher.until(lambda: seen.over)
        assert seen.events == followed.events


async def test_a_game_nobody_opened_is_unknown(server: Server, guest: Guest, subprotocol: str) -> None:
    async with connected(server, guest, subprotocol) as client:
        followed = await begun(client)
        assert refused(await client.do(NOBODYS, {"do": "Resign"})) == "unknown_game"
        # A game that was met, but not opened, is none yet.
        met = await client.ask("meet", rules=RULES, mode="strategic")
        assert refused(await client.do(bytes.fromhex(met["game"]), {"do": "Resign"})) == "unknown_game"
        await goes_on(server, client, followed)


async def test_a_finished_game_is_over_for_every_command(server: Server, guest: Guest, subprotocol: str) -> None:
    async with connected(server, guest, subprotocol) as client:
        followed = await begun(client)
        await client.play_on(followed, Random(2))
        head = followed.head
        commands: list[Message] = [
            {"do": "Play", "battle": 1, "card": 1},
            {"do": "Play", "battle": followed.battle, "card": 1},
            {"do": "Mix", "entropy": bytes(32)},
            {"do": "Resign"},
        ]
        for command in commands:
            assert refused(await client.do(followed.game, command)) == "over"
        await client.follow(followed.game)
        assert followed.head == head
        assert server.audit(followed.game).over


async def test_rules_modes_and_settings_nobody_knows_are_refused(
    server: Server, guest: Guest, subprotocol: str
) -> None:
    async with connected(server, guest, subprotocol) as client:
        wishes: list[tuple[str, str, dict[str, Any], str]] = [
            ("fifty-states/2", "relaxed", {}, "unknown_rules"),
            ("", "relaxed", {}, "unknown_rules"),
            (RULES, "", {}, "unknown_mode"),
            (RULES, "versus", {}, "unknown_mode"),
            (RULES, "Relaxed", {}, "unknown_mode"),
            (RULES, "relaxed", {"commit_seconds": 30}, "unknown_setting"),
            (RULES, "relaxed", {"": ""}, "unknown_setting"),
        ]
        for rules, mode, given_, reason in wishes:
            assert refused(await client.ask("open", rules=rules, mode=mode, settings=given_)) == reason
        assert refused(await client.ask("meet", rules="war/1", mode="relaxed")) == "unknown_rules"
        assert refused(await client.ask("meet", rules=RULES, mode="versus")) == "unknown_mode"
        await goes_on(server, client, await begun(client))


# ---------------------------------------------------------------- frames that break the protocol


def each_of(*values: Any) -> tuple[Any, ...]:
    return values


def broken_frames(topic: str) -> list[dict[str, Any]]:
    """Messages that are none in either subprotocol."""
    do: dict[str, Any] = {"type": "do", "id": "x", "game": topic.removeprefix("game/"), "command": {"do": "Resign"}}
    play = {"do": "Play", "battle": 1, "card": 1}
    opening: dict[str, Any] = {"type": "open", "id": "x", "rules": RULES, "mode": "relaxed", "settings": {}}
    bad_ids = ["", "x" * 65, "a b", "é", "c1\n", "\t", "\x7f", "🂡", 7, None, True, ["x"], 1.5]
    return [
        {},
        {"type": "nothing"},
        {"type": 1},
        {"id": "x"},
        {"type": "ping"},
        *({"type": "ping", "n": bad} for bad in each_of(-1, 2**31 + 1, 2**64 - 1, 1.0, 1.5, True, None, "1", [1], {})),
        {"type": "ping", "n": 1, "m": 2},
        *({**do, "id": bad} for bad in bad_ids),
        *({**do, "game": bad} for bad in ("", "0" * 31, "0" * 33, "F" * 32, "0" * 32 + "\n", "g" * 32, 0, None)),
        {name: value for name, value in do.items() if name != "game"},
        {name: value for name, value in do.items() if name != "command"},
        {**do, "seat": 1},
        *({**do, "command": bad} for bad in each_of({}, [], None, "Resign", 7, {"do": "Cheat"}, {"do": None})),
        {**do, "command": {"do": "Resign", "seat": 1}},
        {**do, "command": {"do": "Play", "battle": 1}},
        *({**do, "command": {**play, "card": bad}} for bad in (-1, 2**31 + 1, 1.0, 1.5, True, None, "1", [1])),
        *({**do, "command": {**play, "battle": bad}} for bad in (-1, 2**63, 1.0, "1", None)),
        *({**do, "command": {"do": "Mix", "entropy": bad}} for bad in (bytes(65), 7, None, [0] * 32, "not base64!")),
        {**do, "command": {"do": "Open", "mode": "relaxed"}},
        {**do, "command": {"do": "CallTime"}},
        *(
            {**opening, "settings": bad}
            for bad in each_of([], None, 7, {"a": 1.5}, {"a": None}, {"a": True}, {"a": {}})
        ),
        {**opening, "mode": "x" * 33},
        {**opening, "player": "0" * 32},
        *({"type": "subscribe", "topic": bad} for bad in ("x" * 129, 7, None, ["game"])),
        *(
            {"type": "subscribe", "topic": topic, "after": bad}
            for bad in ([], [1], [1, bytes(31)], [1, bytes(33)], [-1, bytes(32)], [1.0, bytes(32)], [bytes(32), 1], 7)
        ),
        {"type": "hello", "player": None, "why": None, "now_ms": 1},
        {"type": "done", "id": "x", "game": "0" * 32, "version": 1, "hash": bytes(32)},
    ]


async def test_a_message_of_a_wrong_form_closes_the_connection_and_changes_nothing(
    server: Server, guest: Guest, subprotocol: str
) -> None:
    async with connected(server, guest) as client:
        followed = await begun(client)
    for message in broken_frames(followed.topic):
        wrong = await connect(server, guest, subprotocol)
        await wrong.send(message)
        assert await wrong.close_code() == 4000, message
        assert wrong.closed is not None
        assert wrong.closed[1], "a reason says what was expected"
        await wrong.leave()
    await comes_back(server, guest, followed)


async def test_bytes_that_are_no_message_close_the_connection(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client:
        followed = await begun(client)
    ping = json.dumps({"type": "ping", "n": 1})
    packed: bytes = msgpack.packb({"type": "ping", "n": 1})
    texts = [
        "", " ", "null", "[]", "7", '"ping"', "{", ping[:-1], ping + "x", ping + ping, "\ufeff" + ping, "'", "\x00",
        '{"type":"ping","n":NaN}', '{"type":"ping","n":Infinity}', '{"type":"ping","n":1e400}',
        '{"type":"ping","n":01}', '{"type":"ping","n":' + "9" * 4000 + "}", '{"type":"ping","n":"\\ud800"}',
        "[" * 4096, '{"a":' * 800, '{"type":"do","id":"x","game":"' + "0" * 32 + '","command":' + "[" * 4000,
        '{"type":"subscribe","topic":"\\ud800"}',
    ]  # fmt: skip
    bodies = [
        b"", packed[:-1], packed + b"\x00", packed + packed, b"\xc0", b"\xc1", b"\x90", b"\x91" * 4096, b"\xff",
        b"\xdf\xff\xff\xff\xff", b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\x82\xa4type\xa4ping\xa1n\xca",
        b"\x82\xa4type\xa4ping\xa1n\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", b"\x81\xa4type\xa4\xff\xff\xff\xff",
        b"\x82\xa4type\xa9subscribe\xa5topic\xa3\xed\xa0\x80", b"\x82\xa4type\xa4ping\xa1n\xd4\x01\x01",
        b"\x82\x01\xa4ping\xa1n\x01", b"\x82\xc4\x04type\xa4ping\xa1n\x01", packed.replace(b"\xa4type", b"\xa4typ\xff"),
    ]  # fmt: skip
    for subprotocol, frames in ((JSON, texts), (MSGPACK, bodies)):
        for each in frames:
            wrong = await connect(server, guest, subprotocol)
            await wrong.send_raw(each)
            assert await wrong.close_code() == 4000, each
            await wrong.leave()
    await comes_back(server, guest, followed)


async def test_of_a_key_that_comes_twice_the_last_one_counts(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client:
        await client.send_raw('{"type":"ping","n":1,"n":2}')
        await client.until(lambda: client.frames[-1] == {"type": "pong", "n": 2})


texts = st.text(st.characters(codec="utf-8"), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | texts | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def nearly_messages(draw: st.DrawFn) -> dict[str, Any]:
    """A message with one thing wrong, or perhaps with nothing wrong."""
    message: dict[str, Any] = draw(
        st.sampled_from(
            [
                {"type": "ping", "n": 1},
                {"type": "meet", "id": "m", "rules": RULES, "mode": "relaxed"},
                {"type": "open", "id": "o", "rules": RULES, "mode": "relaxed", "settings": {}},
                {"type": "do", "id": "d", "game": "0" * 32, "command": {"do": "Resign"}},
                {"type": "subscribe", "topic": "game/" + "0" * 32},
                {"type": "subscribe", "topic": "game/" + "0" * 32, "after": [1, bytes(32)]},
                {"type": "unsubscribe", "topic": "game/" + "0" * 32},
            ]
        )
    )
    names = st.sampled_from(sorted(message)) | texts
    return {**message, draw(names): draw(values)}


async def still_answers(server: Server, subprotocol: str, sent: Any) -> None:
    """Whatever was sent: it is closed as a bad frame, or the connection goes on; never is it a fault of ours."""
    client = await connect(server, None, subprotocol)
    if isinstance(sent, dict):
        await client.send(sent)
    else:
        await client.send_raw(sent)
    await client.send({"type": "ping", "n": 4711})
    with contextlib.suppress(Closed):
        await client.until(lambda: {"type": "pong", "n": 4711} in client.frames)
    assert client.closed is None or client.closed[0] == 4000, client.closed
    await client.leave()


@settings(max_examples=100, deadline=None)
@given(message=nearly_messages())
async def test_no_message_however_wrong_is_a_fault_of_ours(server: Server, message: dict[str, Any]) -> None:
    for subprotocol in BOTH:
        await still_answers(server, subprotocol, message)


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=200), text=st.text(st.characters(codec="utf-8"), max_size=200))
async def test_no_bytes_and_no_text_are_a_fault_of_ours(server: Server, data: bytes, text: str) -> None:
    await still_answers(server, MSGPACK, data)
    await still_answers(server, JSON, text)


async def test_a_frame_may_have_4096_bytes_and_not_one_more(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client:
        followed = await begun(client)
        await client.send_raw(json.dumps({"type": "ping", "n": 5}).ljust(4096))
        await client.until(lambda: client.frames[-1] == {"type": "pong", "n": 5})
        await client.send_raw(json.dumps({"type": "ping", "n": 6}).ljust(4097))
        assert await client.close_code() == 1009
    for pieces in ([b"\x00" * 4097], [b"\x00" * 4000, b"\x00" * 97], [b"\x00" * 10] * 410, [b"\x00" * 100_000]):
        packed = await connect(server, guest, MSGPACK)
        await packed.send_raw(pieces)
        assert await packed.close_code() == 1009
        await packed.leave()
    await comes_back(server, guest, followed)


async def test_a_frame_of_the_other_kind_is_closed_with_1003(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client:
        followed = await begun(client)
        await client.send_raw(json.dumps({"type": "ping", "n": 1}).encode())
        assert await client.close_code() == 1003
    async with connected(server, guest, MSGPACK) as packed:
        await packed.send_raw(json.dumps({"type": "ping", "n": 1}))
        assert await packed.close_code() == 1003
    await comes_back(server, guest, followed)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"\x81\x05hello", 1002),  # not masked
        (b"\x83\x80\x00\x00\x00\x00", 1002),  # an opcode there is not
        (b"\xf1\x80\x00\x00\x00\x00", 1002),  # reserved bits
        (b"\x89\xfe\x00\x7e" + bytes(130), 1002),  # too large for a ping
        (frame(b"x", Opcode.CONT), 1002),  # goes on with nothing
        (frame("x", fin=False) + frame("y"), 1002),  # begins again before it ended
        (frame(b"\xff\xfe", Opcode.TEXT), 1007),
        (frame(b"\xf0\x9f", Opcode.TEXT, fin=False) + frame(b"\x82", Opcode.CONT), 1007),
        (frame(b"\x03\xe8\xff", Opcode.CLOSE), 1007),
        (frame(b"\x01", Opcode.CLOSE), 1002),
    ],
)
async def test_bytes_that_are_no_websocket_are_closed_as_its_standard_says(
    server: Server, guest: Guest, sent: bytes, code: int
) -> None:
    with raw_socket(server, guest) as raw:
        raw.sendall(sent)
        stream = b""
        while piece := raw.recv(65536):
            stream += piece
    assert close_code_of(stream) == code


async def test_a_message_in_pieces_with_pings_between_is_one_message(server: Server, guest: Guest) -> None:
    message = json.dumps({"type": "ping", "n": 77})
    with raw_socket(server, guest) as raw:
        raw.sendall(frame(message[:5], fin=False) + frame(b"between", Opcode.PING))
        raw.sendall(b"".join(frame(letter.encode(), Opcode.CONT, fin=False) for letter in message[5:-1]))
        raw.sendall(frame(b"", Opcode.CONT, fin=False) + frame(message[-1:].encode(), Opcode.CONT))
        stream = b""
        while b'"n":77}' not in stream:
            stream += raw.recv(65536)
    assert b"between" in stream


async def test_half_a_frame_and_a_lost_connection_change_nothing(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client:
        followed = await begun(client)
        resign = frame(json.dumps({"type": "do", "id": "r", "game": followed.game.hex(), "command": {"do": "Resign"}}))
        for size in (1, 2, 5, 6, len(resign) // 2, len(resign) - 1):
            with raw_socket(server, guest) as raw:
                raw.sendall(resign[:size])
        await client.ping()
        await goes_on(server, client, followed)
        assert not any(type(fact).__name__ == "Resigned" for fact in followed.facts)


# ---------------------------------------------------------------- handshakes


async def status(server: Server, subprotocols: list[str] | None, headers: dict[str, str]) -> int:
    """Of a handshake that is refused."""
    offered = [Subprotocol(name) for name in subprotocols] if subprotocols else None
    with pytest.raises(InvalidStatus) as caught:
        await open_socket(
            server.url.replace("http", "ws", 1) + "/ws",
            subprotocols=offered,
            additional_headers=headers,
            compression=None,
            proxy=None,
        )
    return caught.value.response.status_code


@pytest.mark.parametrize("offered", [None, ["chat"], ["statecraft.v2.json"], ["Statecraft.v1.json", "statecraft"]])
async def test_a_handshake_without_a_subprotocol_of_ours_is_answered_400(
    server: Server, offered: list[str] | None
) -> None:
    assert await status(server, offered, {}) == 400


@pytest.mark.parametrize(
    "authorization", ["Bearer", "Bearer x", "Bearer " + "A" * 43, "Basic eDp5", "x", "Bearer " + "é" * 43]
)
async def test_a_handshake_with_a_wrong_token_is_answered_401(server: Server, authorization: str) -> None:
    assert await status(server, [JSON], {"Authorization": authorization}) == 401


async def test_a_cookie_counts_only_for_a_page_of_this_server(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client:
        followed = await begun(client)
        cookie = {"Cookie": f"statecraft={guest.token}"}
        for origin in ({}, {"Origin": "https://example.com"}, {"Origin": "null"}, {"Origin": "http://["}):
            async with connected(server, None, headers={**cookie, **origin}) as foreign:
                assert foreign.frames[0]["player"] is None
                assert foreign.frames[0]["why"] == "wrong_origin"
                seen = await foreign.follow(followed.game)
                assert seen.events == followed.events
                assert refused(await foreign.do(followed.game, {"do": "Resign"})) == "no_session"
                assert not any(each["type"] == "hand" for each in foreign.frames)
        own = {"Origin": server.url}
        async with connected(server, None, headers={**cookie, **own}) as page:
            assert page.frames[0]["player"] == guest.player
            assert page.frames[0]["why"] is None
        async with connected(server, None, headers={"Cookie": "statecraft=stale", **own}) as stale:
            assert stale.frames[0]["player"] is None
            assert stale.frames[0]["why"] == "wrong_token"
        await goes_on(server, client, followed)


async def test_a_socket_at_another_address_is_refused(server: Server) -> None:
    for path in ("/", "/nothing", "/api/session", "/ws/x"):
        with pytest.raises(InvalidStatus):
            await open_socket(
                server.url.replace("http", "ws", 1) + path,
                subprotocols=[Subprotocol(JSON)],
                compression=None,
                proxy=None,
            )


# ---------------------------------------------------------------- too fast


async def test_ten_thousand_commands_at_once_are_closed_and_disturb_nobody(server: Server, guest: Guest) -> None:
    neighbour = server.join()
    async with connected(server, neighbour) as other:
        theirs = await begun(other)
        async with connected(server, guest) as client:
            followed = await begun(client)
            playing = asyncio.create_task(other.play_on(theirs, Random(5)))
            for number in range(10_000):
                await client.send(
                    {
                        "type": "do",
                        "id": f"flood-{number}",
                        "game": followed.game.hex(),
                        "command": {"do": "Play", "battle": 99, "card": 1},
                    }
                )
            assert await client.close_code() == 4003
            assert len([each for each in client.frames if each["type"] == "refused"]) <= 200
        await playing
        assert server.audit(theirs.game).over
    await comes_back(server, guest, followed)


async def test_a_burst_of_100_messages_is_answered(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client:
        for n in range(100):
            await client.send({"type": "ping", "n": n})
        await client.until(lambda: client.frames[-1] == {"type": "pong", "n": 99})
        assert [each["n"] for each in client.frames[1:]] == list(range(100))


# ---------------------------------------------------------------- once


async def test_the_same_command_five_times_is_one_event_with_five_equal_answers(
    server: Server, guest: Guest, subprotocol: str
) -> None:
    async with connected(server, guest, subprotocol) as client:
        followed = await begun(client)
        assert followed.hand is not None
        command = {"do": "Play", "battle": 1, "card": followed.hand[2]}
        answers = [await client.do(followed.game, command, "again") for _ in range(5)]
        assert answers[0]["type"] == "done"
        assert answers == [answers[0]] * 5
        assert [fact.card for fact in followed.facts if isinstance(fact, Played)] == [followed.hand[2]] or (
            len([fact for fact in followed.facts if isinstance(fact, Played)]) == 1
        )
        await goes_on(server, client, followed)


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_open_sent_again_gets_the_answer_of_its_opening_while_the_game_runs(
    server: Server, guest: Guest, subprotocol: str
) -> None:
    async with connected(server, guest, subprotocol) as client:
        first = await client.ask("open", "open-it", rules=RULES, mode="relaxed", settings={})
        followed = await client.follow(bytes.fromhex(first["game"]))
        await client.mix(followed)
        for _ in range(5):
            assert await client.ask("open", "open-it", rules=RULES, mode="relaxed", settings={}) == first
        for _ in range(6):
            await client.until(lambda: followed.my_turn)
            assert followed.hand is not None
            await client.do(followed.game, {"do": "Play", "battle": followed.battle, "card": followed.hand[0]})
        assert await client.ask("open", "open-it", rules=RULES, mode="relaxed", settings={}) == first
        another = await client.ask("open", "another", rules=RULES, mode="relaxed", settings={})
        assert another["game"] == first["game"]
        assert another["version"] > first["version"]
        refused = await client.ask("open", "wrong", rules=RULES, mode="relaxed", settings={"speed": 1})
        assert refused["reason"] == "unknown_setting"


async def test_the_same_command_on_five_connections_at_once_is_one_event_with_five_equal_answers(
    server: Server, guest: Guest
) -> None:
    clients = [await connect(server, guest, BOTH[number % 2]) for number in range(5)]
    followed = await begun(clients[0])
    copies = [followed, *[await client.follow(followed.game) for client in clients[1:]]]
    while not followed.over:
        await clients[0].until(lambda: followed.my_turn)
        assert followed.hand is not None
        command = {"do": "Play", "battle": followed.battle, "card": followed.hand[-1]}
        id_ = f"both-{followed.battle}"
        answers = await asyncio.gather(*(client.do(followed.game, command, id_) for client in clients))
        assert answers[0]["type"] == "done"
        assert answers == [answers[0]] * 5
        await clients[0].reach(followed, answers[0]["version"])
    for client, copy in zip(clients, copies, strict=True):
        await client.reach(copy, followed.head.version)
        assert copy.events == followed.events
        await client.leave()
    played = [fact.battle for fact in followed.facts if isinstance(fact, Played)]
    assert played == list(range(1, len(played) + 1))
    assert server.audit(followed.game).over


async def test_a_command_sent_again_much_later_gets_its_first_answer(
    server: Server, guest: Guest, subprotocol: str
) -> None:
    async with connected(server, guest, subprotocol) as client:
        followed = await client.follow(await client.open("strategic"))
        commands: list[Message] = [{"do": "Mix", "entropy": bytes(32)}]
        answers = [await client.do(followed.game, commands[0], "c0")]
        while not followed.over:
            await client.until(lambda: followed.my_turn)
            assert followed.hand is not None
            commands.append({"do": "Play", "battle": followed.battle, "card": followed.hand[0]})
            answers.append(await client.play(followed, followed.hand[0], f"c{len(answers)}"))
            for number in range(len(answers)):
                assert await client.do(followed.game, commands[number], f"c{number}") == answers[number]
                # As slow as the rate allows.
                await asyncio.sleep(0.03 if len(client.frames) > 100 else 0)
        assert len(answers) > 5, "more than the server keeps beside the table"
        assert server.audit(followed.game).head == followed.head


async def test_the_same_id_from_two_players_is_two_commands(server: Server, guest: Guest) -> None:
    other = server.join()
    async with connected(server, guest) as one, connected(server, other) as two:
        games = [await one.open(id_="same"), await two.open(id_="same")]
        assert games[0] != games[1]
        for client, game in zip((one, two), games, strict=True):
            followed = await client.follow(game)
            await client.mix(followed, id_="same-mix")
            await goes_on(server, client, followed)


# ---------------------------------------------------------------- one game a player and difficulty


async def test_opening_twice_gives_the_same_game_until_it_is_over(
    server: Server, guest: Guest, subprotocol: str
) -> None:
    async with connected(server, guest, subprotocol) as client:
        first = await client.open("relaxed", "o1")
        assert await client.open("relaxed", "o1") == first
        assert await client.open("relaxed", "o2") == first
        other = await client.open("strategic")
        assert other != first
        followed = await client.follow(first)
        await client.play_on(followed, Random(3))
        second = await client.open("relaxed", "o3")
        assert second not in (first, other)
        assert await client.open("strategic") == other
        third = await client.follow(second)
        await client.do(second, {"do": "Resign"})
        await client.until(lambda: third.over)
        assert third.table["finished"] == {"winner": None, "reason": "void"}
        assert await client.open("relaxed") not in (first, second, other)


async def test_opening_from_many_connections_at_once_gives_one_game(server: Server, guest: Guest) -> None:
    clients = [await connect(server, guest, BOTH[number % 2]) for number in range(6)]
    games = await asyncio.gather(*(client.open(id_=f"o{number}") for number, client in enumerate(clients)))
    assert len(set(games)) == 1
    strategic = await asyncio.gather(*(client.open("strategic", "same") for client in clients))
    assert len(set(strategic)) == 1
    followed = await clients[0].follow(games[0])
    assert followed.head.version == 3
    await goes_on(server, clients[0], followed)
    for client in clients:
        await client.leave()


async def test_the_rival_met_is_the_rival_opened(server: Server, guest: Guest, subprotocol: str) -> None:
    async with connected(server, guest, subprotocol) as client:
        met = [await client.ask("meet", rules=RULES, mode="strategic") for _ in range(3)]
        assert {(each["type"], each["game"], each["rival"], each["live"]) for each in met} == {
            ("met", met[0]["game"], met[0]["rival"], False)
        }
        await client.send({"type": "subscribe", "topic": f"game/{met[0]['game']}"})
        await client.until(lambda: client.frames[-1].get("reason") == "unknown_game")
        game = await client.open("strategic")
        assert game.hex() == met[0]["game"]
        followed = await client.follow(game)
        assert followed.table["seats"][1]["rival"] == met[0]["rival"]
        again = await client.ask("meet", rules=RULES, mode="strategic")
        assert (again["game"], again["rival"], again["live"]) == (met[0]["game"], met[0]["rival"], True)
        await goes_on(server, client, followed)
        after = await client.ask("meet", rules=RULES, mode="strategic")
        assert after["game"] != met[0]["game"]
        assert after["live"] is False


# ---------------------------------------------------------------- subscriptions


async def test_a_connection_watches_sixteen_games_at_most(server: Server, guest: Guest, subprotocol: str) -> None:
    async with connected(server, guest, subprotocol) as client:
        games = []
        for _ in range(17):
            games.append(await client.open())
            await client.do(games[-1], {"do": "Resign"})
        for game in games[:16]:
            await client.follow(game)
        full = {"type": "not_subscribed", "topic": f"game/{games[16].hex()}", "reason": "too_many_subscriptions"}
        await client.send({"type": "subscribe", "topic": f"game/{games[16].hex()}"})
        await client.until(lambda: client.frames[-1] == full)
        # One that is there already is replaced, and a place given up can be taken.
        await client.follow(games[3])
        await client.send({"type": "unsubscribe", "topic": f"game/{games[5].hex()}"})
        followed = await client.follow(games[16])
        assert followed.over


@pytest.mark.parametrize(
    "topic", ["", "game", "game/", "game/0", "lobby/1", "me/1", "GAME/" + "0" * 32, "game/" + "F" * 32, "x" * 128, "é"]
)
async def test_a_topic_nobody_knows_is_refused(server: Server, topic: str, subprotocol: str) -> None:
    async with connected(server, None, subprotocol) as client:
        await client.send({"type": "subscribe", "topic": topic})
        answer = {"type": "not_subscribed", "topic": topic, "reason": "unknown_topic"}
        await client.until(lambda: client.frames[-1] == answer)
        await client.send({"type": "unsubscribe", "topic": topic})
        await client.send({"type": "unsubscribe", "topic": "game/" + "0" * 32})
        await client.ping()


async def test_after_unsubscribing_nothing_comes(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client, connected(server) as watcher:
        followed = await begun(client)
        seen = await watcher.follow(followed.game)
        await watcher.send({"type": "unsubscribe", "topic": followed.topic})
        await watcher.ping()
        before = len(watcher.frames)
        await goes_on(server, client, followed)
        await watcher.ping()
        assert [each["type"] for each in watcher.frames[before:]] == ["pong"]
        again = await watcher.follow(followed.game, after=seen.head)
        assert again.events == followed.events


async def test_every_connection_of_a_player_gets_the_hand_and_nobody_else_does(server: Server, guest: Guest) -> None:
    stranger = server.join()
    async with (
        connected(server, guest) as one,
        connected(server, guest, MSGPACK) as two,
        connected(server, stranger, MSGPACK) as other,
        connected(server) as watcher,
    ):
        followed = await begun(one, "strategic")
        twin = await two.follow(followed.game)
        shown = [await other.follow(followed.game), await watcher.follow(followed.game)]
        while not followed.over:
            await two.until(lambda: twin.head == followed.head and twin.my_turn)
            assert twin.hand == followed.hand
            await one.play(followed)
        for client, seen in zip((other, watcher), shown, strict=True):
            await client.reach(seen, followed.head.version)
            assert seen.events == followed.events
            assert {each["type"] for each in client.frames} - {"presence"} == {"hello", "subscribed", "events", "pong"}


# ---------------------------------------------------------------- resuming


async def test_who_lost_the_connection_gets_exactly_what_was_missed(
    server: Server, guest: Guest, subprotocol: str
) -> None:
    async with connected(server, guest) as player:
        followed = await begun(player)
        lost = await connect(server, guest, subprotocol)
        seen = await lost.follow(followed.game)
        await player.play(followed)
        await lost.until(lambda: seen.head == followed.head)
        lost.drop()
        await lost.close_code()
        held = list(seen.events)
        await player.play(followed)
        await player.play(followed)
        async with connected(server, guest, subprotocol) as back:
            again = await back.follow(followed.game, after=seen.head, held=seen)
            assert again.starts[-1]["recovered"] is True
            assert (again.starts[-1]["version"], again.starts[-1]["hash"]) == (held[-1].version, held[-1].hash)
            sent = [body for each in back.frames if each["type"] == "events" for body in each["events"]]
            assert sent == [event.body for event in followed.events[len(held) :]]
            assert again.events == followed.events
            assert again.hand == followed.hand
            await goes_on(server, player, followed)
            await back.until(lambda: again.events == followed.events)


async def test_who_holds_everything_gets_nothing_again(server: Server, guest: Guest, subprotocol: str) -> None:
    async with connected(server, guest) as player, connected(server, guest, subprotocol) as back:
        followed = await begun(player)
        again = await back.follow(
            followed.game, after=followed.head, held=Followed(followed.game, list(followed.events))
        )
        assert again.starts[-1]["recovered"] is True
        assert not any(each["type"] == "events" for each in back.frames)
        assert again.hand == followed.hand


async def test_who_holds_another_history_is_told_so_and_gets_the_whole_log(
    server: Server, guest: Guest, subprotocol: str
) -> None:
    async with connected(server, guest) as player:
        followed = await begun(player)
        head = followed.head
        wrong = [
            Head(head.version, bytes(32)),
            Head(head.version, head.hash[:-1] + bytes([head.hash[-1] ^ 1])),
            Head(head.version - 1, head.hash),
            Head(head.version + 1, head.hash),
            Head(2**31, bytes(32)),
            Head(0, bytes(32)),
        ]
        for after in wrong:
            async with connected(server, guest, subprotocol) as back:
                held = Followed(followed.game, list(followed.events))
                again = await back.follow(followed.game, after=after, held=held)
                assert again.starts[-1]["recovered"] is False
                assert again.starts[-1]["version"] == 0
                assert again.events == followed.events
        async with connected(server, guest, subprotocol) as back:
            again = await back.follow(followed.game, after=chain.origin(followed.game))
            assert again.starts[-1]["recovered"] is True
            assert again.events == followed.events


async def test_whoever_subscribes_while_others_play_sees_each_event_once(server: Server, guest: Guest) -> None:
    """Event between snapshot and subscription, repeated delivery, gap: each would break a chain of `Followed`."""
    over = asyncio.Event()

    async def watch(number: int) -> None:
        chance = Random(number)
        async with connected(server, guest if number % 3 == 0 else None, BOTH[number % 2]) as client:
            copy = Followed(followed.game)
            while not over.is_set():
                after = chance.choice([None, copy.head, *[event.head for event in copy.events[-3:]]])
                await client.follow(followed.game, after, copy)
                assert copy.starts[-1]["recovered"] is True
                await asyncio.sleep(0.04 * chance.random() + 0.05)
            await client.until(lambda: copy.head == followed.head)
            assert copy.events == followed.events

    async with connected(server, guest) as player:
        followed = await begun(player, "strategic")
        watchers = [asyncio.create_task(watch(number)) for number in range(12)]
        while not followed.over:
            await player.play(followed)
            await asyncio.sleep(0.01)
        over.set()
        await asyncio.gather(*watchers)
        assert saved.load(server.export(followed.game)).events == tuple(followed.events)


async def test_both_subprotocols_tell_the_same_log(server: Server, guest: Guest) -> None:
    async with connected(server, guest, JSON) as one, connected(server, guest, MSGPACK) as two:
        followed = await begun(one)
        twin = await two.follow(followed.game)
        await one.play_on(followed, Random(4))
        # The hand is a frame of its own, behind the events.
        await two.until(lambda: twin.over and twin.hand == followed.hand)
        assert twin.events == followed.events
        told = [event for each in one.frames if each["type"] == "events" for event in each["told"]]
        assert len(told) == len(followed.events)
        for event, stored in zip(told, followed.events, strict=True):
            decoded = codec.decode(stored.body)
            assert event["at_ms"] == decoded.at_ms
            assert event["fact"]["type"] == type(decoded.fact).__name__


async def test_a_frame_left_out_repeated_or_changed_is_seen(server: Server, guest: Guest) -> None:
    async with connected(server, guest, MSGPACK) as client:
        followed = await begun(client)
        await client.play_on(followed, Random(6))
        frames = [each for each in client.frames if each.get("topic") == followed.topic]

    def take(told: list[Message]) -> None:
        copy = Followed(followed.game)
        for each in told:
            copy.take(each)

    take(frames)
    places = [at for at, each in enumerate(frames) if each["type"] == "events"]
    for at in places:
        changed = {**frames[at], "events": [b"\x91\x01", *frames[at]["events"][1:]]}
        for broken in (
            [*frames[: at + 1], frames[at], *frames[at + 1 :]],
            [*frames[:at], changed, *frames[at + 1 :]],
            [*frames[:at], *frames[at + 1 :]],
        ):
            if at == places[-1] and len(broken) < len(frames):
                continue  # Nothing follows a lost last frame; the server's look at the head mends that.
            with pytest.raises(AssertionError):
                take(broken)
