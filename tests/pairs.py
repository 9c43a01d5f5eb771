"""Games between two people, each with his own secret: through the rules alone, and by two programs over sockets."""

import asyncio
import contextlib
import hmac
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Any

from websockets.exceptions import InvalidHandshake

from events import chain, codec
from events.chain import Head, Stored
from projections.saved import Saved
from rules import fairness, fifty_states, game, timing
from rules.fifty_states import FIFTY_STATES, Commit, Reveal
from rules.game import (
    CallTime,
    Card,
    Credit,
    Dealer,
    Fact,
    Lose,
    Mix,
    Moved,
    OpenBetween,
    Opened,
    Refused,
    Rules,
    Seated,
    Settings,
    Sit,
    Table,
)
from rules.timing import Clock
from rules.war import Turn
from server.wire import Code
from tests.positions import KEY, NOW, OTHER, PLAYER
from tests.running import JSON, Client, Closed, Followed, Guest, Message, Server, connect

PLAYERS = (PLAYER, OTHER)

# ---------------------------------------------------------------- what a person's own client derives


def entropy(secret: bytes, opened_hash: bytes) -> bytes:
    """As docs/audit.md says: of the hash of `Opened`, so a second opening of a game gets other bytes."""
    return hmac.digest(secret, b"statecraft client-entropy v1\0" + opened_hash, "sha256")


def salt(secret: bytes, opened_hash: bytes, battle: int, card: int) -> bytes:
    """Made again whenever it is needed: nothing but the secret has to be kept."""
    what = opened_hash + battle.to_bytes(2, "big") + card.to_bytes(1, "big")
    return hmac.digest(secret, b"statecraft client-salt v1\0" + what, "sha256")


# ---------------------------------------------------------------- through the rules


@dataclass
class Duel:
    """A game between two people, played through the rules and stored as the server would."""

    rules: Rules = FIFTY_STATES
    number: int = 0
    settings: Settings = ()
    kept: tuple[bytes, bytes] = PLAYERS
    counts: bool = True
    now_ms: int = NOW
    early_ms: int = 0
    """By how much the clock calls time before its deadline."""
    clock: Clock = field(default_factory=Clock, init=False)
    events: list[Stored] = field(default_factory=list, init=False, repr=False)
    facts: list[Fact] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self.game = sha256(b"duel %d" % self.number).digest()[:16]
        self.table = Table(self.game)
        self.dealer = Dealer(self.game, fairness.secret(KEY, self.game))
        self.head: Head = chain.origin(self.game)

    def do(self, command: Any, seat: int = 0) -> Refused | None:
        """One append, a second later than the one before; what the clock does, when it may."""
        if isinstance(command, CallTime):
            self.now_ms = max(self.now_ms, (self.clock.due_ms or 0) - self.early_ms)
        moved = game.move(self.rules, self.table, self.dealer, seat, command, self.now_ms)
        if isinstance(moved, Refused):
            return moved
        assert isinstance(moved, Moved)
        bodies = [codec.encode(codec.Event(self.now_ms, self._cause(command, seat), fact)) for fact in moved.facts]
        self.clock = timing.step(self.rules, self.clock, moved.table, moved.facts, self.now_ms)
        self.facts += moved.facts
        self.events += chain.extend(self.head, bodies)
        self.head = self.events[-1].head
        self.table, self.dealer = moved.table, moved.dealer
        self.now_ms += 1000
        return None

    def _cause(self, command: Any, seat: int) -> bytes:
        match command:
            case CallTime():
                return codec.clocks_cause(self.game, self.clock)
            case OpenBetween() | Credit() | Lose():
                return codec.cause(self.game, codec.SERVER_SEAT, codec.NOBODY, f"{len(self.events)}", command)
            case _:
                return codec.cause(self.game, seat, PLAYERS[seat], f"{len(self.events)}", command)

    def secret(self, seat: int) -> bytes:
        return sha256(b"secret %d of duel %d" % (seat, self.number)).digest()

    @property
    def opened_hash(self) -> bytes:
        return self.events[0].hash

    def entropy(self, seat: int) -> bytes:
        return entropy(self.secret(seat), self.opened_hash)

    def open(self) -> "Duel":
        assert self.do(OpenBetween(self.settings, self.kept, self.counts, False, 1)) is None
        return self

    def sit(self, seat: int) -> Refused | None:
        hash_ = fairness.entropy_hash(self.game, seat, self.entropy(seat))
        return self.do(Sit(PLAYERS[seat], hash_), seat)

    def mix(self, seat: int) -> Refused | None:
        return self.do(Mix(self.entropy(seat)), seat)

    def begin(self, order: tuple[int, int] = (0, 1)) -> "Duel":
        """To the deal."""
        self.open()
        for step in (self.sit, self.mix):
            for seat in order:
                assert step(seat) is None
        return self

    def salt(self, seat: int, battle: int, card: Card) -> bytes:
        return salt(self.secret(seat), self.opened_hash, battle, card)

    def commit(self, seat: int, card: Card) -> Refused | None:
        battle = self.table.position.battle
        return self.do(
            Commit(battle, fairness.seal(self.game, seat, battle, card, self.salt(seat, battle, card))), seat
        )

    def reveal(self, seat: int, card: Card) -> Refused | None:
        battle = self.table.position.battle
        return self.do(Reveal(battle, card, self.salt(seat, battle, card)), seat)

    def battle(self, chance: Random) -> None:
        """Both commit, both reveal, in any order."""
        cards = [chance.choice(fifty_states.hand(self.dealer.hands, seat)) for seat in game.SEATS]
        for step in (self.commit, self.reveal):
            for seat in chance.sample(game.SEATS, 2):
                assert step(seat, cards[seat]) is None

    def turn(self, seat: int, times: int = 1) -> Refused | None:
        return self.do(Turn(self.table.position.battle, times), seat)

    def finish(self, chance: Random) -> "Duel":
        while self.table.finished is None:
            if self.rules is FIFTY_STATES:
                self.battle(chance)
            else:
                for seat in chance.sample(self.rules.owing(self.table), len(self.rules.owing(self.table))):
                    assert self.turn(seat) is None
        return self

    @property
    def saved(self) -> Saved:
        return Saved(self.game, tuple(self.events))


# ---------------------------------------------------------------- over sockets


class Person:
    """One player's program: his secret, and whatever connection he has just now."""

    def __init__(self, server: Server, guest: Guest, chance: Random, subprotocol: str = JSON) -> None:
        self.server = server
        self.guest = guest
        self.chance = chance
        self.secret = chance.randbytes(32)
        self.subprotocol = subprotocol
        self.client: Client | None = None
        self.games: dict[bytes, Followed] = {}
        self.chosen: dict[tuple[bytes, int], int] = {}
        self.acknowledged: list[tuple[bytes, Head]] = []
        """Every head that an answer named."""

    @property
    def player(self) -> bytes:
        return bytes.fromhex(self.guest.player)

    async def here(self) -> Client:
        """The connection, made again where it is gone, with every game followed from what is held."""
        while self.client is None or self.client.closed is not None:
            if self.client is not None:
                assert self.client.closed is None or self.client.closed[0] < Code.BAD_FRAME, self.client.closed
                await self.client.leave()
                self.client = None
            try:
                client = await connect(self.server, self.guest, self.subprotocol)
                for id_, held in self.games.items():
                    await client.follow(id_, held.head if held.events else None, held)
            except (OSError, Closed, EOFError, InvalidHandshake):
                await asyncio.sleep(0.05)
                continue
            self.client = client
        return self.client

    async def ask(self, type_: str, id_: str, **fields: Any) -> Message:
        """A command, sent again with its id over as many connections as it takes."""
        while True:
            client = await self.here()
            with contextlib.suppress(Closed):
                answer = await client.ask(type_, id_, **fields)
                if answer.get("reason") == "try_again":
                    await asyncio.sleep(0.1)  # Whoever asks without a pause is too fast one day.
                    continue
                if answer["type"] == "done":
                    self.acknowledged.append((bytes.fromhex(answer["game"]), Head(answer["version"], answer["hash"])))
                return answer

    async def do(self, id_: bytes, name: str, command: Message) -> Message:
        return await self.ask("do", name, game=id_.hex(), command=command)

    async def follow(self, id_: bytes) -> Followed:
        while id_ not in self.games:
            client = await self.here()
            with contextlib.suppress(Closed):
                self.games[id_] = await client.follow(id_)
        return self.games[id_]

    async def until(self, condition: Callable[[], Any]) -> None:
        """Until it holds, whatever connection tells of it."""
        while not condition():
            client = await self.here()
            with contextlib.suppress(Closed):
                await client.until(condition)

    # ------------------------------------------------------------ one game

    def seat(self, held: Followed) -> int:
        """The seat that is his, or will be."""
        for fact in held.facts:
            if isinstance(fact, Seated) and fact.player == self.player:
                return fact.seat
        kept: dict[bytes, int] = {fact.player: fact.seat for fact in held.facts if isinstance(fact, game.Reserved)}
        return kept.get(self.player, 1 - next(iter(kept.values())))

    def entropy(self, held: Followed) -> bytes:
        return entropy(self.secret, held.events[0].hash)

    async def sit(self, id_: bytes, name: str = "sit") -> Message:
        held = await self.follow(id_)
        hash_ = fairness.entropy_hash(id_, self.seat(held), self.entropy(held))
        return await self.ask("sit", name, game=id_.hex(), entropy_hash=hash_)

    async def mix(self, id_: bytes) -> Message:
        held = await self.follow(id_)
        await self.until(lambda: held.table is not None and (None not in held.table["seats"] or held.over))
        return await self.do(id_, "mix", {"do": "Mix", "entropy": self.entropy(held)})

    def sealed(self, held: Followed, battle: int, card: int) -> tuple[bytes, bytes]:
        """The seal over a card and its salt."""
        salted = salt(self.secret, held.events[0].hash, battle, card)
        return fairness.seal(held.game, self.seat(held), battle, card, salted), salted

    async def commit(self, id_: bytes) -> Message:
        """To any card of the hand, always to the same one in a battle."""
        held = self.games[id_]
        battle = held.battle
        assert held.hand is not None
        card = self.chosen.setdefault((id_, battle), self.chance.choice(held.hand))
        seal, _ = self.sealed(held, battle, card)
        return await self.do(id_, f"commit-{battle}", {"do": "Commit", "battle": battle, "seal": seal})

    async def reveal(self, id_: bytes) -> Message:
        held = self.games[id_]
        battle = held.battle
        card = self.chosen[id_, battle]
        _, salted = self.sealed(held, battle, card)
        command = {"do": "Reveal", "battle": battle, "card": card, "salt": salted}
        return await self.do(id_, f"reveal-{battle}", command)

    async def turn(self, id_: bytes, times: int = 1) -> Message:
        held = self.games[id_]
        return await self.do(id_, f"turn-{held.battle}", {"do": "Turn", "battle": held.battle, "times": times})

    async def play(self, id_: bytes) -> Followed:
        """From the seat to the game's end."""
        held = await self.follow(id_)
        if not any(isinstance(fact, Seated) and fact.player == self.player for fact in held.facts):
            await self.sit(id_)
        seat = self.seat(held)
        if held.table["mixed"][seat] is None:
            await self.mix(id_)
        while await self.owes(held, seat):
            answer = await self.act(held, seat)
            version = answer.get("version", 0)
            await self.until(lambda version=version: held.head.version >= version)  # type: ignore[misc]
            # A refusal: the clock was faster, here or in the end.
            assert answer["type"] == "done" or answer["reason"] in ("wrong_battle", "already_readied", "over"), answer
        return held

    async def owes(self, held: Followed, seat: int) -> bool:
        """Wait until the game waits for this seat, and all is here that a choice needs. False: it is over."""
        await self.until(lambda: held.over or (_owes(held, seat) and held.my_turn))
        return not held.over

    async def act(self, held: Followed, seat: int) -> Message:
        position = held.table["position"]
        if "through" in position:
            return await self.turn(held.game)
        if position["seals"][seat] is None:
            return await self.commit(held.game)
        return await self.reveal(held.game)

    async def leave(self) -> None:
        if self.client is not None:
            await self.client.leave()
            self.client = None


def _owes(held: Followed, seat: int) -> bool:
    """Whether the game waits for this seat."""
    position = held.table["position"] if held.table is not None else None
    if position is None:
        return False
    if "through" in position:
        return bool(position["through"][seat] < position["battle"])
    awaited = position["seals"] if None in position["seals"] else position["shown"]
    return awaited[seat] is None


def opened(held: Followed) -> Opened:
    fact = held.facts[0]
    assert isinstance(fact, Opened)
    return fact


@contextlib.asynccontextmanager
async def people(server: Server, count: int, seed: int = 0, subprotocol: str = JSON) -> AsyncIterator[list[Person]]:
    """So many, each connected."""
    found = [Person(server, server.join(), Random(seed * 1000 + number), subprotocol) for number in range(count)]
    try:
        for each in found:
            await each.here()
        yield found
    finally:
        for each in found:
            await each.leave()
