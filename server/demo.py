"""`serve --demo`: an empty install is filled by scripted players, who come in by the same doors as everybody else.

They join, choose a name, and play over the socket; so boards, records and the ledger hold what real games would. When
the games asked for are over a few players go on, slowly, for as long as the server runs.
"""

import asyncio
import json
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

import structlog
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

NAMES = (
    *("Alma", "Benno", "Cleo", "Dario", "Edda", "Fritjof", "Greta", "Hamid", "Ines", "Jonas", "Kaja", "Linus"),
    *("Mirela", "Nils", "Olga", "Pavel", "Quirin", "Rosa", "Sami", "Tilda", "Ulla", "Viggo", "Wanda", "Xenia"),
)
GAMES = (
    *(("fifty-states/1", "relaxed"), ("fifty-states/1", "strategic"), ("fifty-states/1", "relaxed")),
    *(("fifty-states/1", "strategic"), ("playbook/1", "house")),
)
"""Rules and mode, in turns."""
STAY = 4
"""Players who go on afterwards."""
MESSAGE_SECONDS = 1 / 25
"""Between two messages of one player: fewer than a connection may send."""
SLOW_SECONDS = (2.0, 6.0)
SECONDS_MAX = 60
BATTLES = 10
"""Of a War, in one turn."""

log_line = structlog.get_logger()


class Ended(Exception):
    """The server refused what a scripted player never should be refused."""


@dataclass(slots=True)
class Seen:
    """What frames have told of one game."""

    version: int = -1
    table: dict[str, Any] | None = None
    hand: list[int] = field(default_factory=list)
    hand_version: int = -1
    asked: int = -1
    """The version at which a command was sent last: the next one waits for a further one."""

    def take(self, frame: dict[str, Any]) -> None:
        match frame["type"]:
            case "events":
                self.version, self.table = frame["version"], frame["table"]
            case "hand":
                self.hand, self.hand_version = frame["cards"], frame["version"]
            case "refused" | "not_subscribed":
                raise Ended(frame["reason"])

    @property
    def over(self) -> bool:
        return self.table is not None and self.table["finished"] is not None

    def command(self, chance: Random, skill: float) -> dict[str, Any] | None:
        """What to do now; None: wait for more."""
        if self.table is None or self.version <= self.asked:
            return None
        position = self.table["position"]
        if position is None:
            return {"do": "Mix", "entropy": b64encode(chance.randbytes(32)).decode()}
        if "through" in position:
            return {"do": "Turn", "battle": position["battle"], "times": BATTLES}
        if self.hand_version != self.version:
            return None
        card = max(self.hand) if chance.random() < skill else chance.choice(self.hand)
        return {"do": "Play", "battle": position["battle"], "card": card}


class Player:
    """One guest with a name, a skill and a temper of his own."""

    def __init__(self, address: str, number: int) -> None:
        self._address = address
        self._chance = Random(number)
        self._name = NAMES[number % len(NAMES)]
        self._skill = self._chance.random()
        self._token = ""
        self._ids = count(1)

    async def join(self) -> None:
        self._token = (await self._ask("POST", "/api/session", {"keep": "bearer"}))["token"]
        await self._ask("PUT", "/api/me/name", {"name": self._name})

    async def _ask(self, method: str, path: str, body: dict[str, str]) -> Any:
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(self._address + path, json.dumps(body).encode(), headers, method=method)
        return await asyncio.to_thread(_answer, request)

    async def play(self, rules: str, mode: str, pause: tuple[float, float]) -> None:
        """One whole game. Raises Ended, ConnectionClosed, TimeoutError."""
        async with connect(
            f"{self._address.replace('http', 'ws', 1)}/ws",
            subprotocols=[Subprotocol("statecraft.v1.json")],
            additional_headers={"Authorization": f"Bearer {self._token}"},
            compression=None,
            proxy=None,
        ) as socket:
            game = await self._open(socket, rules, mode)
            await self._send(socket, type="subscribe", topic=f"game/{game}")
            seen = Seen()
            while not seen.over:
                seen.take(await _frame(socket))
                if not seen.over and (command := seen.command(self._chance, self._skill)) is not None:
                    seen.asked = seen.version
                    await asyncio.sleep(self._chance.uniform(*pause))
                    await self._send(socket, type="do", id=f"demo-{next(self._ids)}", game=game, command=command)

    async def _open(self, socket: ClientConnection, rules: str, mode: str) -> str:
        await self._send(socket, type="open", id=f"demo-{next(self._ids)}", rules=rules, mode=mode, settings={})
        while True:
            frame = await _frame(socket)
            match frame["type"]:
                case "done":
                    game: str = frame["game"]
                    return game
                case "refused":
                    raise Ended(frame["reason"])

    async def _send(self, socket: ClientConnection, **message: Any) -> None:
        await asyncio.sleep(MESSAGE_SECONDS)
        await socket.send(json.dumps(message))


def _answer(request: urllib.request.Request) -> Any:
    # Straight there, whatever proxy the environment names.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=SECONDS_MAX) as answer:
        return json.load(answer)


async def _frame(socket: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(SECONDS_MAX):
        frame: dict[str, Any] = json.loads(await socket.recv())
    return frame


async def fill(address: str, games: int) -> None:
    """So many finished games, then a few that go on for ever. `address`: of this server, without a slash at its end."""
    players = [Player(address, number) for number in range(min(len(NAMES), games))]
    try:
        for player in players:
            await player.join()
        left = iter(range(games))
        async with asyncio.TaskGroup() as group:
            for player in players:
                group.create_task(_some(player, left))
        log_line.info("the demo's games are over, a few go on", games=games)
        async with asyncio.TaskGroup() as group:
            for player in players[:STAY]:
                group.create_task(_go_on(player))
    except* (OSError, Ended, ConnectionClosed, TimeoutError) as errors:
        log_line.warning("the demo's players have gone", why=repr(errors.exceptions))


async def _some(player: Player, left: Iterator[int]) -> None:
    for number in left:
        await player.play(*GAMES[number % len(GAMES)], pause=(0, 0))


async def _go_on(player: Player) -> None:
    for number in count():
        await player.play(*GAMES[number % len(GAMES)], pause=SLOW_SECONDS)
