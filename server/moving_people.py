"""The part of moving house that is people: everybody as he is now, since names and tokens have no history."""

from collections.abc import AsyncIterator
from itertools import count

from server.moving import CannotMove, Progress
from server.people import ASKED_MAX, People, Person

TRIES = 3
"""Of names that were somebody else's when an earlier copy was broken off."""


async def check_people(source: People, target: People) -> None:
    """Raises CannotMove where the target has somebody whom the source doesn't know."""
    known = everybody(source)
    person = await anext(known, None)
    async for each in everybody(target):
        while person is not None and person.player < each.player:
            person = await anext(known, None)
        if person is None or person.player != each.player:
            raise CannotMove(f"TO knows player {each.player.hex()}, and FROM doesn't. Copy into an empty one")


async def move_people(source: People, target: People, told: Progress) -> None:
    """They were checked. Raises CannotMove where the two aren't equal then."""
    for left in range(TRIES - 1, -1, -1):
        # A name is its new owner's once its old one has come by.
        if not await _put_all(source, target, told) or not left:
            break
    mine, its = everybody(source), everybody(target)
    for number in count(1):
        one, other = await anext(mine, None), await anext(its, None)
        if one != other:
            raise CannotMove(f"player {(one or other).player.hex()}, number {number} by id, isn't the same in both")  # type: ignore[union-attr]
        if one is None:
            return


async def _put_all(source: People, target: People, told: Progress) -> int:
    """How many have another name there now, or none."""
    after, left_out, done = b"", 0, 0
    while page := await source.page(after, ASKED_MAX):
        left_out += len(await target.put(page))
        after, done = page[-1].player, done + len(page)
        told("people", done, done)
    return left_out


async def everybody(people: People) -> AsyncIterator[Person]:
    """By id, those erased too."""
    after = b""
    while page := await people.page(after, ASKED_MAX):
        for person in page:
            yield person
        after = page[-1].player
