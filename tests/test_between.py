"""Games between two people over sockets: meeting, sitting, playing, and what each is told."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.pairs import opened, people
from tests.running import BOTH, Server, serving

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("between")) as running:
        yield running


@pytest.mark.parametrize("subprotocol", BOTH)
@pytest.mark.parametrize("rules", ["fifty-states/1", "classic/1", "playbook/1", "gameweave/1"])
async def test_two_who_meet_by_a_link_play_a_whole_game_that_audit_passes(
    server: Server, rules: str, subprotocol: str
) -> None:
    settings = {"length": "short"} if rules == "classic/1" else {}
    async with people(server, 2, subprotocol=subprotocol) as (maker, guest):
        made = await maker.ask("invite", "invite", rules=rules, settings=settings, listed=False)
        assert made["type"] == "done", made
        game = bytes.fromhex(made["game"])
        first, second = await asyncio.gather(maker.play(game), guest.play(game))
        assert first.events == second.events
        assert first.over
        assert not opened(first).counts
        assert server.audit(game).over
