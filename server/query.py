"""What an address may ask for after its question mark: each name once, none unknown, every number bounded."""

from collections.abc import Collection

from starlette.requests import Request

from rules.fairness import PLAYER_BYTES
from server.http import Problem

WAIT_MS_MAX = 2000
NUMBER_DIGITS_MAX = 15


def asked(request: Request, known: Collection[str]) -> dict[str, str]:
    """The query's values by name. Raises Problem."""
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in known:
            names = f"one of {', '.join(sorted(known))}" if known else "nothing"
            raise Problem(400, "bad_query", f"{name!r} can't be asked for here, but {names}.")
        if name in found:
            raise Problem(400, "bad_query", f"{name} comes once.")
        found[name] = value
    return found


def number(query: dict[str, str], name: str, otherwise: int, least: int, most: int) -> int:
    """Raises Problem."""
    text = query.get(name)
    if text is None:
        return otherwise
    if not text.isascii() or not text.isdigit() or len(text) > NUMBER_DIGITS_MAX or not least <= int(text) <= most:
        raise Problem(400, "bad_query", f"{name} is a whole number from {least} to {most}.")
    return int(text)


def wait_ms(request: Request) -> int:
    """Raises Problem."""
    text = request.query_params.get("wait_ms", "0")
    if not text.isascii() or not text.isdigit() or len(text) > 4 or int(text) > WAIT_MS_MAX:
        raise Problem(400, "bad_wait", f"wait_ms is a whole number from 0 to {WAIT_MS_MAX}.")
    return int(text)


def player_of(text: str) -> bytes:
    """Raises Problem."""
    if len(text) != 2 * PLAYER_BYTES or not all(digit in "0123456789abcdef" for digit in text):
        raise Problem(404, "unknown_player", "A player's id is 32 digits of lower-case hex.")
    return bytes.fromhex(text)
