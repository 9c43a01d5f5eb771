"""Games between two people over sockets: meeting, sitting, playing, being late, and what each is told."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from rules.game import Finished, Resigned, Seated, TimeUp, Unsealed
from rules.war import Readied
from tests.meeting import both_seated, dealt, feed, invited
from tests.pairs import Person, opened, people
from tests.running import JSON, MSGPACK, RULES, Client, Message, Server, connect, connected, serving

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("between")) as running:
        yield running


# ---------------------------------------------------------------- whole games


@pytest.mark.parametrize(("rules", "subprotocol"), [(RULES, JSON), (RULES, MSGPACK), ("classic/1", MSGPACK)])
async def test_two_who_meet_by_a_link_play_a_whole_game_that_audit_passes(
    server: Server, rules: str, subprotocol: str
) -> None:
    async with people(server, 2, subprotocol=subprotocol) as (maker, guest):
        settings: dict[str, Any] = {"length": "short"} if rules == "classic/1" else {}
        game = await invited(maker, rules, **settings)
        first, second = await asyncio.gather(maker.play(game), guest.play(game))
        assert first.events == second.events
        assert first.over
        for seat, person in enumerate((maker, guest)):
            assert person.client is not None
            assert {each["seat"] for each in person.client.frames if each["type"] == "hand"} == {seat}
        assert not opened(first).counts
        assert server.audit(game).over


async def test_two_who_queue_play_a_game_that_counts_and_may_queue_again(server: Server) -> None:
    async with people(server, 2, seed=1) as pair:
        mine = [await feed(person, "me") for person in pair]
        for round_ in range(2):
            for person in pair:
                assert (await person.ask("queue", f"q{round_}", rules=RULES))["type"] == "queued"
            rows = [await each.until(lambda rows: list(rows["games"].values())) for each in mine]
            assert rows[0][0]["game"] == rows[1][0]["game"]
            assert {row[0]["seat"] for row in rows} == {0, 1}
            assert all(row[0]["counts"] for row in rows)
            game = bytes.fromhex(rows[0][0]["game"])
            assert (await pair[0].ask("queue", f"again{round_}", rules=RULES))["reason"] == "already_playing"
            held, _ = await asyncio.gather(*(person.play(game) for person in pair))
            assert opened(held).counts
            assert server.audit(game).over
            for each in mine:
                await each.until(lambda rows: not rows["games"] and not rows["queues"])


async def test_a_paired_game_that_ends_void_is_none_of_the_three_that_count_in_a_day(server: Server) -> None:
    async with people(server, 2, seed=42) as pair:
        mine = [await feed(person, "me") for person in pair]
        counted = []
        for number in range(5):
            for person in pair:
                assert (await person.ask("queue", f"q{number}", rules="gameweave/1"))["type"] == "queued"
            (row,) = await mine[0].until(lambda rows: list(rows["games"].values()))
            counted.append(row["counts"])
            game = bytes.fromhex(row["game"])
            for person in pair:
                await person.sit(game)
            if number:
                await pair[0].mix(game)
            await pair[1].do(game, "leave", {"do": "Resign"})
            for each in mine:
                await each.until(lambda rows: not rows["games"])
        assert counted == [True, True, True, True, False]


# ---------------------------------------------------------------- meeting


async def test_an_invitation_asked_for_again_is_the_same_game(server: Server) -> None:
    async with people(server, 1, seed=2) as (maker,):
        first = await maker.ask("invite", "one", rules=RULES, settings={}, listed=False)
        assert await maker.ask("invite", "one", rules=RULES, settings={}, listed=False) == first
        other = await maker.ask("invite", "two", rules=RULES, settings={}, listed=False)
        assert other["game"] != first["game"]


@pytest.mark.parametrize(
    ("rules", "settings", "reason"),
    [
        ("nothing/1", {}, "unknown_rules"),
        (RULES, {"commit_seconds": 0}, "unknown_setting"),
        (RULES, {"commit_seconds": "30"}, "unknown_setting"),
        (RULES, {"turn_seconds": 5}, "unknown_setting"),
        ("classic/1", {"seed": "x"}, "bad_seed"),
    ],
)
async def test_an_invitation_that_can_not_be_is_refused(
    server: Server, rules: str, settings: dict[str, Any], reason: str
) -> None:
    async with people(server, 1, seed=3) as (maker,):
        answer = await maker.ask("invite", "i", rules=rules, settings=settings, listed=True)
        assert (answer["type"], answer["reason"]) == ("refused", reason)


async def test_nobody_invites_more_often_than_is_allowed(server: Server) -> None:
    async with people(server, 1, seed=4) as (maker,):
        games = [await invited(maker, name=f"i{number}") for number in range(20)]
        refused = await maker.ask("invite", "more", rules=RULES, settings={}, listed=False)
        assert refused["reason"] == "too_many_games"
        assert (await maker.ask("invite", "i3", rules=RULES, settings={}, listed=False))["game"] == games[3].hex()
        await maker.sit(games[0])
        assert (await maker.do(games[0], "r", {"do": "Resign"}))["type"] == "done"
        client = await maker.here()
        await client.until(lambda: maker.games[games[0]].over)
        assert (await maker.ask("invite", "more", rules=RULES, settings={}, listed=False))["type"] == "done"


async def test_who_has_no_session_meets_nobody(server: Server) -> None:
    async with connected(server) as client:
        for type_, fields in (
            ("invite", {"rules": RULES, "settings": {}, "listed": True}),
            ("queue", {"rules": RULES}),
            ("leave_queue", {"rules": RULES}),
            ("rematch", {"game": "0" * 32}),
            ("sit", {"game": "0" * 32, "entropy_hash": bytes(32)}),
        ):
            assert (await client.ask(type_, **fields))["reason"] == "no_session"
        await client.send({"type": "subscribe", "topic": "me"})
        told = await client.until(lambda: [frame for frame in client.frames if frame["type"] == "not_subscribed"])
        assert told[0]["reason"] == "no_session"


@pytest.mark.parametrize("count", [12, pytest.param(100, marks=pytest.mark.slow)])
async def test_of_many_who_race_for_one_seat_exactly_one_sits(server: Server, count: int) -> None:
    async with people(server, 1 + count, seed=5) as (maker, *racers):
        game = await invited(maker, listed=True)
        for racer in racers:
            await racer.follow(game)
        answers = await asyncio.gather(*(racer.sit(game) for racer in racers))
        counted = Counter(answer.get("reason", answer["type"]) for answer in answers)
        assert counted == {"done": 1, "seat_taken": len(racers) - 1}
        winner = racers[[answer["type"] for answer in answers].index("done")]
        assert (await winner.sit(game))["type"] == "done", "the same command again is the same answer"
        assert (await winner.sit(game, "another"))["reason"] == "already_seated"
        await maker.sit(game)
        held = maker.games[game]
        await maker.until(lambda: len([fact for fact in held.facts if isinstance(fact, Seated)]) == 2)
        assert {fact.player for fact in held.facts if isinstance(fact, Seated)} == {maker.player, winner.player}


async def test_two_tabs_leaving_and_closing_seat_nobody_twice(server: Server) -> None:
    async with people(server, 3, seed=6) as (first, second, third):
        async with connected(server, first.guest) as tab:
            assert (await first.ask("queue", "q", rules="classic/1"))["type"] == "queued"
            assert (await tab.ask("queue", "q", rules="classic/1"))["type"] == "queued"
        mine = await feed(first, "me")
        assert list(mine.rows["queues"]) == ["classic/1"], "the other tab is still here"
        assert (await first.ask("leave_queue", "l", rules="classic/1"))["type"] == "left"
        assert (await first.ask("leave_queue", "l2", rules="classic/1"))["type"] == "left"
        await mine.until(lambda rows: not rows["queues"])
        # Whoever closes the last tab waits no longer, so the next two find each other.
        assert (await first.ask("queue", "q2", rules="classic/1"))["type"] == "queued"
        await first.leave()
        for person in (second, third):
            assert (await person.ask("queue", "q", rules="classic/1"))["type"] == "queued"
        theirs = await feed(second, "me")
        games = await theirs.until(lambda rows: list(rows["games"]))
        held = await third.follow(bytes.fromhex(games[0]))
        assert set(held.table["reserved"]) >= {held.table["reserved"][third.seat(held)]}
        again = await feed(first, "me")
        assert again.rows == {"queues": {}, "games": {}, "offers": {}}


async def test_a_rematch_swaps_seats_and_counts_for_nothing(server: Server) -> None:
    async with people(server, 2, seed=7) as (maker, guest):
        game = await dealt(maker, guest)
        assert (await maker.ask("rematch", "early", game=game.hex()))["reason"] == "not_over"
        assert (await maker.do(game, "r", {"do": "Resign"}))["type"] == "done"
        await guest.until(lambda: guest.games[game].over)
        mine = await feed(guest, "me")
        assert (await maker.ask("rematch", "r1", game=game.hex())) == {
            "type": "offered",
            "id": "r1",
            "game": game.hex(),
        }
        offers = await mine.until(lambda rows: list(rows["offers"].values()))
        assert offers == [{"game": game.hex(), "rules": RULES, "player": maker.guest.player}]
        accepted = await guest.ask("rematch", "r2", game=game.hex())
        assert accepted["type"] == "done"
        fresh = bytes.fromhex(accepted["game"])
        assert (await maker.ask("rematch", "r3", game=game.hex()))["game"] == accepted["game"]
        rows = await mine.until(lambda rows: not rows["offers"] and rows["games"])
        assert rows[fresh.hex()] == {"game": fresh.hex(), "rules": RULES, "seat": 0, "counts": False}
        held, _ = await asyncio.gather(maker.play(fresh), guest.play(fresh))
        assert maker.seat(held) == 1
        assert server.audit(fresh).over


async def test_a_stranger_gets_no_rematch_and_an_offer_ends_with_its_connection(server: Server) -> None:
    async with people(server, 3, seed=8) as (maker, guest, stranger):
        game = await dealt(maker, guest)
        await maker.do(game, "r", {"do": "Resign"})
        await guest.until(lambda: guest.games[game].over)
        assert (await stranger.ask("rematch", "r", game=game.hex()))["reason"] == "not_seated"
        assert (await stranger.ask("rematch", "r", game="0" * 32))["reason"] == "unknown_game"
        house = await (await stranger.here()).open()
        assert (await stranger.ask("rematch", "h", game=house.hex()))["reason"] == "wrong_opponent"
        assert (await maker.ask("rematch", "r1", game=game.hex()))["type"] == "offered"
        mine = await feed(guest, "me")
        assert list(mine.rows["offers"]) == [game.hex()]
        await maker.leave()
        await mine.until(lambda rows: not rows["offers"])
        assert (await guest.ask("rematch", "r2", game=game.hex()))["type"] == "offered"


# ---------------------------------------------------------------- time


@pytest.mark.parametrize("late", [(1,), (0, 1)])
async def test_whoever_commits_nothing_in_time_loses(server: Server, late: tuple[int, ...]) -> None:
    async with people(server, 2, seed=10) as pair:
        game = await dealt(*pair, commit_seconds=1)
        for seat, person in enumerate(pair):
            if seat not in late:
                assert (await person.commit(game))["type"] == "done"
        held = pair[0].games[game]
        await pair[0].until(lambda: held.over)
        assert TimeUp(late) in held.facts
        assert Finished(0 if late == (1,) else None, "time" if late == (1,) else "both_late") in held.facts
        assert isinstance(held.facts[-1], Unsealed)
        assert server.audit(game).over


async def test_whoever_reveals_nothing_in_time_loses_and_his_card_stays_unseen(server: Server) -> None:
    async with people(server, 2, seed=11) as (maker, guest):
        game = await dealt(maker, guest, reveal_seconds=1)
        for person in (maker, guest):
            assert (await person.commit(game))["type"] == "done"
        await guest.until(lambda: None not in guest.games[game].table["position"]["seals"])
        assert (await guest.reveal(game))["type"] == "done"
        held = maker.games[game]
        await maker.until(lambda: held.over)
        assert Finished(1, "time") in held.facts
        assert held.table["position"]["shown"][0] is None
        assert server.audit(game).over


async def test_in_war_the_clock_turns_for_who_does_not(server: Server) -> None:
    async with people(server, 2, seed=12) as (maker, guest):
        game = await dealt(maker, guest, rules="classic/1", turn_seconds=1)
        held = maker.games[game]
        assert (await maker.turn(game))["type"] == "done"
        await maker.until(lambda: held.table["position"]["battles"] >= 2)
        readied = [fact for fact in held.facts if isinstance(fact, Readied)]
        assert readied[:4] == [Readied(0, 1), Readied(1, 1), Readied(0, 2), Readied(1, 2)]
        assert (await guest.do(game, "r", {"do": "Resign"}))["type"] == "done"
        await maker.until(lambda: held.over)
        assert server.audit(game).over


async def test_the_deadline_is_told_with_the_events_and_the_others_commit_does_not_move_it(server: Server) -> None:
    async with people(server, 2, seed=13) as (maker, guest):
        game = await dealt(maker, guest)

        def due() -> list[int]:
            assert maker.client is not None
            frames = [frame for frame in maker.client.frames if frame["type"] == "events"]
            return [frame["due_ms"] for frame in frames if frame["topic"] == maker.games[game].topic]

        before = due()[-1]
        assert (await guest.commit(game))["type"] == "done"
        await maker.until(lambda: maker.games[game].table["position"]["seals"][1] is not None)
        assert due()[-1] == before
        assert (await maker.commit(game))["type"] == "done"
        await maker.until(lambda: None not in maker.games[game].table["position"]["seals"])
        assert due()[-1] != before
        await maker.do(game, "r", {"do": "Resign"})
        await maker.until(lambda: maker.games[game].over)
        assert due()[-1] is None


async def test_a_game_left_before_any_entropy_is_void_and_after_it_lost(server: Server) -> None:
    async with people(server, 2, seed=14) as (maker, guest):
        game = await both_seated(maker, guest)
        assert (await guest.do(game, "r", {"do": "Resign"}))["type"] == "done"
        await maker.until(lambda: maker.games[game].over)
        assert [Resigned(1), Finished(None, "void")] == maker.games[game].facts[-3:-1]
        other = await invited(maker, name="other")
        for person in (maker, guest):
            await person.sit(other)
        assert (await maker.mix(other))["type"] == "done"
        assert (await guest.do(other, "r", {"do": "Resign"}))["type"] == "done"
        await maker.until(lambda: maker.games[other].over)
        assert Finished(0, "resigned") in maker.games[other].facts


# ---------------------------------------------------------------- who is there


def presence(person: Person, game: bytes) -> Message | None:
    assert person.client is not None
    topic = f"game/{game.hex()}"
    told = [each for each in person.client.frames if each["type"] == "presence" and each["topic"] == topic]
    return told[-1] if told else None


async def test_presence_tells_of_a_player_who_stays_away_and_counts_those_who_watch(server: Server) -> None:
    async with people(server, 3, seed=15) as (maker, guest, watcher):
        game = await both_seated(maker, guest)
        await watcher.follow(game)
        async with connected(server) as nobody, connected(server, guest.guest) as tab:
            await nobody.follow(game)
            told = {"type": "presence", "topic": f"game/{game.hex()}", "seats": [True, True], "watchers": 2}
            await maker.until(lambda: presence(maker, game) == told)
            await watcher.until(lambda: presence(watcher, game) == told)
            await guest.leave()
            await tab.ping()
        # The second tab is closed as well now; for five seconds that is shown to nobody.
        await maker.until(lambda: presence(maker, game) == {**told, "seats": [True, False], "watchers": 1})
        await guest.here()
        await maker.until(lambda: presence(maker, game) == {**told, "watchers": 1})


def names(person: Person, game: bytes) -> list[list[str | None]]:
    assert person.client is not None
    topic = f"game/{game.hex()}"
    return [each["names"] for each in person.client.frames if each["type"] == "names" and each["topic"] == topic]


async def test_names_come_in_a_message_of_their_own_and_go_when_a_player_is_erased(server: Server) -> None:
    async with people(server, 3, seed=18) as (maker, guest, watcher):
        bearer = {"Authorization": f"Bearer {maker.guest.token}"}
        async with httpx.AsyncClient(base_url=server.url) as http:
            answer = await http.put("/api/me/name", json={"name": "Ada of Delaware"}, headers=bearer)
            assert answer.status_code == 200
            lobby = await feed(watcher, "lobby")
            game = await invited(maker, listed=True)
            row = await lobby.until(lambda rows: rows["seats"].get(game.hex()))
            assert row["name"] == "Ada of Delaware"
            for person in (maker, guest):
                assert (await person.sit(game))["type"] == "done"
            live = await lobby.until(lambda rows: rows["live"].get(game.hex()))
            assert live["names"] == ["Ada of Delaware", None]
            held = await watcher.follow(game)
            await watcher.until(lambda: names(watcher, game) == [["Ada of Delaware", None]])
            await guest.until(lambda: ["Ada of Delaware", None] in names(guest, game))
            assert b"Ada of Delaware" not in b"".join(event.body for event in held.events)
            assert (await http.request("DELETE", "/api/me", json={}, headers=bearer)).status_code == 200
        async with connected(server) as other:
            await other.follow(game)
            topic = f"game/{game.hex()}"
            told = {"type": "names", "topic": topic, "names": ["erased player", None]}
            await other.until(lambda: told in other.frames)


@pytest.mark.thorough
async def test_open_seats_stand_in_the_lobby_while_their_maker_is_here_and_games_while_they_are_played(
    server: Server,
) -> None:
    async with people(server, 3, seed=16) as (maker, guest, watcher):
        lobby = await feed(watcher, "lobby")
        assert lobby.recovered is False
        hidden = await invited(maker, name="hidden")
        game = await invited(maker, rules="classic/1", listed=True)
        row = await lobby.until(lambda rows: rows["seats"].get(game.hex()))
        assert row["player"] == maker.guest.player
        assert row["settings"] == {"down": 3, "length": "full", "turn_seconds": 5}
        assert hidden.hex() not in lobby.rows["seats"]
        await maker.leave()
        await lobby.until(lambda rows: game.hex() not in rows["seats"])
        await maker.here()
        await lobby.until(lambda rows: game.hex() in rows["seats"])
        for person in (maker, guest):
            assert (await person.sit(game))["type"] == "done"
        live = await lobby.until(lambda rows: rows["live"].get(game.hex()))
        assert live["players"] == [maker.guest.player, guest.guest.player]
        assert game.hex() not in lobby.rows["seats"]
        await watcher.follow(game)
        await lobby.until(lambda rows: rows["live"].get(game.hex(), {}).get("watchers") == 1)
        epoch, version = lobby.epoch, lobby.version
        again = await feed(watcher, "lobby", (version, epoch))
        assert again.recovered is True
        assert (await feed(watcher, "lobby", (version, bytes(32)))).recovered is False
        assert (await feed(watcher, "lobby", (2**31, epoch))).recovered is False
        await guest.do(game, "r", {"do": "Resign"})
        await lobby.until(lambda rows: game.hex() not in rows["live"])


async def test_a_game_against_the_house_is_in_the_lobby_too(server: Server) -> None:
    async with people(server, 2, seed=17) as (player, watcher):
        lobby = await feed(watcher, "lobby")
        client = await player.here()
        game = await client.open()
        row = await lobby.until(lambda rows: rows["live"].get(game.hex()))
        assert row["players"] == [player.guest.player, ""]
        assert row["rival"]
        await client.mix(await client.follow(game))
        await lobby.until(lambda rows: rows["live"].get(game.hex(), {}).get("battle") == 1)


# ---------------------------------------------------------------- many


async def _waits(server: Server, number: int) -> tuple[Client, str]:
    guest = await asyncio.to_thread(server.join)
    client = await connect(server, guest, MSGPACK)
    await client.send({"type": "subscribe", "topic": "me"})
    assert (await client.ask("queue", f"q{number}", rules="gameweave/1"))["type"] == "queued"
    return client, guest.player


def _paired(client: Client) -> list[str]:
    """Games that its own feed has told of."""
    told = [frame["put"].get("games", []) for frame in client.frames if frame["type"] == "delta"]
    told += [frame["state"]["games"] for frame in client.frames if frame["type"] == "snapshot"]
    return sorted({row["game"] for rows in told for row in rows})


async def _all_paired(server: Server, count: int) -> None:
    arrived: list[tuple[Client, str]] = []
    for start in range(0, count, 50):
        arrived += await asyncio.gather(*(_waits(server, number) for number in range(start, min(count, start + 50))))
    games: dict[str, list[str]] = {}
    for client, player in arrived:
        (game,) = await client.until(lambda client=client: _paired(client))  # type: ignore[misc]
        games.setdefault(game, []).append(player)
    assert all(len(set(players)) == 2 for players in games.values())
    assert len(games) == count // 2
    for client, _ in arrived:
        assert len(_paired(client)) == 1
        client.drop()
    await asyncio.gather(*(client.reader for client, _ in arrived))


async def test_all_who_queue_are_paired_each_once(server: Server) -> None:
    await _all_paired(server, 40)


@pytest.mark.slow
async def test_a_thousand_who_queue_are_all_paired_each_once(server: Server) -> None:
    await _all_paired(server, 1000)
