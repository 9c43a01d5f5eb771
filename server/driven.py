"""The only place that takes a coroutine from one wait to the next by hand: a task, without most of its price."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import Any

Over = Callable[[BaseException | None], None]
"""Gets what a coroutine raised; None: it ended, or was cancelled."""

_enter: Callable[[asyncio.AbstractEventLoop, Any], None] = asyncio.tasks._enter_task
_leave: Callable[[asyncio.AbstractEventLoop, Any], None] = asyncio.tasks._leave_task


class Driven:
    """A command, which waits for the store once as a rule. It is begun at once, in the context of whoever begins it.

    While it runs it is the current task, as "Extending" in asyncio's documentation has it: `asyncio.timeout` works."""

    __slots__ = ("_asked", "_cancelled", "_coroutine", "_loop", "_over", "_waits")

    def __init__(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self._coroutine = coroutine
        self._waits: asyncio.Future[Any] | None = None
        self._asked = 0
        """How often it was asked to cancel, and not told to forget it."""
        self._cancelled = False
        """Whether it must be told in its next step."""

    def __await__(self) -> Generator[Any, Any, None]:
        """For whoever has a task anyway."""
        return self._coroutine.__await__()

    def begin(self, loop: asyncio.AbstractEventLoop, over: Over) -> bool:
        """Run to the first wait. Whether there was none: else `over` is called at the end. Raises what comes before."""
        self._loop, self._over = loop, over
        around = asyncio.current_task(loop)
        if around is not None:
            _leave(loop, around)
        _enter(loop, self)
        try:
            waits = self._coroutine.send(None)
        except StopIteration:
            return True
        finally:
            _leave(loop, self)
            if around is not None:
                _enter(loop, around)
        self._wait(waits)
        return False

    def cancel(self, msg: object = None) -> bool:
        """As a task's: soon."""
        self._asked += 1
        if self._waits is None or not self._waits.cancel():
            self._cancelled = True
        return True

    def cancelling(self) -> int:
        return self._asked

    def uncancel(self) -> int:
        self._asked -= 1
        return self._asked

    def _wait(self, waits: "asyncio.Future[Any] | None") -> None:
        self._waits = waits
        if waits is None:  # As in `asyncio.sleep(0)`.
            self._loop.call_soon(self._go_on)
        else:
            waits._asyncio_future_blocking = False  # A task says so that it has understood.
            waits.add_done_callback(self._go_on)
            if self._cancelled and waits.cancel():
                self._cancelled = False

    def _go_on(self, waited: "asyncio.Future[Any] | None" = None) -> None:
        error: Exception | None = None
        _enter(self._loop, self)
        try:
            if self._cancelled:
                self._cancelled = False
                waits = self._coroutine.throw(asyncio.CancelledError())
            else:
                waits = self._coroutine.send(None)
        except (StopIteration, asyncio.CancelledError):
            pass
        except Exception as raised:
            error = raised
        else:
            self._wait(waits)
            return
        finally:
            _leave(self._loop, self)
        self._over(error)
