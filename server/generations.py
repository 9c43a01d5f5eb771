"""Projections in a SQLite file: generations of rows, each with the position it was folded to. All the SQL there is.

Every function is a job for `Database`; server/projected.py says what each must do.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from server.projected import DIFFERENCES_MAX, Checkpoint, Differs, Generation, Moved, StoredRow, Taken

SCHEMA = """
CREATE TABLE IF NOT EXISTS generations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('live', 'building', 'kept', 'dropped')),
    as_of INTEGER NOT NULL,
    leaf_hash BLOB NOT NULL,
    digest BLOB NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS generations_standing ON generations (name, state) WHERE state <> 'dropped';
CREATE TABLE IF NOT EXISTS projected (
    generation INTEGER NOT NULL,
    key BLOB NOT NULL,
    row BLOB NOT NULL,
    PRIMARY KEY (generation, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS held (generation INTEGER PRIMARY KEY NOT NULL, rows BLOB NOT NULL);
"""
SWEEP_ROWS = 10_000
KEYS_AT_ONCE = 500
ROWS_A_STATEMENT = 200


def standing(connection: sqlite3.Connection, name: str, state: str = "live") -> Generation | None:
    found = connection.execute(
        "SELECT id, name, version, state, as_of, leaf_hash, digest FROM generations WHERE name = ? AND state = ?",
        (name, state),
    ).fetchone()
    if found is None:
        return None
    id_, name, version, state, *checkpoint = found
    return Generation(id_, name, version, state, Checkpoint(*checkpoint))


def begin(connection: sqlite3.Connection, name: str, version: int, state: str) -> Generation:
    found = standing(connection, name, state)
    if found is not None and (found.version == version or state == "live"):
        return found
    if found is not None:
        _set(connection, found, "dropped")
    fresh = Checkpoint()
    cursor = connection.execute(
        "INSERT INTO generations (name, version, state, as_of, leaf_hash, digest) VALUES (?, ?, ?, ?, ?, ?)",
        (name, version, state, *fresh),
    )
    assert cursor.lastrowid is not None
    return Generation(cursor.lastrowid, name, version, state, fresh)


def advance(
    connection: sqlite3.Connection, known: Generation, after: Checkpoint, rows: Sequence[StoredRow], held: bytes
) -> Generation:
    before = known.checkpoint
    moved = connection.execute(
        "UPDATE generations SET as_of = ?, leaf_hash = ?, digest = ?"
        " WHERE id = ? AND state = ? AND as_of = ? AND leaf_hash = ? AND digest = ?",
        (*after, known.id, known.state, *before),
    ).rowcount
    if moved != 1:
        raise Moved(known)
    for first in range(0, len(rows), ROWS_A_STATEMENT):
        some = rows[first : first + ROWS_A_STATEMENT]
        connection.execute(_insert(len(some)), (known.id, *chain.from_iterable(some)))
    if known.state == "building":
        connection.execute("DELETE FROM held WHERE generation = ?", (known.id,))
    if held:
        connection.execute("INSERT INTO held VALUES (?, ?)", (known.id, held))
    return replace(known, checkpoint=after)


def held(connection: sqlite3.Connection, generation: int) -> bytes:
    found = connection.execute("SELECT rows FROM held WHERE generation = ?", (generation,)).fetchone()
    return found[0] if found is not None else b""


@lru_cache(8)
def _insert(count: int) -> str:
    """Of `count` rows in one statement, which takes half the time that as many statements do."""
    values = ", ".join([f"(?1, ?{2 * at}, ?{2 * at + 1})" for at in range(1, count + 1)])
    return f"INSERT OR REPLACE INTO projected VALUES {values}"


def take_over(connection: sqlite3.Connection, known: Generation, force: bool) -> Taken | None:
    if standing(connection, known.name, "building") != known:
        raise Moved(known)
    assert not held(connection, known.id), "some of its rows aren't written"
    live = standing(connection, known.name)
    if live is not None and not force:
        if live.checkpoint.as_of != known.checkpoint.as_of:
            return None
        if live.checkpoint.leaf_hash != known.checkpoint.leaf_hash:
            raise Differs(f"{known.name}: the live one was folded from another ledger, up to {live.checkpoint.as_of}")
        if live.version == known.version and live.checkpoint.digest != known.checkpoint.digest:
            raise Differs(f"{known.name} at {live.checkpoint.as_of}: {_differences(connection, live, known)}")
    if live is not None:
        kept = standing(connection, known.name, "kept")
        if kept is not None:
            _set(connection, kept, "dropped")
        _set(connection, live, "kept")
    _set(connection, known, "live")
    return Taken(replace(known, state="live"), None if live is None else replace(live, state="kept"))


def _differences(connection: sqlite3.Connection, live: Generation, rebuilt: Generation) -> str:
    found: list[str] = []
    for one, other in ((live, rebuilt), (rebuilt, live)):
        rows = connection.execute(
            "SELECT key FROM projected AS one WHERE generation = ? AND NOT EXISTS (SELECT 1 FROM projected AS other"
            " WHERE other.generation = ? AND other.key = one.key AND other.row = one.row) LIMIT ?",
            (one.id, other.id, DIFFERENCES_MAX),
        ).fetchall()
        found += [key.hex() for (key,) in rows]
    named = ", ".join(list(dict.fromkeys(found))[:DIFFERENCES_MAX])
    return f"other rows: {named}" if named else "the same rows, but a digest that isn't theirs"


def roll_back(connection: sqlite3.Connection, name: str) -> Generation | None:
    live, kept = standing(connection, name), standing(connection, name, "kept")
    if kept is None:
        return None
    if live is not None:
        _set(connection, live, "dropped")  # for a moment: there may be only one of a state
    _set(connection, kept, "live")
    if live is not None:
        _set(connection, live, "kept")
    return replace(kept, state="live")


def drop_building(connection: sqlite3.Connection, name: str) -> None:
    building = standing(connection, name, "building")
    if building is not None:
        _set(connection, building, "dropped")


def sweep(connection: sqlite3.Connection) -> bool:
    """Delete some rows of what was dropped; whether there may be more."""
    dropped = connection.execute("SELECT id FROM generations WHERE state = 'dropped' LIMIT 1").fetchone()
    if dropped is None:
        return False
    deleted = connection.execute(
        "DELETE FROM projected WHERE generation = ? AND key IN"
        " (SELECT key FROM projected WHERE generation = ? LIMIT ?)",
        (dropped[0], dropped[0], SWEEP_ROWS),
    ).rowcount
    if deleted < SWEEP_ROWS:
        connection.execute("DELETE FROM generations WHERE id = ?", dropped)
        connection.execute("DELETE FROM held WHERE generation = ?", dropped)
    return True


def _set(connection: sqlite3.Connection, generation: Generation, state: str) -> None:
    connection.execute("UPDATE generations SET state = ? WHERE id = ?", (state, generation.id))


def rows(connection: sqlite3.Connection, generation: int, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for first in range(0, len(keys), KEYS_AT_ONCE):
        some = keys[first : first + KEYS_AT_ONCE]
        places = ",".join("?" * len(some))
        sql = f"SELECT key, row FROM projected WHERE generation = ? AND key IN ({places})"
        found.update(connection.execute(sql, (generation, *some)).fetchall())
    return found


def page(connection: sqlite3.Connection, generation: int, prefix: bytes, after: bytes, limit: int) -> list[StoredRow]:
    # One lower bound: of two, SQLite would begin at the first and step over the rest.
    where, bounds = "generation = ? AND key >= ?", [generation, max(prefix, after + b"\0")]
    last = prefix.rstrip(b"\xff")
    if last:
        # The first key after all that begin so.
        where += " AND key < ?"
        bounds.append(last[:-1] + bytes((last[-1] + 1,)))
    return connection.execute(
        f"SELECT key, row FROM projected WHERE {where} ORDER BY key LIMIT ?", (*bounds, limit)
    ).fetchall()
