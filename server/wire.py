"""Every message of the socket, in one place: closed types, their two encodings, and the answer to anything else.

docs/protocol.md says the same in words, with examples that the tests run. Game ids and player ids travel as hex, other
bytes as msgpack bin or base64 (RFC 4648 section 4).
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import IntEnum, StrEnum
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Final, Literal, get_type_hints

import msgspec
from msgspec import Meta, Struct

from events import codec
from events.chain import Head, Stored
from events.shapes import shape
from rules.catalogue import RULES
from rules.game import PLAYER_COMMANDS, Command, Rules, Table

FRAME_BYTES_MAX: Final = 4096
"""Of one incoming frame; a larger one closes the connection with 1009."""

Id = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[!-~]+\Z")]
"""Chosen by the client; answers carry it back. A command sent again with its id happens once."""
GameId = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
RulesName = Annotated[str, Meta(max_length=64)]
Mode = Annotated[str, Meta(max_length=32)]
Version = Annotated[int, Meta(ge=0, le=2**31)]
Hash = Annotated[bytes, Meta(min_length=32, max_length=32)]
Topic = Annotated[str, Meta(max_length=128)]
Speed = Annotated[float, Meta(ge=0.5, le=8)]
BeatMs = Annotated[int, Meta(ge=50, le=60_000)]


class Code(IntEnum):
    """Close codes of our own (RFC 6455 section 7.4.2), with what a client does next."""

    BAD_FRAME = 4000
    """The frame broke the protocol. Mend the client; reconnecting is allowed, sending the frame again is useless."""
    SESSION_ENDED = 4001
    """The player's token is no longer valid: it was renewed, or all was erased. Reconnect with the new one."""
    TOO_FAST = 4003
    """Too many frames. Wait a second, reconnect, resume."""
    TOO_SLOW = 4008
    """The reader fell behind. Reconnect and resume from the last version it saw."""


class Trouble(StrEnum):
    """Why the server, not the rules, refused: the rest of the closed list of reasons."""

    NO_SESSION = "no_session"
    UNKNOWN_GAME = "unknown_game"
    UNKNOWN_RULES = "unknown_rules"
    UNKNOWN_TOPIC = "unknown_topic"
    TOO_MANY_SUBSCRIPTIONS = "too_many_subscriptions"
    ALREADY_PLAYING = "already_playing"
    TOO_MANY_GAMES = "too_many_games"
    NOT_OVER = "not_over"
    DAMAGED = "damaged"
    BARRED = "barred"
    TRY_AGAIN = "try_again"


# ---------------------------------------------------------------- from the client


class Message(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    pass


class Meet(Message, tag="meet", frozen=True):
    """Who would sit opposite? Claims the player's place in the ladder, opens nothing."""

    id: Id
    rules: RulesName
    mode: Mode


class OpenGame(Message, tag="open", frozen=True):
    """Open the game that `meet` told of, or come back to the unfinished one in that ladder."""

    id: Id
    rules: RulesName
    mode: Mode
    settings: dict[str, int | str] = {}


class Do(Message, tag="do", frozen=True):
    """A command of the game's own. The seat comes from the session."""

    id: Id
    game: GameId
    command: msgspec.Raw


class Sit(Message, tag="sit", frozen=True):
    """Take the seat that is kept for you in a game between people, else its free one."""

    id: Id
    game: GameId
    entropy_hash: Hash
    """What `Mix` must open (docs/audit.md): your entropy follows from the hash of `Opened`, which you hold by now."""


class Invite(Message, tag="invite", frozen=True):
    """Open a game between people that counts for nothing. Its maker sits with `sit`, as whoever follows the link."""

    id: Id
    rules: RulesName
    settings: dict[str, int | str]
    listed: bool
    """Whether the lobby shows the free seat; else only who knows the game's id can take it."""


class Queue(Message, tag="queue", frozen=True):
    """Wait to be paired for a game that counts. `me` tells of the game; the place ends with the last connection."""

    id: Id
    rules: RulesName


class LeaveQueue(Message, tag="leave_queue", frozen=True):
    id: Id
    rules: RulesName


class Rematch(Message, tag="rematch", frozen=True):
    """Ask the other player of a finished game for another with seats swapped, or accept that. It counts for nothing."""

    id: Id
    game: GameId


class Subscribe(Message, tag="subscribe", frozen=True):
    """To `game/ID`, `lobby`, `me` or `board/LADDER/MEASURE/WINDOW`; or to `replay/ID`, which alone takes the fields
    below `after`."""

    topic: Topic
    after: tuple[Version, Hash] | None = None
    """Version and hash of the last event the client holds, of a feed its last version and hash; None: all of it."""
    at: Version | None = None
    """What stood after that many events is shown first, and what follows continues there."""
    limit: Version | None = None
    """Events that follow, at most; None: to the end."""
    speed: Speed | None = None
    """At the recorded times, so many times faster."""
    beat_ms: BeatMs | None = None
    """Instead, one event each so many milliseconds. Neither: all at once."""
    as_: Literal["0", "1", "public", "open"] | None = msgspec.field(default=None, name="as")
    """Whose hands come with each table, of a finished game: a seat's, nobody's, both."""

    @property
    def asks_for_replay(self) -> bool:
        return any(given is not None for given in (self.at, self.limit, self.speed, self.beat_ms, self.as_))


class Unsubscribe(Message, tag="unsubscribe", frozen=True):
    """Hear no more of a topic."""

    topic: Topic


class Ping(Message, tag="ping", frozen=True):
    """Is anybody there? Answered by `pong`, after everything that was asked before."""

    n: Annotated[int, Meta(ge=0, le=2**31)]


FromClient = Meet | OpenGame | Sit | Invite | Queue | LeaveQueue | Rematch | Do | Subscribe | Unsubscribe | Ping

# ---------------------------------------------------------------- to the client


class Hello(Message, tag="hello", frozen=True):
    """The first frame of every connection."""

    player: str | None
    """None: this connection may only watch."""
    why: str | None
    """Why a cookie that came was not used, if so."""
    now_ms: int


class Met(Message, tag="met", frozen=True):
    """Who sits opposite in the game that the player's place in the ladder is claimed for."""

    id: str
    game: str
    rival: str
    live: bool
    """Whether an unfinished game waits there."""


class Done(Message, tag="done", frozen=True):
    """The command stands in the log. `version` and `hash`: the head it made, the same however often it is sent."""

    id: str
    game: str
    version: int
    hash: bytes


class NotDone(Message, tag="refused", frozen=True):
    """Nothing was changed, and why: docs/protocol.md says what to do about each reason."""

    id: str
    reason: str


class Queued(Message, tag="queued", frozen=True):
    """You wait in the queue, or did already."""

    id: str
    rules: str


class Left(Message, tag="left", frozen=True):
    """You don't wait in the queue. A pairing that was made before stands: `me` tells of it."""

    id: str
    rules: str


class Offered(Message, tag="offered", frozen=True):
    """The rematch is offered to the other player, whose `me` shows it."""

    id: str
    game: str


class Subscribed(Message, tag="subscribed", frozen=True):
    """`recovered`: what follows continues `after`. False: it starts from the beginning, drop what you hold."""

    topic: str
    recovered: bool
    version: int
    hash: bytes
    """Of the event at `version`; of a feed its epoch, which another one never has."""


class Forked(Message, tag="forked", frozen=True):
    """The log went another way than you were shown: drop the events after `version`. What follows comes from there."""

    topic: str
    version: int
    hash: bytes


class NotSubscribed(Message, tag="not_subscribed", frozen=True):
    """There is no such subscription, or no longer, and why."""

    topic: str
    reason: str


class Events(Message, tag="events", frozen=True):
    """Events as stored, the last of which is `version`; chain them yourself. `hash8`: first 8 bytes of its hash.

    Without events it shows what stood at `version`: the first frame of a replay that was asked to begin there."""

    topic: str
    version: int
    hash8: bytes
    events: list[Any]
    """msgpack: bodies. JSON: {body, at_ms, fact} each."""
    table: Table | None
    """The public view after the last of them; None where more of the backlog follows at once."""
    due_ms: int | None
    """When the present deadline is, on the clock of `hello.now_ms`; None: there is none, or more follows."""


class Replayed(Message, tag="replayed", frozen=True):
    """That was all a replay was asked for. `version`, `hash`: of the last event told; `head`: the log's version."""

    topic: str
    version: int
    hash: bytes
    head: int


class Hand(Message, tag="hand", frozen=True):
    """The cards playable now, at this version: to its own seat only, or of a game that is over."""

    topic: str
    version: int
    seat: int
    cards: tuple[int, ...]


class Presence(Message, tag="presence", frozen=True):
    """Who is there, to a game's subscribers: at most once a second, and only where it changed."""

    topic: str
    seats: tuple[bool | None, bool | None]
    """Whether the seat's player is connected, or was less than 5 s ago; None: the house, or nobody sits there."""
    watchers: int
    """Players connected to it who don't sit in it, and connections without a player."""


class Names(Message, tag="names", frozen=True):
    """What the players of a game are called, to its subscribers, where one of them has a name."""

    topic: str
    names: tuple[str | None, str | None]
    """By seat; None: the house, nobody, or a player without a name."""


class Snapshot(Message, tag="snapshot", frozen=True):
    """The whole of a feed at the position that `subscribed` has just told: its sections, each with its rows."""

    topic: str
    version: int
    state: dict[str, list[Any]]


class Delta(Message, tag="delta", frozen=True, omit_defaults=True):
    """What changed in a feed from the version before: by section, rows that came or changed and keys that went."""

    topic: str
    version: int
    put: dict[str, list[Any]]
    gone: dict[str, list[str]]
    hash: bytes | None = None
    """Of a board: the ledger's last leaf at this version, to resume with. Other feeds keep their epoch."""


class Pong(Message, tag="pong", frozen=True):
    """The answer to `ping`."""

    n: int


ToClient = (
    Hello
    | Met
    | Done
    | NotDone
    | Queued
    | Left
    | Offered
    | Subscribed
    | Forked
    | NotSubscribed
    | Events
    | Replayed
    | Hand
    | Presence
    | Names
    | Snapshot
    | Delta
    | Pong
)

# ---------------------------------------------------------------- rows of the feeds


class OpenSeat(Struct, frozen=True):
    """`lobby`, section `seats`, by game: a free seat that anybody may take, while its maker is connected."""

    game: str
    rules: str
    settings: dict[str, int | str]
    player: str
    name: str | None
    """What the player is called, if anything."""
    since_ms: int


class LiveGame(Struct, frozen=True):
    """`lobby`, section `live`, by game: a game that is being played."""

    game: str
    rules: str
    mode: str
    players: tuple[str, str]
    """By seat; empty for the house."""
    names: tuple[str | None, str | None]
    """What they are called, if anything."""
    rival: str
    battle: int
    round: int
    """0 where the rules have no rounds."""
    watchers: int
    since_ms: int


class BoardState(Struct, frozen=True):
    """`board/…`, section `board`, one row: what the places are of."""

    ladder: str
    measure: str
    window: str
    until_ms: int | None
    """When the feed goes over to the next week or day; None: it is of all time."""
    size: int
    """How many stand on the whole board."""


class BoardPlace(Struct, frozen=True):
    """`board/…`, section `places`, by player: the top of the board. Rows come in no order: `position` has it."""

    rank: int
    """From 1; equal values share it."""
    position: int
    """From 0."""
    player: str
    name: str | None
    value: int
    index: int
    """The ledger entry that gave the value."""


class MyGame(Struct, frozen=True):
    """`me`, section `games`, by game: an unfinished game between people with a seat of yours, taken or kept for you."""

    game: str
    rules: str
    seat: int
    counts: bool


class Offer(Struct, frozen=True):
    """`me`, section `offers`, by game: a rematch of that finished game, asked of you."""

    game: str
    rules: str
    player: str
    """Who asks."""


# ---------------------------------------------------------------- bytes


class BadFrame(Exception):
    """The peer broke the protocol: says what was expected and what came."""


class Codec(Struct, frozen=True):
    """One subprotocol."""

    name: str
    text: bool
    decoder: Callable[[Any], Callable[[bytes | str], Any]]
    """From a type to what decodes it."""
    encode: Callable[[ToClient], bytes]


MSGPACK = Codec(
    "statecraft.v1.msgpack",
    False,
    lambda type_: msgspec.msgpack.Decoder(type_).decode,  # type: ignore[return-value, arg-type]
    msgspec.msgpack.Encoder().encode,
)
JSON = Codec(
    "statecraft.v1.json",
    True,
    lambda type_: msgspec.json.Decoder(type_).decode,
    msgspec.json.Encoder().encode,
)
CODECS = {codec.name: codec for codec in (MSGPACK, JSON)}


def message(codec: Codec, frame: bytes | str) -> FromClient:
    """The typed message in a frame. Raises BadFrame."""
    taken: FromClient = _decoded(_MESSAGES[codec.name], frame)
    return taken


def command(rules: Rules, codec: Codec, raw: bytes | msgspec.Raw) -> Command:
    """The typed command in a `do` message. Raises BadFrame."""
    taken = _decoded(_COMMANDS[rules.name, codec.name], raw)
    plain, values = _PLAIN[type(taken)]
    return plain(*values(taken))


def _decoded(decode: Callable[[Any], Any], frame: bytes | str | msgspec.Raw) -> Any:
    try:
        return decode(frame)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadFrame(str(error)) from error


@cache
def _wire_type(command_type: type) -> type[Struct]:
    """The message type of a command, made from its own fields: a further game needs nothing here."""
    hints = get_type_hints(command_type)
    shapes = [(field.name, _bounded(hints[field.name])) for field in fields(command_type)]
    return msgspec.defstruct(
        command_type.__name__,
        shapes,
        frozen=True,
        forbid_unknown_fields=True,
        tag_field="do",
        tag=command_type.__name__,
    )


def _bounded(hint: Any) -> Any:
    plain = getattr(hint, "__supertype__", hint)
    bounds: dict[Any, Any] = {
        int: Annotated[int, Meta(ge=0, le=2**31)],
        bytes: Annotated[bytes, Meta(max_length=64)],
        str: Annotated[str, Meta(max_length=64)],
    }
    return bounds[plain]


_WIRE = {rules.name: [_wire_type(each) for each in (*PLAYER_COMMANDS, *rules.commands)] for rules in RULES.values()}
COMMANDS: Mapping[str, type[Struct]] = {each.__name__: each for structs in _WIRE.values() for each in structs}
"""The commands of all games as `do` carries them, by name."""
_PLAIN: dict[type[Struct], tuple[Any, Callable[[Any], tuple[Any, ...]]]] = {
    struct: (plain, shape(plain).values)
    for rules in RULES.values()
    for struct, plain in zip(_WIRE[rules.name], (*PLAYER_COMMANDS, *rules.commands), strict=True)
}
_COMMANDS = {
    (name, codec.name): codec.decoder(reduce(or_, structs))
    for name, structs in _WIRE.items()
    for codec in CODECS.values()
}
_MESSAGES = {codec.name: codec.decoder(FromClient) for codec in CODECS.values()}


# ---------------------------------------------------------------- frames of a game's log


def topic(game: bytes) -> str:
    return f"game/{game.hex()}"


def events_frame(
    codec_: Codec, game: bytes, events: tuple[Stored, ...], table: Table | None, due_ms: int | None
) -> bytes:
    """One `events` message, encoded once for everybody who speaks this subprotocol."""
    return moment_frame(codec_, topic(game), events[-1].head, events, table, due_ms)


def moment_frame(
    codec_: Codec, topic_: str, head: Head, events: tuple[Stored, ...], table: Table | None, due_ms: int | None = None
) -> bytes:
    """One `events` message that leads to `head`, of any topic, perhaps without events."""
    listed: list[Any] = [_told(event) for event in events] if codec_.text else [event.body for event in events]
    return codec_.encode(Events(topic_, head.version, head.hash[:8], listed, table, due_ms))


def _told(event: Stored) -> dict[str, Any]:
    decoded = codec.decode(event.body)
    fact = {"type": type(decoded.fact).__name__}
    fact.update((field.name, getattr(decoded.fact, field.name)) for field in fields(decoded.fact))
    return {"body": event.body, "at_ms": decoded.at_ms, "fact": fact}


def done(id_: str, game: bytes, head: Head) -> Done:
    return Done(id_, game.hex(), head.version, head.hash)
