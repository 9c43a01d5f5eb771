"""`eventsourcing` on SQLite: `python -m bench.peers.sourced FILE EVENTS` stores one game, then folds it whenever asked.

A line in is a fold; a line out is the number of moves in what was folded."""

import asyncio
import sys
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from bench.measure import leave_alone

AT_ONCE = 500


class Game(Aggregate):
    def __init__(self) -> None:
        self.number = 0
        self.cards = [0, 0]

    @event("Moved")
    def move(self, number: int, seat: int, card: int) -> None:
        self.number = number + 1
        self.cards[seat] += card


def filled(path: str, count: int) -> tuple[Application[UUID], UUID]:
    application: Application[UUID] = Application(
        {"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": path, "SQLITE_LOCK_TIMEOUT": "10"}
    )
    game = Game()
    for number in range(count):
        game.move(number, number % 2, number % 50)
        if number % AT_ONCE == AT_ONCE - 1:
            application.save(game)
    application.save(game)
    return application, game.id


async def main(path: str, count: str) -> None:
    application, id_ = filled(path, int(count))
    leave_alone()

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readline():
            game: Game = application.repository.get(id_)
            writer.write(b"%d\n" % game.number)
        writer.close()

    server = await asyncio.start_server(attend, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"listening at {host}:{port}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
