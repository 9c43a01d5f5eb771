"""What every test may use."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

    from tests.running import Server

# How long an example takes says something of the machine, and nothing of the law.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")

VECTORS = Path(__file__).parent / "vectors"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vectors", default=str(VECTORS), metavar="DIR", help="run the vector tests over this folder")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def browser(anyio_backend: str) -> AsyncIterator["Browser"]:
    # What drives it is loaded where it is needed only.
    from tests.browser import chromium

    async with chromium() as browser:
        yield browser


@pytest.fixture
async def context(browser: "Browser", server: "Server") -> AsyncIterator["BrowserContext"]:
    """A browser of somebody's own at the module's own server."""
    from tests.browser import visiting

    async with visiting(browser, server) as context:
        yield context


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # A folder of vectors may lack a file; its tests are then none, not skipped ones.
    def has_values(item: pytest.Item) -> bool:
        return not any(mark.name == "skip" and "empty parameter set" in str(mark.kwargs) for mark in item.own_markers)

    items[:] = _spread([item for item in items if "vector" not in item.name or has_values(item)])


def _spread(items: list[pytest.Item]) -> list[pytest.Item]:
    """Modules with a browser in them take long, and stand apart: not all workers drive one at once, none at the end."""
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    driven = [path for path, own in modules.items() if any(item.get_closest_marker("browser") for item in own)]
    others = [path for path in modules if path not in driven]
    apart = len(others) // (len(driven) + 1)
    for at, path in enumerate(driven):
        others.insert(at * (apart + 1), path)
    return [item for path in others for item in modules[path]]
