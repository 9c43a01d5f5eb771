"""A commit and the end of its time at the same moment, over a log that does its worst: one outcome, the log's."""

import asyncio
from collections import Counter
from random import Random

import pytest

from events import codec
from events.chain import Head, origin
from events.log import Batch
from projections.audit import audit
from projections.saved import Saved
from rules import fairness
from rules.fifty_states import Commit, Committed
from rules.game import SEATS, Finished, Reason, TimeUp
from server.games import Games
from tests.contrary import ContraryLog
from tests.pairs import PLAYERS, Duel
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
