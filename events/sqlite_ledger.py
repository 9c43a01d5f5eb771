"""The Ledger in one SQLite file. The only place that knows its tables."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from events.database import Database
from events.ledger import LEAF_BYTES_MAX, Copy, Leaf, Mark, origin
from events.log import Conflict
from events.merkle import EMPTY, HASH_BYTES, Frontier, Node, leaf_hash

SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger_leaves (
    leaf INTEGER PRIMARY KEY NOT NULL, once BLOB NOT NULL UNIQUE, body BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS ledger_nodes (
    level INTEGER NOT NULL, node INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (level, node)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ledger_marks (
    partition INTEGER PRIMARY KEY NOT NULL, position INTEGER NOT NULL, hash BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ledger_head (
    head INTEGER PRIMARY KEY NOT NULL CHECK (head = 0), size INTEGER NOT NULL, hashes BLOB NOT NULL
);
"""


class SqliteLedger:
    """`events.ledger.Ledger` in a Database opened with SCHEMA."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def head(self) -> Frontier:
        return await self._database.read(frontier)

    async def marks(self) -> Sequence[Mark]:
        rows = await self._rows("SELECT partition, position, hash FROM ledger_marks ORDER BY partition", ())
        return [Mark(*row) for row in rows]

    async def append(self, head: Frontier, copy: Copy) -> Frontier:
        assert all(len(leaf.body) <= LEAF_BYTES_MAX for leaf in copy.leaves)
        return await self._database.write(lambda connection: _append(connection, head, copy))

    async def find(self, once: bytes) -> int | None:
        rows = await self._rows("SELECT leaf FROM ledger_leaves WHERE once = ?", (once,))
        return rows[0][0] if rows else None

    async def leaves(self, first: int, limit: int) -> Sequence[bytes]:
        query = "SELECT body FROM ledger_leaves WHERE leaf >= ? ORDER BY leaf LIMIT ?"
        return [body for (body,) in await self._rows(query, (first, limit))]

    async def hashes(self, nodes: Sequence[Node]) -> Sequence[bytes]:
        def found(connection: sqlite3.Connection) -> list[bytes]:
            return [_hash(connection, node) for node in nodes]

        return await self._database.read(found)

    async def restart(self) -> None:
        def forget(connection: sqlite3.Connection) -> None:
            for table in ("ledger_leaves", "ledger_nodes", "ledger_marks", "ledger_head"):
                connection.execute(f"DELETE FROM {table}")

        await self._database.write(forget)

    async def _rows(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return await self._database.read(lambda connection: connection.execute(query, values).fetchall())


def _append(connection: sqlite3.Connection, head: Frontier, copy: Copy) -> Frontier:
    if (stored := frontier(connection)) != head:
        raise Conflict(f"the ledger has {stored.size} leaves, not {head.size}, or others")
    for mark in copy.before:
        if _mark(connection, mark.partition) != mark:
            raise Conflict(f"partition {mark.partition} was copied from meanwhile")
    leaves = _fresh(connection, copy.leaves)
    after, finished = head.extend(leaf_hash(leaf.body) for leaf in leaves)
    rows = [(head.size + at, leaf.once, leaf.body) for at, leaf in enumerate(leaves)]
    connection.executemany("INSERT INTO ledger_leaves VALUES (?, ?, ?)", rows)
    nodes = [(*node, hash_) for node, hash_ in finished.items()]
    connection.executemany("INSERT INTO ledger_nodes VALUES (?, ?, ?)", nodes)
    marks = [(mark.partition, mark.position, mark.hash) for mark in copy.after]
    connection.executemany("INSERT OR REPLACE INTO ledger_marks VALUES (?, ?, ?)", marks)
    connection.execute("INSERT OR REPLACE INTO ledger_head VALUES (0, ?, ?)", (after.size, b"".join(after.hashes)))
    return after


def _fresh(connection: sqlite3.Connection, leaves: Sequence[Leaf]) -> list[Leaf]:
    fresh: dict[bytes, Leaf] = {}
    for leaf in leaves:
        if connection.execute("SELECT 1 FROM ledger_leaves WHERE once = ?", (leaf.once,)).fetchone() is None:
            fresh.setdefault(leaf.once, leaf)
    return list(fresh.values())


def frontier(connection: sqlite3.Connection) -> Frontier:
    row = connection.execute("SELECT size, hashes FROM ledger_head").fetchone()
    if row is None:
        return EMPTY
    size, hashes = row
    return Frontier(size, tuple(hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES)))


def _mark(connection: sqlite3.Connection, partition: int) -> Mark:
    query = "SELECT partition, position, hash FROM ledger_marks WHERE partition = ?"
    row = connection.execute(query, (partition,)).fetchone()
    return Mark(*row) if row else origin(partition)


def _hash(connection: sqlite3.Connection, node: Node) -> bytes:
    row = connection.execute("SELECT hash FROM ledger_nodes WHERE level = ? AND node = ?", node).fetchone()
    if row is None:
        raise KeyError(node)
    hash_: bytes = row[0]
    return hash_
