"""What one reader knows of one ledger: where a check of it ended, kept as a file so that the next one goes on there."""

import base64
import json
from dataclasses import dataclass, field

from events import entries
from events.entries import Opening
from events.merkle import EMPTY, Frontier
from events.notes import BadKey, VerifierKey
from events.shapes import Undecodable
from projections.leaderboard import LEADERBOARD
from projections.projection import Values, stored

FORMAT = "statecraft-seen/1"
FAULTS_MAX = 1000
"""Kept; of a ledger that is wrong throughout, more would tell nobody anything."""


@dataclass(slots=True)
class Seen:
    """What one reader knows of one ledger."""

    key: VerifierKey
    note: bytes | None = None
    """The last checkpoint, whose tree began with all those before it."""
    frontier: Frontier = EMPTY
    """Of the leaves that were checked."""
    open: dict[bytes, tuple[int, Opening]] = field(default_factory=dict)
    """Games without a closing: their opening and its index."""
    closed: set[bytes] = field(default_factory=set)
    lost: set[bytes] = field(default_factory=set)
    """Those of them of which the operator lost a part that had been shown."""
    imported: set[bytes] = field(default_factory=set)
    """Records of imports, 16 bytes each."""
    bars: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    """By player: the number of the last bar, and of the last that was lifted."""
    rows: dict[bytes, Values] = field(default_factory=dict)
    """Of the boards, folded from the leaves that were checked."""
    faults: list[str] = field(default_factory=list)

    def fault(self, what: str) -> None:
        # An overdue game, say, is found again by every check that follows.
        if len(self.faults) < FAULTS_MAX and what not in self.faults:
            self.faults.append(what)

    def save(self) -> bytes:
        values = {
            "format": FORMAT,
            "key": str(self.key),
            "checkpoint": self.note.decode() if self.note is not None else None,
            "size": self.frontier.size,
            "hashes": [each.hex() for each in self.frontier.hashes],
            "open": [[index, entries.encode(opening).hex()] for index, opening in self.open.values()],
            "closed": _joined(self.closed),
            "lost": _joined(self.lost),
            "imported": _joined(self.imported),
            "bars": [[player.hex(), *numbers] for player, numbers in self.bars.items()],
            "rows": [[_text(key), _text(stored(row))] for key, row in self.rows.items()],
            "faults": self.faults,
        }
        return json.dumps(values, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def load(cls, data: bytes) -> "Seen":
        """Raises ValueError for anything that `save` didn't write."""
        try:
            values = json.loads(data)
            if values["format"] != FORMAT:
                raise ValueError(f"format {values['format']!r}, this version knows {FORMAT}")
            return cls(
                VerifierKey.parse(values["key"]),
                values["checkpoint"].encode() if values["checkpoint"] is not None else None,
                Frontier(values["size"], tuple(bytes.fromhex(each) for each in values["hashes"])),
                {opening.game: (index, opening) for index, opening in map(_read_opening, values["open"])},
                _parted(values["closed"]),
                _parted(values.get("lost", "")),  # an earlier release didn't write it, and there were none
                _parted(values["imported"]),
                {bytes.fromhex(player): (int(bars), int(lifted)) for player, bars, lifted in values["bars"]},
                {base64.b64decode(key): tuple(LEADERBOARD.row(base64.b64decode(row))) for key, row in values["rows"]},
                list(values["faults"]),
            )
        except (KeyError, TypeError, AttributeError, BadKey, Undecodable) as error:
            raise ValueError(repr(error)) from error


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _joined(ids: set[bytes]) -> str:
    return _text(b"".join(sorted(ids)))


def _parted(text: str) -> set[bytes]:
    ids = base64.b64decode(text)
    return {ids[at : at + 16] for at in range(0, len(ids), 16)}


def _read_opening(values: tuple[int, str]) -> tuple[int, Opening]:
    index, body = values
    opening = entries.decode(bytes.fromhex(body))
    if not isinstance(opening, Opening):
        raise ValueError(f"{opening} is no opening")
    return index, opening
