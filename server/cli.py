"""The command line: `statecraft serve | audit | export | replay`."""

import asyncio
import sqlite3
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from events.database import Busy, Database, Newer
from events.shapes import Undecodable
from events.sqlite import SqliteLog
from projections import saved
from projections.audit import NOT_PROVED, Findings, audit_file
from projections.replay import replay as moments
from projections.saved import NotSaved, Saved
from server.keys import BadKeys
from server.settings import BadSetting, Settings, settings
from server.telling import told

command = typer.Typer(
    help="Statecraft: two-seat card games, event-sourced and provable.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

Game = Annotated[str, typer.Argument(metavar="GAME|FILE", help="A game's id (32 hex digits), or a saved game's file.")]
Data = Annotated[Path | None, typer.Option("--data", help="Directory of the log. Default: STATECRAFT_DATA or ./data.")]


def fail(why: str, code: int = 2) -> NoReturn:
    err.print(why, style="bold red", markup=False)
    raise typer.Exit(code)


def _settings(data: Path | None) -> Settings:
    try:
        given = settings()
    except BadSetting as error:
        fail(str(error))
    if data is None:
        return given
    return replace(given, data=data)


# ---------------------------------------------------------------- serve


@command.command()
def serve(
    data: Data = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0 takes a free one.")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve the games and the page."""
    from server.serving import run  # only here: whoever audits a file needn't wait for a web server's modules

    given = _settings(data)
    try:
        started = run(given, host or given.host, given.port if port is None else port, open_page)
    except (Busy, Newer, BadKeys, OSError) as error:
        fail(str(error))
    except sqlite3.DatabaseError as error:
        fail(f"{given.log}: {error}")
    if not started:
        raise typer.Exit(1)


# ---------------------------------------------------------------- what reads a game


def _bytes_of(name: str, data: Path | None) -> bytes:
    """A saved game's bytes: from a file of that name, or from the log."""
    path = Path(name)
    if path.is_file():
        return path.read_bytes()
    if len(name) != 32 or not all(digit in "0123456789abcdef" for digit in name):
        fail(f"{name} is neither a file nor a game's id (32 hex digits)")
    where = _settings(data).log
    if not where.is_file():
        fail(f"there is no log at {where}")

    async def read() -> bytes:
        database = await Database.reader(where)
        try:
            game = bytes.fromhex(name)
            events = await SqliteLog(database).read(game)
            return saved.save(game, events).encode() if events else b""
        finally:
            await database.close()

    text = asyncio.run(read())
    if not text:
        fail(f"the log at {where} has no game {name}")
    return text


@command.command()
def export(
    game: Game,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; else standard output.")] = None,
    data: Data = None,
) -> None:
    """Write a game as one self-contained file that anyone can audit."""
    text = _bytes_of(game, data)
    if output is None:
        sys.stdout.buffer.write(text)
        return
    try:
        output.write_bytes(text)
    except OSError as error:
        fail(str(error))


@command.command()
def audit(game: Game, data: Data = None) -> None:
    """Check a game from its bytes: chain, promises, deal, seals, rules and the house's every choice."""
    findings = audit_file(_bytes_of(game, data))
    _print(findings)
    if not findings.passed:
        raise typer.Exit(1)


def _print(findings: Findings) -> None:
    if findings.failure is not None:
        where = f"event {findings.failure.version}" if findings.failure.version else "the first line"
        out.print(f"FAILED at {where}: {findings.failure.why}", style="bold red", markup=False)
        if findings.checked:
            out.print("\nBefore that, these held:")
    elif findings.over:
        out.print(
            f"PASSED: game {findings.game.hex()}, {findings.events} events, {findings.result}", style="bold green"
        )
        out.print("\nChecked:")
    else:
        out.print(f"So far well: game {findings.game.hex()}, {findings.events} events, {findings.result}")
        out.print("\nChecked:")
    for what, count in findings.checked.items():
        out.print(f"  {count:4}  {what}", markup=False)
    if findings.head is not None:
        out.print(f"\nLast event {findings.head.version}, hash {findings.head.hash.hex()}")
    out.print("\nNot proved by this file:")
    for what in NOT_PROVED:
        out.print(f"  - {what}", markup=False)


@command.command()
def replay(
    game: Game,
    pace: Annotated[float, typer.Option(min=0, help="Seconds between events; 0 shows all at once.")] = 0.6,
    recorded: Annotated[bool, typer.Option("--recorded", help="Keep the recorded times instead.")] = False,
    speed: Annotated[float, typer.Option(min=0.01, help="With --recorded: times faster.")] = 1.0,
    data: Data = None,
) -> None:
    """Tell a game again in the terminal."""
    try:
        game_: Saved = saved.load(_bytes_of(game, data))
        before_ms: int | None = None
        for moment in moments(game_.game, game_.events):
            line = told(moment)
            if line:
                _wait(before_ms, moment.at_ms, pace, recorded, speed)
                out.print(f"{moment.version:4}  {line}", markup=False)
            before_ms = moment.at_ms
    except (NotSaved, Undecodable, KeyError, AssertionError) as error:
        fail(f"this game can't be told: {error}; audit says where it is broken", 1)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _wait(before_ms: int | None, at_ms: int, pace: float, recorded: bool, speed: float) -> None:
    if before_ms is None:
        return
    time.sleep((at_ms - before_ms) / 1000 / speed if recorded else pace)


def main() -> None:
    command()


if __name__ == "__main__":
    main()
