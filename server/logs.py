"""How this process says what happened: for people in a terminal, as JSON lines elsewhere. Nothing else sets up logging.

Never the values of variables: a stack trace with them would tell keys and hands.
"""

import logging
import logging.config
import sys
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any

import structlog
from structlog.types import Processor

asking: ContextVar[tuple[str, str]] = ContextVar("asking", default=("", ""))
"""Game and command that the running task acts for, each empty where there is none."""


def _whose(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    game, command = asking.get()
    if game:
        event.setdefault("game", game)
    if command:
        event.setdefault("command", command)
    return event


def _one_text(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """`format_exception` gives lines."""
    if isinstance(why := event.get("why"), list):
        event["why"] = "".join(why)
    return event


def set_up() -> None:
    """Ours go to standard output, the web server's own to standard error."""
    shared: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _whose,
        _one_text,
    ]
    structlog.configure(
        processors=[*shared, _renderer(sys.stdout.isatty())],
        logger_factory=structlog.PrintLoggerFactory(sys.stdout),
        cache_logger_on_first_use=True,
    )
    plain: list[Processor] = [structlog.processors.format_exc_info]
    foreign = {
        "()": structlog.stdlib.ProcessorFormatter,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *plain,
            _renderer(sys.stderr.isatty()),
        ],
        "foreign_pre_chain": shared,
    }
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"ours": foreign},
            "handlers": {"err": {"class": "logging.StreamHandler", "formatter": "ours", "stream": "ext://sys.stderr"}},
            "loggers": {"uvicorn": {"handlers": ["err"], "level": "WARNING", "propagate": False}},
        }
    )


def _renderer(terminal: bool) -> Processor:
    if terminal:
        return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    return structlog.processors.JSONRenderer()
