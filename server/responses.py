"""The JSON bodies of answers over HTTP, as types: what server/endpoints.py describes them with."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

Hex16 = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
Hex32 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Base64 = Annotated[str, Meta(pattern=r"^[A-Za-z0-9+/]*={0,2}\Z")]
Count = Annotated[int, Meta(ge=0)]
Millionths = Annotated[int, Meta(ge=0, le=10**6)]
Token = Annotated[str, Meta(min_length=43, max_length=43)]
Fraction = Annotated[str, Meta(pattern=r"^-?[0-9]+(/[0-9]+)?\Z")]


class Answer(Struct, forbid_unknown_fields=True):
    pass


class Problem(Answer):
    """What every error of `/api` looks like."""

    error: str
    """A stable code."""
    what: str


class Player(Answer):
    player: Hex16


class Joined(Answer):
    player: Hex16
    token: Token | UnsetType = UNSET


class Who(Answer):
    player: Hex16 | None


class Code(Answer):
    token: Token


class Named(Answer):
    """What the player is called from now on."""

    player: Hex16
    name: str


class Erased(Answer):
    erased: Hex16


class Bar(Answer):
    """Why a player was kept out of games that count, and the leaves that say so; null until it is lifted."""

    index: Count
    at_ms: int
    reason: str
    lifted_index: Count | None
    lifted_at_ms: int | None


class Bars(Answer):
    player: Hex16
    barred: bool
    bars: list[Bar]


# ---------------------------------------------------------------- a player's records


class Imported(Answer):
    """Of games from an older site."""

    games: Count
    wins: Count


class ImportedRecord(Imported):
    draws: Count
    stars: Count


class Rival(Answer):
    ladder: str
    rival: str
    games: Count
    wins: Count
    win_rate: Millionths | None
    imported: Imported


class MyRival(Rival):
    mode: str


class Rivals(Answer):
    player: Hex16 | None
    rivals: list[MyRival]


class Luck(Answer):
    ladder: str
    games: Count
    wins: Count
    draws: Count


class Lucks(Answer):
    player: Hex16 | None
    luck: list[Luck]


class Trophies(Answer):
    stars: Count
    medals: Count
    shields: Count
    flags: Count


class Badge(Answer):
    milestone: Count
    index: Count
    at_ms: int


class Ladder(Answer):
    ladder: str
    colour: str | None
    stars: Count
    trophies: Trophies
    games: Count
    wins: Count
    draws: Count
    win_rate: Millionths | None
    streak: Count
    best_streak: Count
    streak_badge: Badge | None
    win_rate_badge: Badge | None
    imported: ImportedRecord


class Rank(Answer):
    ladder: str
    measure: str
    rank: Count
    position: Count
    value: int
    index: Count
    size: Count
    as_of: int


class Record(Answer):
    """All that is kept of a player."""

    player: Hex16
    name: str | None
    barred: str | None
    """Why, if the operator keeps the player out of games that count."""
    as_of: int
    leaf_hash: Hex32
    ladders: list[Ladder]
    rivals: list[Rival]
    luck: list[Luck]
    ranks: list[Rank]


class Nobody(Answer):
    """Who asks is no player here."""

    player: None


class Opponent(Answer):
    player: Hex16 | None
    name: str | None
    rival: str | None


class Past(Answer):
    game: Hex16
    rules: str
    ladder: str
    opponent: Opponent
    result: str
    reason: str
    counts: bool
    at_ms: int
    index: Count


class History(Answer):
    """A page of finished games, newest first; `next` is the cursor of the following one."""

    player: Hex16
    ladder: str | None
    as_of: int
    leaf_hash: Hex32
    games: list[Past]
    next: str | None


# ---------------------------------------------------------------- boards


class Measure(Answer):
    measure: str
    windows: list[str]


class BoardLadder(Answer):
    ladder: str
    colour: str | None
    measures: list[Measure]


class Boards(Answer):
    ladders: list[BoardLadder]
    week: str
    day: str
    win_rate_games_min: Count


class Place(Answer):
    rank: Count
    position: Count
    player: Hex16
    name: str | None
    value: int
    index: Count


class Board(Answer):
    ladder: str
    measure: str
    window: str
    asked: str
    until_ms: int | None
    as_of: int
    leaf_hash: Hex32
    size: Count
    places: list[Place]


# ---------------------------------------------------------------- games and the ledger


class Choice(Answer):
    card: int
    worth: Fraction
    cost: Fraction


class Position(Answer):
    battle: int
    round: int
    value: Fraction
    chosen: int | None
    choices: list[Choice]


class Review(Answer):
    game: Hex16
    rules: str
    positions: list[Position]
    cost: Fraction


class Projection(Answer):
    as_of: int | None
    trouble: str | None


class Ledger(Answer):
    key: str
    leaves: Count
    signed: Count
    partitions_waiting: Count
    partitions_stopped: dict[str, str]
    not_signed_because: str | None
    projections: dict[str, Projection]


class Growth(Answer):
    """`proof` is null where fewer leaves are signed, `checkpoint` where none are."""

    size: Count
    proof: list[Base64] | None
    checkpoint: str | None
    key: str


class Leaf(Answer):
    index: Count
    entry: Base64
    proof: list[Base64]
    checkpoint: str
    key: str


class Witness(Answer):
    game: Hex16
    witnessed: bool
    key: str
    index: Count | UnsetType = UNSET
    entry: Base64 | UnsetType = UNSET
    proof: list[Base64] | UnsetType = UNSET
    checkpoint: str | UnsetType = UNSET


class Health(Answer):
    ok: bool
