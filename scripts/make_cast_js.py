"""Writes the stewards as the web client's server/web/art/cast.js: python -m scripts.make_cast_js"""

import json
from pathlib import Path

from rules.cast import CAST

OUT = Path(__file__).resolve().parent.parent / "server" / "web" / "art" / "cast.js"
HEAD = """\
// The stewards of the cards, in the order a draw indexes. Made by scripts/make_cast_js.py from rules/cast.py.

/** @typedef {Readonly<{slug: string, name: string, line: string}>} Steward */

/** @type {readonly Steward[]} */
export const cast = [
"""


def cast_js() -> str:
    rows = (json.dumps(steward._asdict(), ensure_ascii=False) for steward in CAST)
    return HEAD + "".join(f"  {row},\n" for row in rows) + "];\n"


if __name__ == "__main__":
    OUT.write_text(cast_js(), encoding="utf-8")
