"""Writes the fifty states as the web client's server/web/art/states.js: python -m scripts.make_states_js"""

import json
from pathlib import Path

from rules.states import STATES

OUT = Path(__file__).resolve().parent.parent / "server" / "web" / "art" / "states.js"
HEAD = """\
// The fifty states in order of statehood: states[number - 1]. Made by scripts/make_states_js.py from rules/states.py.

/** @typedef {Readonly<{number: number, name: string, postal: string, statehood: string}>} State */

/** @type {readonly State[]} */
export const states = [
"""


def states_js() -> str:
    rows = (json.dumps(state._asdict(), ensure_ascii=False) for state in STATES)
    return HEAD + "".join(f"  {row},\n" for row in rows) + "];\n"


if __name__ == "__main__":
    OUT.write_text(states_js(), encoding="utf-8")
