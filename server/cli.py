"""The command line: `statecraft serve | audit | proof | export | replay | simulate | refill | doctor | …`."""

import asyncio
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from obstore.exceptions import BaseError
from rich.progress import Progress

from events.log import Unknown
from events.notes import BadKey, VerifierKey
from events.redis_address import BadAddress, address
from events.redis_durability import BadDurability, durability
from events.shapes import Undecodable
from projections import saved
from projections.audit import NOT_PROVED, NOT_PROVED_BY_LEDGER, Findings, audit_file
from projections.proof import check as check_proof
from projections.proof import is_proof
from projections.replay import Recording
from projections.saved import NotSaved, Saved
from projections.simulation import NoSimulation
from server import auditing, backup, copying, keyring, operating, rebuilding, restore, simulating
from server.archive import archive
from server.archived import ArchivedLog
from server.games import Damaged
from server.keys import BadKeys
from server.prove import NoProof, make_proof
from server.refill import Refilled, Unrefillable, last_signed
from server.refill import refill as refilled
from server.retelling import Pace, pressed, retell
from server.shared_keys import public_key
from server.signed import SignedPrefix, noted_size
from server.stores import FAULTS, stores_to_read, stores_to_refill
from server.telling import Seats
from server.terminal import BAR, Data, chosen, err, fail, out

command = typer.Typer(
    help="Statecraft: two-seat card games, event-sourced and provable.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
Game = Annotated[str, typer.Argument(metavar="GAME|FILE", help="A game's id (32 hex digits), or a saved game's file.")]
Key = Annotated[str | None, typer.Option("--key", help="The ledger's public key that you know: NAME+ID+KEY.")]


# ---------------------------------------------------------------- serve


@command.command()
def serve(
    data: Data = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0 takes a free one.")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    demo: Annotated[
        int, typer.Option(min=0, max=10_000, help="Fill an empty install with so many games of scripted players.")
    ] = 0,
) -> None:
    """Serve the games and the page."""
    from server.serving import NotEmpty, run  # only here: whoever audits a file needn't wait for a web server's modules

    given = chosen(data)
    try:
        started = run(given, host or given.host, given.port if port is None else port, open_page, demo)
    except (NotEmpty, *FAULTS, Unknown, BadKeys) as error:
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
    given = chosen(data)

    async def read() -> bytes:
        async with stores_to_read(given) as opened:
            game = bytes.fromhex(name)
            events = await ArchivedLog(opened.log, archive(given.archive)).read(game)
            return saved.save(game, events).encode() if events else b""

    try:
        text = asyncio.run(read())
    except (*FAULTS, Damaged, Unknown) as error:
        fail(str(error))
    if not text:
        fail(f"the log at {given.redis or given.log} has no game {name}")
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
def audit(
    game: Annotated[str, typer.Argument(metavar="GAME|FILE", help="A game's id, a saved game, or a proof.")],
    data: Data = None,
    key: Key = None,
    whole: Annotated[
        bool, typer.Option("--all", help="Instead a whole ledger: a server's URL, an archive's directory or URL.")
    ] = False,
    state: Annotated[
        Path | None, typer.Option("--state", help="With --all: where to remember what was seen, and to go on from.")
    ] = None,
) -> None:
    """Check a game from its bytes: chain, promises, deal, seals, rules and the house's every choice.

    Exit code 0: everything checks out; 1: something doesn't; 2: there is no such game; 3: so far well, but the log
    doesn't end, so the game is still running or the file was cut."""
    if whole:
        auditing.audit_all(game, _key(key), state)
        return
    found = _bytes_of(game, data)
    if is_proof(found):
        _audit_proof(found, _key(key))
        return
    findings = audit_file(found)
    _print(findings)
    if not findings.passed:
        raise typer.Exit(1)
    if not findings.over:
        raise typer.Exit(3)


def _key(text: str | None) -> VerifierKey | None:
    try:
        return VerifierKey.parse(text) if text is not None else None
    except BadKey as error:
        fail(str(error))


def _audit_proof(data: bytes, key: VerifierKey | None) -> None:
    proven = check_proof(data, key)
    if proven.failure is not None:
        out.print(f"FAILED: {proven.failure}", style="bold red", markup=False)
        raise typer.Exit(1)
    _print(proven.findings, NOT_PROVED_BY_LEDGER)
    out.print(f"\nUnder a checkpoint of {proven.size} leaves, signed by\n  {proven.key}", markup=False)
    if key is None:
        out.print("Compare this key with the one you know: --key does.")
    if not proven.passed:
        raise typer.Exit(1)


@command.command()
def proof(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A finished game's id (32 hex digits).")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; else standard output.")] = None,
    data: Data = None,
) -> None:
    """Write one file that shows a finished game and that it is in the signed ledger; `audit` checks it offline."""
    try:
        written = asyncio.run(make_proof(chosen(data), game))
    except (*FAULTS, NoProof, BadKeys) as error:
        fail(str(error))
    if output is None:
        sys.stdout.buffer.write(written)
        return
    try:
        output.write_bytes(written)
    except OSError as error:
        fail(str(error))


@command.command()
def refill(data: Data = None) -> None:
    """Bring the store back to what was signed, from the archive, after a loss or an older backup. Stop the server."""
    given = chosen(data)

    async def run() -> Refilled:
        kept = archive(given.archive)
        key = await public_key(given, kept)
        signed = await last_signed(kept, key, given.keys)
        async with stores_to_refill(given) as opened:
            with Progress(*BAR, console=err, transient=True) as bar:
                task = bar.add_task("leaves", total=signed.size)

                def progress(done: int) -> None:
                    bar.update(task, completed=done)

                return await refilled(opened.log, opened.ledger, kept, signed, progress)

    try:
        given.data.mkdir(parents=True, exist_ok=True)
        done = asyncio.run(run())
    except (*FAULTS, Unknown, Unrefillable, BadKeys, BaseError) as error:
        fail(str(error))
    out.print(f"The ledger has the {done.leaves} leaves that were signed; {done.games} games got events back.")
    for forked in done.forked:
        out.print(f"Game {forked.hex()} went another way in this store: it is left as it is.", style="bold red")


@command.command()
def rebuild(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME…]", help=f"{', '.join(rebuilding.NAMES)}; none: all.")
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Take the rebuilt one whatever the live one holds, up to what is signed now."),
    ] = False,
    back: Annotated[
        bool, typer.Option("--back", help="Instead go back to the one that the last rebuild replaced.")
    ] = False,
    data: Data = None,
) -> None:
    """Fold records, boards and histories anew from the signed ledger; they take over from the live ones if they agree.

    A server may run meanwhile. Exit code 1: one of them couldn't be rebuilt, and stands as it was."""
    given = chosen(data)
    for name in names or ():
        if name not in rebuilding.NAMES:
            fail(f"there is no projection {name}, but {', '.join(rebuilding.NAMES)}")
    if force and back:
        fail("--force and --back exclude each other")

    async def run() -> bool:
        async with stores_to_read(given) as opened:
            key = await public_key(given, archive(given.archive))
            signed = SignedPrefix(opened.ledger, noted_size(given.keys, key))
            return await rebuilding.run(given.boards, signed, names or rebuilding.NAMES, force, back, out)

    try:
        well = asyncio.run(run())
    except (*FAULTS, BadKeys, BaseError, sqlite3.DatabaseError) as error:
        fail(str(error))
    if not well:
        raise typer.Exit(1)


def _print(findings: Findings, not_proved: Sequence[str] = NOT_PROVED) -> None:
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
    for what in not_proved:
        out.print(f"  - {what}", markup=False)


class View(StrEnum):
    """Whose hands a replay tells."""

    ZERO = "0"
    ONE = "1"
    PUBLIC = "public"
    OPEN = "open"


SEATS_OF: Mapping[View, Seats] = {View.ZERO: (0,), View.ONE: (1,), View.PUBLIC: (), View.OPEN: (0, 1)}


@command.command()
def replay(
    game: Game,
    pace: Annotated[float, typer.Option(min=0, help="Seconds between events; 0 shows all at once.")] = 0.6,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Keep the recorded times instead; long pauses are shortened.")
    ] = False,
    speed: Annotated[float, typer.Option(min=0.01, help="Times faster.")] = 1.0,
    seek: Annotated[int, typer.Option(min=0, help="Begin at this event.")] = 0,
    view: Annotated[View, typer.Option("--as", help="Whose hands are told, of a game that is over.")] = View.OPEN,
    data: Data = None,
) -> None:
    """Tell a game again in the terminal.

    Keys: space pauses, arrows step, with shift by battle, Home and End, + and - change the speed, q ends."""
    try:
        game_: Saved = saved.load(_bytes_of(game, data))
        recording = Recording(game_.game, game_.events)
        with pressed() as keys:
            how = Pace(pace, recorded, speed)
            retell(recording, seek, SEATS_OF[view], how, keys, lambda line: out.print(line, markup=False))
    except (NotSaved, Undecodable, AssertionError) as error:
        fail(f"this game can't be told: {error}; audit says where it is broken", 1)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


# ---------------------------------------------------------------- doctor


@command.command()
def doctor(
    url: Annotated[str, typer.Argument(metavar="URL", help="redis://…, redis+sentinel://…/NAME, redis+cluster://…")],
    promise: Annotated[
        str,
        typer.Option("--durability", help="What is to be promised: memory, fsync, replicated N, replicated N fsync."),
    ] = "fsync",
) -> None:
    """Look at a Redis with the eyes of a server about to start: what it could promise, and what to change."""
    from server.doctor import run

    try:
        code = asyncio.run(run(address(url), durability(promise)))
    except (BadAddress, BadDurability) as error:
        fail(str(error))
    raise typer.Exit(code)


# ---------------------------------------------------------------- simulate


@command.command()
def simulate(
    rules: Annotated[str, typer.Argument(metavar="RULES", help="As in classic or classic/1.")],
    deals: Annotated[int | None, typer.Option(min=1, help="How many deals, by the product's own dealing.")] = None,
    first: Annotated[int, typer.Option("--from", min=0, max=2**63, help="With --deals: the first one's number.")] = 0,
    seeds: Annotated[str | None, typer.Option(metavar="A-B", help="Open deals instead, from seed A to seed B.")] = None,
    down: Annotated[int | None, typer.Option(help="Face-down cards of a war: 3 or 1.")] = None,
    length: Annotated[str | None, typer.Option(help="full or short.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Draw the lengths as a histogram.")] = None,
) -> None:
    """Play many games at once and say how long they took and how they ended."""
    given = {name: value for name, value in (("down", down), ("length", length)) if value is not None}
    if plot is not None and plot.suffix != ".svg":
        fail(f"the plot is drawn as SVG: {plot} should end in .svg")
    try:
        what, summary = simulating.simulate(rules, deals, first, seeds, given, err)
        for line in simulating.lines(what, summary):
            out.print(line, markup=False)
        if plot is not None:
            simulating.plot(plot, what, summary)
    except (NoSimulation, OSError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


command.command("backup")(backup.command)
command.command("restore")(restore.command)
command.command("copy")(copying.command)
command.add_typer(keyring.command, name="keys")
command.command("import")(operating.import_)
command.command("bar")(operating.bar)
command.command("hide-name")(operating.hide_name)
command.command("erase")(operating.erase)


def main() -> None:
    command(prog_name="statecraft")


if __name__ == "__main__":
    main()
