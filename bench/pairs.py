"""Two people at one game: the load of commands that both see."""

import asyncio
from dataclasses import dataclass, field

from bench.clients import Player
from rules import fairness

SALT = bytes(32)
"""Who measures has no secrets."""
ENTROPY = bytes(32)
COMMANDS = 4
"""Of a battle: both commit, both reveal."""


@dataclass(slots=True)
class Pair:
    """Their games, one after the other, each command after the answer to the last."""

    players: tuple[Player, Player]
    game: bytes = b""
    cards: list[int] = field(default_factory=list)
    """Sealed in this battle, by seat."""

    async def begin(self) -> bytes:
        """A game that counts for nothing, dealt, both following it."""
        maker = self.players[0]
        made = await maker.ask("invite", rules="fifty-states/1", settings={}, listed=False)
        self.game = bytes.fromhex(made["game"])
        for seat, player in enumerate(self.players):
            await player.follow(self.game)
            hashed = fairness.entropy_hash(self.game, seat, ENTROPY)
            answer = await player.ask("sit", game=self.game.hex(), entropy_hash=hashed)
            assert answer["type"] == "done", answer
        for player in self.players:
            await player.do(self.game, "Mix", entropy=ENTROPY)
        await self.meet()
        return self.game

    async def meet(self) -> None:
        """Both have seen as much as each, and hold the hand that belongs to it."""
        version = max(player.version for player in self.players)
        await asyncio.gather(*(player.until_version(version) for player in self.players))
        await asyncio.gather(*(player.until_hand(version) for player in self.players))

    async def command(self, number: int) -> Player:
        """One of a battle's four: who asked it, and has its answer."""
        seat = number % 2
        player = self.players[seat]
        battle = player.table["position"]["battle"]
        if number == 0:
            self.cards = [each.hand[0] for each in self.players]
        if number < 2:
            seal = fairness.seal(self.game, seat, battle, self.cards[seat], SALT)
            await player.do(self.game, "Commit", battle=battle, seal=seal)
        else:
            await player.do(self.game, "Reveal", battle=battle, card=self.cards[seat], salt=SALT)
        return player

    async def battle(self) -> None:
        for number in range(COMMANDS):
            await self.command(number)
        await self.meet()

    async def end(self) -> None:
        await self.players[0].end(self.game)
        await self.meet()
