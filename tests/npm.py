"""The JavaScript side of the project with its locked packages installed. The only place in the tests that runs npm."""

import atexit
import json
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
install_seconds_max = 300
node_seconds_max = 60


def _versions(lock: Path) -> dict[str, str]:
    """Package path to version, of the packages that a platform must have."""
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    return {path: of["version"] for path, of in packages.items() if path and not of.get("optional")}


def _installed_as_locked() -> bool:
    installed = TOP / "node_modules" / ".package-lock.json"
    if not installed.exists():
        return False
    there = _versions(installed)
    return all(there.get(path) == version for path, version in _versions(TOP / "package-lock.json").items())


@cache
def checkout() -> Path:
    """A folder with package.json, scripts/, server/web/ and node_modules as locked: this one, or a copy made for it."""
    if _installed_as_locked():
        return TOP
    copy = Path(tempfile.mkdtemp(prefix="statecraft-npm-"))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(TOP / name, copy / name)
    shutil.copytree(TOP / "scripts", copy / "scripts")
    shutil.copytree(TOP / "server" / "web", copy / "server" / "web")
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    subprocess.run(install, cwd=copy, check=True, capture_output=True, timeout=install_seconds_max)
    return copy


def node(*arguments: str | Path) -> str:
    """Runs node in the checkout; its standard output. Raises CalledProcessError if it fails."""
    done = subprocess.run(
        ["node", *arguments], cwd=checkout(), check=True, capture_output=True, text=True, timeout=node_seconds_max
    )
    return done.stdout
