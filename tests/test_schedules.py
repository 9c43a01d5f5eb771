"""A commit and the end of its time at the same moment, over a log that does its worst: one outcome, the log's."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import pytest

from events import codec, entries
from events.chain import Head, origin
from events.log import Batch, partition
from projections.audit import audit
from projections.saved import Saved
from projections.told import told
from rules import fairness
from rules.fifty_states import FIFTY_STATES, Commit, Committed, Reveal
from rules.game import SEATS, Finished, Mix, Reason, TimeUp
from server.games import Games
from tests.contrary import ContraryLog
from tests.pairs import PLAYERS, Duel, entropy, salt
from tests.positions import KEY

pytestmark = pytest.mark.anyio

DEALT = Duel(number=1).begin()
DUE_MS = DEALT.clock.due_ms or 0
CARDS = [DEALT.dealer.hands.current[seat][0] for seat in SEATS]


class Clock:
    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


def commit(seat: int) -> Commit:
    return Commit(1, fairness.seal(DEALT.game, seat, 1, CARDS[seat], DEALT.salt(seat, 1, CARDS[seat])))


async def after(passes: int, clock: Clock, by_ms: int) -> None:
    for _ in range(passes):
        await asyncio.sleep(0)
    clock.now_ms += by_ms


async def schedule(seed: int) -> str:
    """Both players' commits and two servers' clocks around the deadline: how it came out."""
    chance = Random(seed)
    clock = Clock(DUE_MS - 1000)
    log = ContraryLog(seed, clock)
    log.calm = True
    await log.append(DEALT.game, origin(DEALT.game), Batch(tuple(DEALT.events), wait_ms=1000))
    log.calm = False
    servers = [Games(log, {1: KEY}, clock) for _ in SEATS]
    clock.now_ms = DUE_MS - chance.randint(0, 1)

    async def commits(seat: int) -> Head | Reason | str:
        for _ in range(chance.randint(0, 30)):
            await asyncio.sleep(0)
        while True:
            answer = await servers[seat].do(DEALT.game, PLAYERS[seat], commit(seat), "commit")
            if answer != "try_again":
                return answer

    async def calls(server: Games) -> None:
        for _ in range(chance.randint(1, 3)):
            for _ in range(chance.randint(0, 15)):
                await asyncio.sleep(0)
            for deadline in await log.deadlines():
                await server.call_time(deadline)

    async def passes() -> None:
        for _ in range(chance.randint(0, 10)):
            await asyncio.sleep(0)
        clock.now_ms = DUE_MS

    *answers, _, _, _ = await asyncio.gather(*map(commits, SEATS), *map(calls, servers), passes())
    heads = [live.head for server in servers if (live := await server.refreshed(DEALT.game)) is not None]
    assert heads[0] == heads[1] == await log.head(DEALT.game), "both servers see the one history"
    events = list(await log.read(DEALT.game))
    facts = [codec.decode(event.body).fact for event in events]
    committed = {fact.seat for fact in facts if isinstance(fact, Committed)}
    for seat, answer in enumerate(answers):
        if isinstance(answer, Head):
            stored = events[answer.version - 1]
            assert stored.head == answer
            assert facts[answer.version - 1] == Committed(seat, 1, commit(seat).seal), "acknowledged is stored"
        else:
            assert answer is Reason.OVER
            assert seat not in committed
    late = [fact.owing for fact in facts if isinstance(fact, TimeUp)]
    assert len(late) <= 1
    if late:
        assert set(late[0]) == set(SEATS) - committed, "nobody who committed is late"
        assert [fact for fact in facts if isinstance(fact, Finished)] == [
            Finished(1 - late[0][0], "time") if len(late[0]) == 1 else Finished(None, "both_late")
        ]
        assert audit(Saved(DEALT.game, tuple(events))).passed
    return f"{len(committed)} committed, {'late' if late else 'in time'}"


async def schedules(count: int) -> None:
    outcomes = Counter([await schedule(seed) for seed in range(count)])
    assert outcomes.keys() == {"0 committed, late", "1 committed, late", "2 committed, in time"}, outcomes


async def test_a_commit_and_the_end_of_its_time_at_once_have_one_outcome() -> None:
    await schedules(500)


@pytest.mark.slow
async def test_ten_thousand_schedules_have_one_outcome_each() -> None:
    await schedules(10_000)


# ---------------------------------------------------------------- whole games, each player at a server of his own


async def until_known(ask: Callable[[], Awaitable[Any]]) -> Any:
    """As a client does: what nobody knows is asked again."""
    while (answer := await ask()) == "try_again":
        pass
    return answer


async def whole(seed: int) -> None:
    chance = Random(seed)
    log = ContraryLog(seed, lambda: DUE_MS)
    servers = [Games(log, {1: KEY}, lambda: DUE_MS) for _ in SEATS]
    id_ = Duel(number=1000 + seed).game
    secrets = [bytes([seat]) * 32 for seat in SEATS]
    opened = await asyncio.gather(
        *(
            until_known(lambda server=server: server.open_between(id_, FIFTY_STATES, (), PLAYERS, True))  # type: ignore[misc]
            for server in servers
        )
    )
    assert opened[0] == opened[1], "whoever opens it, it is one opening"
    opened_hash = (await log.read(id_, 0, 1))[0].hash
    entropies = [entropy(secrets[seat], opened_hash) for seat in SEATS]

    async def sits(seat: int) -> Any:
        live = await servers[seat].refreshed(id_)
        assert live is not None
        hash_ = fairness.entropy_hash(id_, seat, entropies[seat])
        return await until_known(lambda: servers[seat].sit(live, PLAYERS[seat], hash_, "sit", ()))

    async def both(name: str, commands: list[Any]) -> None:
        """Each twice at once, from both tabs, in any order."""
        asked = [(seat, commands[seat]) for seat in SEATS for _ in range(2)]
        chance.shuffle(asked)
        answers = await asyncio.gather(
            *(
                until_known(lambda seat=seat, what=what: servers[seat].do(id_, PLAYERS[seat], what, name))  # type: ignore[misc]
                for seat, what in asked
            )
        )
        assert all(isinstance(answer, Head) for answer in answers), answers
        assert len(set(answers)) == 2, "the same command is the same answer"

    assert all(isinstance(head, Head) for head in await asyncio.gather(*map(sits, SEATS)))
    await both("mix", [Mix(each) for each in entropies])
    while True:
        live = await servers[chance.randint(0, 1)].refreshed(id_)
        assert live is not None
        if live.table.finished is not None:
            break
        battle = live.table.position.battle
        cards = [chance.choice(hand) for hand in live.dealer.hands.current]
        salts = [salt(secrets[seat], opened_hash, battle, cards[seat]) for seat in SEATS]
        seals = [fairness.seal(id_, seat, battle, cards[seat], salts[seat]) for seat in SEATS]
        await both(f"commit {battle}", [Commit(battle, each) for each in seals])
        await both(f"reveal {battle}", [Reveal(battle, cards[seat], salts[seat]) for seat in SEATS])
    stored = Saved(id_, tuple(await log.read(id_)))
    assert audit(stored).failure is None
    leaves = [entries.decode(entry.body) for entry in await log.outbox(partition(id_)) if entry.game == id_]
    assert leaves == list(told(stored)), "one opening when both sat, one closing"


@pytest.mark.parametrize("seed", range(8))
async def test_two_players_at_two_servers_over_a_log_that_does_its_worst_play_one_game(seed: int) -> None:
    await whole(seed)
