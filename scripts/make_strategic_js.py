"""Writes the Strategic policy as the verifier's server/web/verify/strategic.js: python -m scripts.make_strategic_js"""

from pathlib import Path

from rules.strategic import TEXT

OUT = Path(__file__).resolve().parent.parent / "server" / "web" / "verify" / "strategic.js"
HEAD = """\
// The policy of Strategic, the same text as strategic.txt, so that a check needs no network. Made by
// scripts/make_strategic_js.py from rules/strategic_table.py.
export const strategicTable = `\\
"""


def strategic_js() -> str:
    assert not set("`$\\") & set(TEXT), "these mean something in a JavaScript template"
    return HEAD + TEXT + "`;\n"


if __name__ == "__main__":
    OUT.write_text(strategic_js(), encoding="utf-8")
