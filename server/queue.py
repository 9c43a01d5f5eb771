"""The queue for games that count: who of this process waits, and the loop that pairs them through the store."""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Collection

import structlog

from events.log import Unknown
from rules.catalogue import RULES
from rules.game import VERSUS, Rules
from server.between import Between
from server.games import Damaged, Games
from server.meetings import Entry, Meeting, Meetings
from server.unopened import Unopened
from server.wire import Trouble

PAIR_SECONDS = 1.0
"""Between two looks while somebody waits: the longer the wait, the further a rating may be."""
OPENED_AT_ONCE = 100

Rating = Callable[[bytes, str], Awaitable[int]]
"""(player, ladder): in hundredths."""

log_line = structlog.get_logger()


class Queue:
    """Everybody who waits at this process."""

    def __init__(
        self,
        games: Games,
        between: Between,
        unopened: Unopened,
        meetings: Meetings,
        rating: Rating,
        clock: Callable[[], int],
        connected: Callable[[bytes], bool],
    ) -> None:
        """`connected`: whether one of the player's connections lasts."""
        self._games = games
        self._between = between
        self._unopened = unopened
        self._meetings = meetings
        self._rating = rating
        self._clock = clock
        self._connected = connected
        self._server = secrets.token_bytes(16)
        self._waiting: dict[bytes, set[str]] = {}
        """Names of rules, by player."""
        self._entering: set[tuple[bytes, str]] = set()
        """Who is in mind, and perhaps not yet in the store."""
        self._news: set[str] = set()
        """Rules in whose queue something changed."""
        self._woken = asyncio.Event()
        self._unsure = True
        """Whether there may be arranged games that aren't open."""
        self._listeners: list[Callable[[bytes], None]] = []
        self._leaving: set[asyncio.Task[None]] = set()
        unopened.on_doubt(self._doubt)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def listen(self, changed: Callable[[bytes], None]) -> None:
        """Be told of a player who waits, or waits no longer."""
        self._listeners.append(changed)

    def players(self) -> Collection[bytes]:
        """Whoever waits here."""
        return self._waiting.keys()

    def of(self, player: bytes) -> list[str]:
        """The rules that the player waits for."""
        return sorted(self._waiting.get(player, ()))

    async def everywhere(self, player: bytes) -> list[str]:
        """The rules that the player waits for, at whichever server. Raises Unknown."""
        here = self.of(player)
        others = [name for name in RULES if name not in here]
        waits = await asyncio.gather(*(self._meetings.waits(name, [player]) for name in others))
        return sorted([*here, *(name for name, found in zip(others, waits, strict=True) if found)])

    async def enter(self, player: bytes, rules: Rules) -> Trouble | None:
        """Wait, from now on or as before; None: the player waits. Raises Unknown."""
        if rules.name in self._waiting.get(player, ()):
            return None
        if await self._games.is_barred(player):
            return Trouble.BARRED
        ladder = f"{rules.ladder}-{VERSUS}"
        before, free = await self._games.place(player, ladder)
        if free is None:
            free = await self._unopened.missing(before)
        if not free or await self._unopened.awaits(player, rules.name):
            return Trouble.ALREADY_PLAYING
        rating = await self._rating(player, ladder)
        entry = Entry(rules.name, player, ladder, rating, self._clock(), before, self._server)
        # First in mind, then in the store: whoever is paired at once must find himself waiting.
        self._waiting.setdefault(player, set()).add(rules.name)
        self._entering.add((player, rules.name))
        try:
            await self._meetings.enter(entry)
        except BaseException:
            self._forget(player, rules.name)
            self._leave_later(player, rules.name)
            raise
        finally:
            self._entering.discard((player, rules.name))
        if not self._connected(player):
            self.gone(player)
        self._wake(rules.name)
        self._tell(player)
        return None

    async def leave(self, player: bytes, rules: Rules) -> None:
        """Wait no longer. Raises Unknown."""
        await self._meetings.leave(rules.name, player)
        self._forget(player, rules.name)
        self._tell(player)

    async def comes(self, player: bytes) -> None:
        """The player is here, perhaps from a server that ended: what he waited for there he waits for on. Raises
        Unknown."""
        now_ms = self._clock()
        for name in await self.everywhere(player):
            # Of a server that lives, too: whoever has connections to two waits as long as one of them lasts.
            if name not in self.of(player) and await self._meetings.move(name, player, self._server, now_ms):
                self._waiting.setdefault(player, set()).add(name)
                self._wake(name)
        if not self._connected(player):
            self.gone(player)

    def gone(self, player: bytes) -> None:
        """The player's last connection has ended, and so do his places."""
        for name in self.of(player):
            self._forget(player, name)
            self._leave_later(player, name)

    def _leave_later(self, player: bytes, name: str) -> None:
        task = asyncio.get_running_loop().create_task(self._leave_at_last(player, name))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _leave_at_last(self, player: bytes, name: str) -> None:
        while name not in self._waiting.get(player, ()):
            with contextlib.suppress(Unknown):
                await self._meetings.leave(name, player, self._server)
                return
            await asyncio.sleep(PAIR_SECONDS)

    def _forget(self, player: bytes, name: str) -> None:
        names = self._waiting.get(player, set())
        names.discard(name)
        if not names:
            self._waiting.pop(player, None)

    def _tell(self, player: bytes) -> None:
        for changed in self._listeners:
            changed(player)

    # ------------------------------------------------------------ pairing

    def _wake(self, name: str) -> None:
        self._news.add(name)
        self._woken.set()

    def _doubt(self) -> None:
        self._unsure = True
        self._woken.set()

    async def run(self) -> None:
        """For ever."""
        while True:
            if self._unsure:
                await self._resume()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PAIR_SECONDS if self._waiting or self._unsure else None):
                    await self._woken.wait()
            self._woken.clear()
            names = self._news | {name for waiting in self._waiting.values() for name in waiting}
            self._news = set()
            for name in sorted(names):
                await self.pair(name)
                await self._look(name)

    async def pair(self, name: str) -> None:
        """Pair whoever can be paired now, and open their games."""
        try:
            arranged = await self._meetings.pair(name, self._server, self._clock())
        except Unknown:
            self._unsure = True
            return
        for start in range(0, len(arranged), OPENED_AT_ONCE):
            await asyncio.gather(*(self._open(meeting) for meeting in arranged[start : start + OPENED_AT_ONCE]))

    async def _look(self, name: str) -> None:
        """Who waits no longer though nobody here said so: another server has paired him, or dropped his entry."""
        mine = [player for player, names in self._waiting.items() if name in names and not self._enters(player, name)]
        try:
            wait = await self._meetings.waits(name, mine)
        except Unknown:
            return
        for player in mine:
            if player not in wait and not self._enters(player, name) and name in self.of(player):
                self._forget(player, name)
                self._tell(player)
                self._unsure = True  # Who paired him may have died before he opened the game.

    def _enters(self, player: bytes, name: str) -> bool:
        return (player, name) in self._entering

    async def _resume(self) -> None:
        """Open what was paired and isn't open yet, by whichever server."""
        try:
            self._unsure = False  # Whoever doubts meanwhile doubts again.
            for meeting in await self._unopened.resume():
                self._met(meeting)
            self._unsure = self._unsure or self._unopened.misses
        except Unknown as error:
            self._unsure = True
            log_line.warning("paired games aren't open yet", why=repr(error))

    async def _open(self, meeting: Meeting) -> None:
        try:
            await self._between.open(meeting)
        except (Unknown, Damaged):
            self._unsure = True
        self._met(meeting)

    def _met(self, meeting: Meeting) -> None:
        for player in meeting.players:
            self._forget(player, meeting.rules)
            self._tell(player)
