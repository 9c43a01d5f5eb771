"""What every test may use."""

from pathlib import Path

import pytest

VECTORS = Path(__file__).parent / "vectors"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--vectors", default=str(VECTORS), metavar="DIR", help="run the vector tests over this folder")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # A folder of vectors may lack a file; its tests are then none, not skipped ones.
    def has_values(item: pytest.Item) -> bool:
        return not any(mark.name == "skip" and "empty parameter set" in str(mark.kwargs) for mark in item.own_markers)

    items[:] = [item for item in items if "vector" not in item.name or has_values(item)]
