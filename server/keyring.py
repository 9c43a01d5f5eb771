"""`statecraft keys`: which keys there are, and a new one for new games."""

from datetime import UTC, datetime

import typer

from server.keys import BadKeys, has_keys, ledger_key, operator_keys, rotate
from server.signer import signer
from server.terminal import Data, chosen, fail, out

command = typer.Typer(help="List the keys, or make a new one.", invoke_without_command=True, add_completion=False)


@command.callback()
def list_(context: typer.Context, data: Data = None) -> None:
    """List the operator's keys by number, and the ledger's public key. Nothing secret is shown."""
    if context.invoked_subcommand is not None:
        return
    given = chosen(data)
    if not has_keys(given.keys):
        fail(f"there are no keys in {given.keys}; the first `serve` makes them")
    try:
        keys = operator_keys(given.keys)
        for number in sorted(keys):
            made = datetime.fromtimestamp((given.keys / f"operator-{number}.key").stat().st_mtime, UTC)
            what = "seals new games" if number == max(keys) else "for the games it sealed"
            out.print(f"operator key {number}, made {made:%Y-%m-%d}, {what}")
        if (given.keys / "ledger.key").exists():
            out.print(f"ledger key {signer(ledger_key(given.keys)).key}", markup=False)
    except (BadKeys, OSError) as error:
        fail(str(error))


@command.command("rotate")
def rotate_(data: Data = None) -> None:
    """Make the operator's next key. Servers seal new games with it from their next start; older games keep theirs."""
    given = chosen(data)
    try:
        number = rotate(given.keys)
    except (BadKeys, OSError) as error:
        fail(str(error))
    out.print(f"Operator key {number} is made. Back it up, give it to every server, then restart them one by one.")
