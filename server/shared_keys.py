"""That all servers of a store have the same keys: the one place that compares them, by what Redis keeps of each.

`{statecraft}:keys` there is a hash of `operator-N` to the SHA-256 of that key behind its domain, and of `ledger` to the
ledger's public key. Nothing secret can be told from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from events import notes
from events.notes import BadKey, VerifierKey
from events.redis_script import Script
from events.redis_store import RedisStore
from server.archive import KEY, Archive
from server.keys import BadKeys, OperatorKeys, has_keys, has_ledger_key, ledger_key, operator_keys
from server.settings import Settings
from server.signer import signer

TAG = b"statecraft"
KNOWN = b"{statecraft}:keys"
LEDGER = "ledger"

_ADD = Script(
    """
    local own = {}
    for at = 1, #ARGV, 2 do own[ARGV[at]] = ARGV[at + 1] end
    local known = redis.call('HGETALL', KEYS[1])
    for at = 1, #known, 2 do
        local name, told = known[at], known[at + 1]
        if own[name] ~= told and (own[name] or name ~= 'ledger') then return known end
    end
    redis.call('HSET', KEYS[1], unpack(ARGV))
    return redis.call('HGETALL', KEYS[1])
    """
)
"""Who won't start adds nothing: the others would be asked for his keys when they start next."""


@dataclass(frozen=True, slots=True)
class Keys:
    operator: OperatorKeys
    ledger: notes.Signer | VerifierKey
    """The public one alone where this server isn't to sign and doesn't have the other."""

    @property
    def newest(self) -> bytes:
        return self.operator[max(self.operator)]

    @property
    def verifier(self) -> VerifierKey:
        return self.ledger.key if isinstance(self.ledger, notes.Signer) else self.ledger


async def keys(settings: Settings, redis: RedisStore | None) -> Keys:
    """This server's, which are made where nobody has any. Raises BadKeys, Unknown."""
    folder = settings.keys
    if redis is None:
        return Keys(operator_keys(folder), signer(ledger_key(folder)))
    known = _plain(await redis.read(TAG, "HGETALL", KNOWN))
    _check_there(settings, known)
    found = operator_keys(folder)
    own = {_name(number): fingerprint(key) for number, key in found.items()}
    hand = signer(ledger_key(folder)) if settings.signs or has_ledger_key(folder) else None
    if hand is not None:
        own[LEDGER] = str(hand.key)
    arguments = [text for pair in own.items() for text in pair]
    known = _plain(await redis.write(TAG, _ADD, (KNOWN,), arguments))
    _check_same(folder, own, known)
    return Keys(found, hand if hand is not None else VerifierKey.parse(known[LEDGER]))


def _check_there(settings: Settings, known: Mapping[str, str]) -> None:
    """Before any is made. Raises BadKeys."""
    folder = settings.keys
    if any(name != LEDGER for name in known) and not has_keys(folder):
        raise BadKeys(f"this store's games are dealt under keys that {folder} lacks: copy them from another server")
    if settings.signs and LEDGER in known and not has_ledger_key(folder):
        raise BadKeys(
            f"the ledger of this store is signed with a key that {folder} lacks: copy ledger.key from the server that "
            "signs, or set STATECRAFT_SIGNS=0 here"
        )
    if not settings.signs and LEDGER not in known and not has_ledger_key(folder):
        raise BadKeys("nobody has signed in this store yet: start the server that is to sign first")


def _check_same(folder: Path, own: Mapping[str, str], known: Mapping[str, str]) -> None:
    """Raises BadKeys."""
    for name, told in known.items():
        file = folder / f"{name}.key"
        if name not in own and name != LEDGER:
            raise BadKeys(f"another server of this store has a key that lacks here: copy it to {file}")
        if own.get(name, told) != told:
            raise BadKeys(f"{file} is another key than the other servers of this store have: copy theirs")


async def public_key(settings: Settings, kept: Archive) -> VerifierKey:
    """The ledger's, for whoever signs nothing: of the key here, or where this machine lacks it as the archive has it.

    Raises BadKeys, OSError, obstore's BaseError."""
    if has_ledger_key(settings.keys):
        return signer(ledger_key(settings.keys)).key
    text = await kept.get(KEY)
    try:
        return VerifierKey.parse((text or b"").decode().strip())
    except (BadKey, UnicodeDecodeError) as error:
        raise BadKeys(f"there is neither a ledger.key in {settings.keys} nor its public key in the archive") from error


def fingerprint(key: bytes) -> str:
    return sha256(b"statecraft operator key fingerprint v1\0" + key).hexdigest()


def _name(number: int) -> str:
    return f"operator-{number}"


def _plain(found: Mapping[bytes, bytes] | list[bytes]) -> dict[str, str]:
    """A hash as Redis gives it to a command (a map) or out of a script (a list)."""
    pairs = found.items() if isinstance(found, Mapping) else zip(found[::2], found[1::2], strict=True)
    return {name.decode(): value.decode() for name, value in pairs}
