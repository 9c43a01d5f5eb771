"""A coroutine that is driven by hand does what it would do in a task."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.driven import Driven
from tests.running import wait_seconds_max

pytestmark = pytest.mark.anyio

STEPS = ("pass", "wait", "fail", "late", "in time", "name", "child")


class Script:
    """Does one thing after the other, and remembers what came of each."""

    def __init__(self, steps: list[str]) -> None:
        self.steps = steps
        self.seen: list[str] = []

    async def run(self) -> None:
        try:
            for step in self.steps:
                self.seen.append(step)
                await self._do(step)
            self.seen.append("end")
        finally:
            self.seen.append("left")

    async def _do(self, step: str) -> None:
        loop = asyncio.get_running_loop()
        match step:
            case "pass":
                await asyncio.sleep(0)
            case "wait":
                future: asyncio.Future[str] = loop.create_future()
                loop.call_soon(future.set_result, "it came")
                self.seen.append(await future)
            case "fail":
                failing: asyncio.Future[str] = loop.create_future()
                loop.call_soon(failing.set_exception, RuntimeError("it failed"))
                await failing
            case "late":
                try:
                    async with asyncio.timeout(0):
                        await loop.create_future()
                except TimeoutError:
                    self.seen.append("too late")
            case "in time":
                async with asyncio.timeout(wait_seconds_max):
                    await asyncio.sleep(0)
            case "name":
                current = asyncio.current_task()
                self.seen.append("somebody" if current is not None else "nobody")
            case "child":
                self.seen.append(str(await asyncio.gather(asyncio.sleep(0, "a child"))))


async def driven(script: Script) -> str:
    """What came of it."""
    over: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()
    try:
        if Driven(script.run()).begin(asyncio.get_running_loop(), over.set_result):
            return "None"
    except RuntimeError as error:
        return repr(error)
    return repr(await over)


async def in_a_task(script: Script) -> str:
    try:
        await asyncio.create_task(script.run())
    except RuntimeError as error:
        return repr(error)
    return "None"


@given(st.lists(st.sampled_from(STEPS), max_size=6))
def test_it_sees_what_a_task_sees_and_ends_as_it_does(steps: list[str]) -> None:
    by_hand, by_task = Script(steps), Script(steps)
    assert asyncio.run(driven(by_hand)) == asyncio.run(in_a_task(by_task))
    assert by_hand.seen == by_task.seen


async def test_what_never_waits_is_over_at_once_and_nobody_is_called() -> None:
    script = Script(["name"])
    assert Driven(script.run()).begin(asyncio.get_running_loop(), fails)
    assert script.seen == ["name", "somebody", "end", "left"]


async def test_what_goes_wrong_before_the_first_wait_is_raised_where_it_was_begun() -> None:
    async def wrong() -> None:
        raise ValueError("at once")

    with pytest.raises(ValueError, match="at once"):
        Driven(wrong()).begin(asyncio.get_running_loop(), fails)


async def test_whoever_begins_it_is_the_current_task_again() -> None:
    around = asyncio.current_task()
    waits: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def waiting() -> None:
        await waits

    over = asyncio.Event()
    assert not Driven(waiting()).begin(asyncio.get_running_loop(), lambda error: over.set())
    assert asyncio.current_task() is around
    waits.set_result(None)
    await over.wait()
    assert asyncio.current_task() is around


@pytest.mark.parametrize("first", ["cancelled", "answered"])
async def test_one_that_is_cancelled_leaves_soon_whether_its_answer_has_come_or_not(first: str) -> None:
    loop, script = asyncio.get_running_loop(), Script(["name"])
    waits: asyncio.Future[None] = loop.create_future()

    async def waiting() -> None:
        try:
            await waits
        finally:
            await script.run()
        raise AssertionError("it went on")

    over: asyncio.Future[BaseException | None] = loop.create_future()
    command = Driven(waiting())
    assert not command.begin(loop, over.set_result)
    if first == "answered":
        waits.set_result(None)
    command.cancel()
    async with asyncio.timeout(wait_seconds_max):
        assert await over is None
    assert script.seen[-1] == "left"


async def test_it_can_be_awaited_like_any_coroutine() -> None:
    script = Script(["wait", "name"])
    await Driven(script.run())
    assert script.seen == ["wait", "it came", "name", "somebody", "end", "left"]


def fails(error: Any) -> None:
    raise AssertionError(error)
