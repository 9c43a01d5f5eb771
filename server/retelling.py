"""A game told again in a terminal, line by line: at a pace, and by keys where there is somebody to press them."""

import contextlib
import os
import re
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from projections.replay import Moment, Recording, battle_after, battle_before
from server.telling import Seats, told

GAP_SECONDS_MAX = 3.0
"""A longer pause in the recorded times is shortened to this, before the speed."""
FASTER = 2.0
SPEED_MIN, SPEED_MAX = 1 / 64, 64.0


class Key(Enum):
    """What may be pressed; README has the list."""

    PAUSE = " "
    NEXT = "\x1b[C"
    BACK = "\x1b[D"
    NEXT_BATTLE = "\x1b[1;2C"
    BATTLE_BACK = "\x1b[1;2D"
    FIRST = "\x1b[H"
    LAST = "\x1b[F"
    FASTER = "+"
    SLOWER = "-"
    QUIT = "q"


Keys = Callable[[float | None], Key | None]
"""Waits so many seconds, or for ever, for a key; None: none came."""


@dataclass(frozen=True, slots=True)
class Pace:
    seconds: float
    """Between two lines, where the recorded times aren't kept."""
    recorded: bool
    speed: float


def retell(recording: Recording, at: int, seats: Seats, pace: Pace, keys: Keys, show: Callable[[str], None]) -> None:
    """Tell a game from the moment `at` (0: from the beginning) to its end. Raises Undecodable."""
    moment = recording.at(min(at, recording.head.version))
    if moment.version:
        show(_line(moment, seats))
    speed, playing = pace.speed, True
    while True:
        following = _next_told(recording, moment, seats)
        if following is None and playing:
            return
        key = keys(_wait_seconds(moment, following, pace, speed) if playing and following else None)
        if key is None:
            target = following or moment
        else:
            playing = not playing if key is Key.PAUSE else playing and key in (Key.FASTER, Key.SLOWER)
            match key:
                case Key.PAUSE:
                    target = moment
                case Key.NEXT:
                    target = following or moment
                case Key.BACK:
                    target = _told_before(recording, moment, seats)
                case Key.NEXT_BATTLE:
                    target = battle_after(recording, moment)
                case Key.BATTLE_BACK:
                    target = battle_before(recording, moment)
                case Key.FIRST:
                    target = recording.at(1)
                case Key.LAST:
                    target = recording.at(recording.head.version)
                case Key.FASTER:
                    target, speed = moment, min(speed * FASTER, SPEED_MAX)
                case Key.SLOWER:
                    target, speed = moment, max(speed / FASTER, SPEED_MIN)
                case Key.QUIT:
                    return
                case _:
                    assert_never(key)
        if target.version != moment.version and target.version:
            show(_line(target, seats))
        moment = target


def _line(moment: Moment, seats: Seats) -> str:
    return f"{moment.version:4}  {told(moment, seats) or ''}".rstrip()


def _next_told(recording: Recording, moment: Moment, seats: Seats) -> Moment | None:
    """The next moment of which there is something to tell."""
    while moment.version < recording.head.version:
        moment = recording.after(moment)
        if told(moment, seats):
            return moment
    return None


def _told_before(recording: Recording, moment: Moment, seats: Seats) -> Moment:
    for version in range(moment.version - 1, 0, -1):
        if told(earlier := recording.at(version), seats):
            return earlier
    return moment


def _wait_seconds(moment: Moment, following: Moment, pace: Pace, speed: float) -> float:
    if moment.version == 0:
        return 0
    if not pace.recorded:
        return pace.seconds / speed
    return min((following.at_ms - moment.at_ms) / 1000, GAP_SECONDS_MAX) / speed


def no_keys(seconds: float | None) -> None:
    """Where nobody can press one: standard input or output is no terminal."""
    time.sleep(seconds or 0)


@contextlib.contextmanager
def pressed() -> Iterator[Keys]:
    """The keys of the terminal, one by one and unechoed while the block lasts; none where there is no terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield no_keys
        return
    keyboard = Keyboard(sys.stdin.fileno())
    before = termios.tcgetattr(keyboard.source)
    tty.setcbreak(keyboard.source)
    try:
        yield keyboard.wait
    finally:
        termios.tcsetattr(keyboard.source, termios.TCSADRAIN, before)


class Keyboard:
    """Keys out of what a terminal sends: several may come at once, and an arrow is several characters."""

    def __init__(self, source: int) -> None:
        self.source = source
        self._waiting: list[str] = []

    def wait(self, seconds: float | None) -> Key | None:
        """The next key with a meaning; None if none comes in that time."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            while self._waiting:
                with contextlib.suppress(ValueError):
                    return Key(self._waiting.pop(0))
            left = None if end is None else max(0.0, end - time.monotonic())
            if not select.select([self.source], [], [], left)[0]:
                return None
            if not (text := os.read(self.source, 256).decode(errors="ignore")):
                return Key.QUIT  # The terminal is gone.
            for also, key in _ALSO:
                text = text.replace(also, key)
            self._waiting += _KEY.findall(text)


_KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|.", re.DOTALL)
_ALSO = (("\x1bO", "\x1b["), ("\x1b[1~", "\x1b[H"), ("\x1b[4~", "\x1b[F"), ("=", "+"))
"""What some terminals send instead."""
