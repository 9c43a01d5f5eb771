"""What every command says things with: two consoles, a progress bar, a way to fail, and the settings in force."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from server.settings import BadSetting, Settings, settings

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)
BAR = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
Data = Annotated[Path | None, typer.Option("--data", help="Directory of the log. Default: STATECRAFT_DATA or ./data.")]


def fail(why: str, code: int = 2) -> NoReturn:
    err.print(why, style="bold red", markup=False)
    raise typer.Exit(code)


def chosen(data: Path | None) -> Settings:
    """The settings, with the directory that a command was given."""
    try:
        given = settings()
    except BadSetting as error:
        fail(str(error))
    return given if data is None else replace(given, data=data)
