"""How people come to a game over sockets, for tests that begin there, and the feeds that tell of it."""

from typing import Any

from tests.pairs import Person
from tests.running import RULES, Message


async def invited(
    maker: Person, rules: str = RULES, *, listed: bool = False, name: str = "i", **settings: Any
) -> bytes:
    made = await maker.ask("invite", name, rules=rules, settings=settings, listed=listed)
    assert made["type"] == "done", made
    return bytes.fromhex(made["game"])


async def both_seated(*people_: Person, **settings: Any) -> bytes:
    game = await invited(people_[0], **settings)
    for person in people_:
        answer = await person.sit(game)
        assert answer["type"] == "done", answer
    return game


async def dealt(*people_: Person, **settings: Any) -> bytes:
    game = await both_seated(*people_, **settings)
    for person in people_:
        answer = await person.mix(game)
        assert answer["type"] == "done", answer
    for person in people_:
        held = person.games[game]
        await person.until(lambda held=held: held.table["position"] is not None and held.my_turn)  # type: ignore[misc]
    return game


class Feed:
    """A feed as its frames tell it, each delta behind the one before."""

    def __init__(self, person: Person, topic: str) -> None:
        self.person, self.topic = person, topic
        self.version = -1
        self.epoch = b""
        self.recovered: bool | None = None
        self.rows: dict[str, dict[str, Any]] = {}
        self.taken = 0

    def take(self) -> "Feed":
        """Whatever has come since."""
        assert self.person.client is not None
        frames = self.person.client.frames
        while self.taken < len(frames):
            frame = frames[self.taken]
            self.taken += 1
            if frame.get("topic") == self.topic:
                self._take(frame)
        return self

    def _take(self, frame: Message) -> None:
        match frame["type"]:
            case "subscribed":
                self.version, self.epoch, self.recovered = frame["version"], frame["hash"], frame["recovered"]
            case "snapshot":
                assert frame["version"] == self.version
                self.rows = {name: {_key(row): row for row in rows} for name, rows in frame["state"].items()}
            case "delta":
                assert frame["version"] == self.version + 1, "gapless"
                self.version += 1
                for name, keys in frame["gone"].items():
                    for key in keys:
                        del self.rows[name][key]
                for name, rows in frame["put"].items():
                    self.rows[name].update({_key(row): row for row in rows})

    async def until(self, condition: Any) -> Any:
        client = await self.person.here()
        return await client.until(lambda: condition(self.take().rows) if self.take().rows else None)


def _key(row: Any) -> str:
    return str(row if isinstance(row, str) else row["game"])


async def feed(person: Person, topic: str, after: tuple[int, bytes] | None = None) -> Feed:
    client = await person.here()
    found = Feed(person, topic)
    found.taken = len(client.frames)
    await client.send({"type": "subscribe", "topic": topic, **({"after": after} if after else {})})
    await client.until(lambda: found.take().recovered is not None)
    await client.ping()
    found.take()
    return found
