"""The page's style: what one game has can't reach into another's table."""

import re
from pathlib import Path

import pytest

VIEWS = Path(__file__).resolve().parent.parent / "server" / "web" / "views"
OWN = {"fifty_states.css": ".game-states", "war.css": ".game-war"}


def top_level(text: str) -> list[str]:
    """What stands before each outermost brace."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"[^"]*"', '""', text)
    heads, depth, begun = [], 0, 0
    for at, character in enumerate(text):
        if character == "{":
            if depth == 0:
                heads.append(text[begun:at].strip())
            depth += 1
        elif character == "}":
            depth -= 1
            begun = at + 1
    assert depth == 0
    assert text[begun:].strip() == ""
    return heads


@pytest.mark.parametrize("name", OWN)
def test_a_game_s_own_style_holds_inside_its_class_alone(name: str) -> None:
    assert top_level((VIEWS / name).read_text(encoding="utf-8")) == [OWN[name]]


def test_a_rule_outside_would_be_seen() -> None:
    assert top_level(".game-war { .a { color: red } @media print { .b { color: red } } } .c { color: red }") == [
        ".game-war",
        ".c",
    ]


def test_every_game_has_a_style_of_its_own_and_every_style_of_a_game_is_known() -> None:
    kinds = {
        kind
        for path in VIEWS.glob("*.js")
        for kind in re.findall(r'^  kind: "(game-[a-z]+)"', path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    }
    assert {f".{kind}" for kind in kinds} == set(OWN.values())
