"""What players are called. The one place that knows."""

from collections.abc import Iterable, Mapping

from server.parts import Parts


async def names(parts: Parts, players: Iterable[bytes]) -> Mapping[bytes, str]:
    """The names of those of these players who have one, by id."""
    return {}
