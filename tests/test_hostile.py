"""A program that does everything it shouldn't: each refused or closed as documented, the honest side unharmed."""

import asyncio
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from rules import fairness
from rules.fifty_states import Committed, Revealed
from rules.game import Mixed, Seated
from server.wire import Code
from tests.pairs import Person, people
from tests.running import PATHS, RULES, Followed, Message, Server, connected, frame, raw_socket, serving

pytestmark = pytest.mark.anyio

SLOW = {"commit_seconds": 600, "reveal_seconds": 600}


@pytest.fixture(scope="module", params=PATHS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("hostile"), request.param) as running:
        yield running


class Hostile:
    """Says what it likes in one game, each time under an id of its own."""

    def __init__(self, person: Person, game: bytes) -> None:
        self.person, self.game = person, game
        self.said = 0

    async def says(self, name: str, id_: str | None = None, **fields: Any) -> Message:
        self.said += 1
        return await self.person.do(self.game, id_ or f"hostile-{self.said}", {"do": name, **fields})

    async def refused(self, name: str, reason: str, **fields: Any) -> None:
        answer = await self.says(name, **fields)
        assert (answer["type"], answer.get("reason")) == ("refused", reason), answer


async def pair_off(honest: Person, hostile: Person) -> bytes:
    made = await honest.ask("invite", "i", rules=RULES, settings=SLOW, listed=False)
    game = bytes.fromhex(made["game"])
    await hostile.follow(game)
    await honest.sit(game)
    return game


async def reached(person: Person, held: Followed, answer: Message) -> None:
    assert answer["type"] == "done", answer
    await person.until(lambda: held.head.version >= answer["version"] and (held.over or held.my_turn))


async def test_whatever_a_hostile_program_sends_the_honest_sides_game_goes_on(server: Server) -> None:
    async with people(server, 3, seed=40) as (honest, hostile, stranger):
        game = await pair_off(honest, hostile)
        bad = Hostile(hostile, game)
        await bad.refused("Mix", "not_seated", entropy=bytes(32))
        taken = await hostile.ask("sit", "s", game=game.hex(), entropy_hash=bytes(32))
        assert taken["type"] == "done"
        # The hash opens to nothing it knows: that is its own misfortune, and the honest side's draw is void or won.
        await bad.refused("Mix", "bad_entropy", entropy=hostile.entropy(hostile.games[game]))
        await bad.refused("Mix", "bad_entropy", entropy=bytes(31))
        await honest.mix(game)
        assert (await bad.says("Resign"))["type"] == "done"
        await honest.until(lambda: honest.games[game].over)
        assert honest.games[game].table["finished"] == {"winner": 0, "reason": "resigned"}
        # Another one, in which it plays on to the end.
        game = await _another(honest, hostile)
        bad = Hostile(hostile, game)
        mine, its = honest.games[game], hostile.games[game]
        await bad.refused("Commit", "not_dealt", battle=1, seal=bytes(32))
        await bad.refused("Mix", "bad_entropy", entropy=honest.entropy(mine))
        for person in (honest, hostile):
            assert (await person.mix(game))["type"] == "done"
        for person in (honest, hostile):
            held = person.games[game]
            await person.until(lambda held=held: held.my_turn and held.table["position"] is not None)  # type: ignore[misc]
        assert its.hand is not None
        card, other = its.hand[0], its.hand[1]
        seal, salt = hostile.sealed(its, 1, card)
        # Squatting the ids that the honest program will use.
        assert (await bad.says("Commit", "commit-1", battle=1, seal=seal))["type"] == "done"
        assert (await bad.says("Reveal", "reveal-1", battle=1, card=card, salt=salt))["reason"] == "no_seal"
        await bad.refused("Commit", "already_committed", battle=1, seal=bytes(32))
        await bad.refused("Commit", "wrong_battle", battle=2, seal=seal)
        await bad.refused("Play", "wrong_opponent", battle=1, card=card)
        await bad.refused("Mix", "already_mixed", entropy=hostile.entropy(its))
        assert (await stranger.do(game, "x", {"do": "Resign"}))["reason"] == "not_seated"
        assert (await stranger.ask("sit", "s", game=game.hex(), entropy_hash=bytes(32)))["reason"] == "seat_taken"
        await reached(honest, mine, await honest.commit(game))
        await hostile.until(lambda: its.head == mine.head)
        secret_card = honest.chosen[game, 1]
        assert not _tells(hostile, mine, secret_card), "a sealed card is hidden from the other side"
        await bad.refused("Reveal", "seal_mismatch", battle=1, card=other, salt=hostile.sealed(its, 1, other)[1])
        await bad.refused("Reveal", "seal_mismatch", battle=1, card=card, salt=bytes(32))
        await bad.refused("Reveal", "seal_mismatch", battle=1, card=card, salt=salt[:31])
        await bad.refused("Reveal", "no_such_card", battle=1, card=51, salt=salt)
        first = await bad.says("Reveal", "reveal-it", battle=1, card=card, salt=salt)
        await reached(honest, mine, await honest.reveal(game))
        # An old frame again: the same answer, and nothing happens.
        assert await bad.says("Reveal", "reveal-it", battle=1, card=card, salt=salt) == first
        await bad.refused("Reveal", "wrong_battle", battle=1, card=card, salt=salt)
        await _floods_and_sulks(server, hostile, game)
        for held in (mine, its):
            assert next(fact for fact in held.facts if isinstance(fact, Committed)).seal == seal
        ended, _ = await _play_out(honest, hostile, game)
        assert ended.over
        seats = [fact.seat for fact in ended.facts if isinstance(fact, Revealed) and fact.battle == 1]
        assert sorted(seats) == [0, 1]
        assert len([fact for fact in ended.facts if isinstance(fact, Mixed)]) == 2
        assert len([fact for fact in ended.facts if isinstance(fact, Seated)]) == 2
        assert server.audit(game).over


async def _another(honest: Person, hostile: Person) -> bytes:
    made = await honest.ask("invite", "i2", rules=RULES, settings=SLOW, listed=False)
    game = bytes.fromhex(made["game"])
    for person in (honest, hostile):
        assert (await person.sit(game))["type"] == "done"
    for person in (honest, hostile):
        held = person.games[game]
        await person.until(lambda held=held: None not in held.table["seats"])  # type: ignore[misc]
    return game


async def _play_out(honest: Person, hostile: Person, game: bytes) -> tuple[Followed, Followed]:
    return await asyncio.gather(honest.play(game), hostile.play(game))


async def _floods_and_sulks(server: Server, hostile: Person, game: bytes) -> None:
    """Floods and is closed; half-closes; asks for everything and reads nothing."""
    async with connected(server, hostile.guest) as flood:
        for number in range(400):
            await flood.send({"type": "ping", "n": number})
        assert await flood.close_code() == Code.TOO_FAST
    half = raw_socket(server, hostile.guest)
    half.sendall(frame(json.dumps({"type": "subscribe", "topic": f"game/{game.hex()}"})))
    half.shutdown(socket.SHUT_WR)
    deaf = raw_socket(server, hostile.guest)
    for _ in range(50):
        deaf.sendall(frame(json.dumps({"type": "subscribe", "topic": f"game/{game.hex()}"})))
    assert (await hostile.ask("rematch", "r", game=game.hex()))["reason"] == "not_over"
    half.close()
    deaf.close()


def _tells(hostile: Person, held: Followed, card: int) -> bool:
    """Whether a frame of the hostile side's shows the honest side's card, or its hand."""
    assert hostile.client is not None
    hands = [each for each in hostile.client.frames if each["type"] == "hand" and each["topic"] == held.topic]
    if any(each["seat"] != 1 for each in hands):
        return True
    position = hostile.games[held.game].table["position"]
    return card in position["known"][0] or position["shown"][0] is not None


async def test_bytes_that_are_no_message_close_the_hostile_side_only(server: Server) -> None:
    async with people(server, 2, seed=41) as (honest, hostile):
        game = await pair_off(honest, hostile)
        for bad in (
            {"type": "sit", "id": "s", "game": game.hex(), "entropy_hash": "AAAA"},
            {"type": "sit", "id": "s", "game": game.hex()},
            {"type": "invite", "id": "i", "rules": RULES, "settings": {"commit_seconds": 1.5}, "listed": False},
            {"type": "invite", "id": "i", "rules": RULES, "settings": [], "listed": False},
            {"type": "invite", "id": "i", "rules": RULES, "settings": {}, "listed": 1},
            {"type": "queue", "id": "q", "rules": 5},
            {"type": "rematch", "id": "r", "game": "xyz"},
            {"type": "do", "id": "c", "game": game.hex(), "command": {"do": "Sit", "player": "", "entropy_hash": ""}},
            {"type": "do", "id": "c", "game": game.hex(), "command": {"do": "Credit", "ms": 5}},
            {"type": "do", "id": "c", "game": game.hex(), "command": {"do": "CallTime"}},
        ):
            async with connected(server, hostile.guest) as client:
                await client.send(bad)
                assert await client.close_code() == Code.BAD_FRAME, bad
        held = honest.games[game]
        assert held.facts[-1] == Seated(0, honest.player, "", fairness.entropy_hash(game, 0, honest.entropy(held)))
