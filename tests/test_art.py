"""What the page draws: generated files are as their sources make them, and every state and steward can be drawn."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from rules.cast import CAST
from rules.states import STATES
from scripts.make_cast_js import cast_js
from scripts.make_states_js import states_js
from tests.npm import TOP, node

ART = TOP / "server" / "web" / "art"
outlines_bytes_max = 120 * 1024


def test_states_js_is_what_the_rules_say() -> None:
    assert (ART / "states.js").read_bytes() == states_js().encode()


def test_cast_js_is_what_the_rules_say() -> None:
    assert (ART / "cast.js").read_bytes() == cast_js().encode()


def test_outlines_js_is_what_the_atlas_says(tmp_path: Path) -> None:
    drawn = tmp_path / "outlines.js"
    node("scripts/make_outlines.mjs", drawn)
    assert (ART / "outlines.js").read_bytes() == drawn.read_bytes()
    assert drawn.stat().st_size <= outlines_bytes_max


def module(path: str, expression: str) -> object:
    """The value of an expression over a module of the page, by way of JSON."""
    program = f'import * as it from "./server/web/art/{path}"; console.log(JSON.stringify({expression}));'
    return json.loads(node("--input-type=module", "--eval", program))


def test_the_page_reads_the_same_states_and_stewards() -> None:
    assert module("states.js", "it.states") == [state._asdict() for state in STATES]
    assert module("cast.js", "it.cast") == [steward._asdict() for steward in CAST]


def walk(path: str) -> list[list[tuple[float, float]]]:
    """The rings of an outline: each subpath is an absolute start, relative steps and a close."""
    rings = []
    assert re.fullmatch(r"(M[\d.,-]+l[\d., -]+z)+", path)
    for start, steps in re.findall(r"M([^l]+)l([^z]+)z", path):
        numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d)?", f"{start} {steps}")]
        x, y = numbers[:2]
        ring = [(x, y)]
        for dx, dy in zip(numbers[2::2], numbers[3::2], strict=True):
            x, y = x + dx, y + dy
            ring.append((x, y))
        rings.append(ring)
    return rings


@pytest.fixture(scope="module")
def outlines() -> dict[str, dict[str, str]]:
    found = module("outlines.js", "it.outlines")
    assert isinstance(found, dict)
    return found


def test_every_state_has_an_outline_and_nothing_else_has(outlines: dict[str, dict[str, str]]) -> None:
    assert list(outlines) == [state.postal for state in STATES]


def test_an_outline_fills_its_box_and_stays_inside(outlines: dict[str, dict[str, str]]) -> None:
    for postal, outline in outlines.items():
        left, top, width, height = map(float, outline["box"].split())
        assert (left, top, max(width, height)) == (0, 0, 100), postal
        points = [point for ring in walk(outline["path"]) for point in ring]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        # Thinning may take the outermost point of a coast, so a box may be a little roomy, never tight.
        assert 0.9 <= min(xs) <= 3, postal
        assert 0.9 <= min(ys) <= 3, postal
        assert width - 3 <= max(xs) <= width - 0.8, postal
        assert height - 3 <= max(ys) <= height - 0.8, postal


def test_the_states_with_famous_islands_keep_them(outlines: dict[str, dict[str, str]]) -> None:
    rings = {postal: len(walk(outline["path"])) for postal, outline in outlines.items()}
    assert rings["HI"] == 8  # Hawaiʻi, Maui, Oʻahu, Kauaʻi, Molokaʻi, Lānaʻi, Niʻihau, Kahoʻolawe
    assert rings["MI"] >= 2
    assert rings["AK"] >= 30
    assert rings["CO"] == rings["WY"] == rings["UT"] == 1


def test_alaska_is_not_torn_at_the_180th_meridian(outlines: dict[str, dict[str, str]]) -> None:
    left, _, width, height = map(float, outlines["AK"]["box"].split())
    assert 1.4 <= width / height <= 2.2  # wrapped round the globe it would be far wider
    attu = min(x for ring in walk(outlines["AK"]["path"]) for x, _ in ring)
    assert attu - left < 2


@pytest.fixture(scope="module")
def portraits() -> dict[str, str]:
    slugs = json.dumps([steward.slug for steward in CAST])
    found = module("portraits.js", f"Object.fromEntries({slugs}.map((slug) => [slug, it.portrait(slug)]))")
    assert isinstance(found, dict)
    return found


def test_every_steward_has_a_portrait_of_their_own(portraits: dict[str, str]) -> None:
    assert len(set(portraits.values())) == len(CAST)
    for slug, markup in portraits.items():
        root = ET.fromstring(markup)
        assert root.get("viewBox") == "0 0 96 96"
        assert root.get("aria-hidden") == "true"
        assert "undefined" not in markup, slug
        assert "NaN" not in markup, slug


def test_a_portrait_can_stand_twice_on_a_page_with_a_strict_policy(portraits: dict[str, str]) -> None:
    for markup in portraits.values():
        for element in ET.fromstring(markup).iter():
            assert not {"id", "style", "class", "href"} & set(element.attrib)
            assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in {"svg", "g", "path", "circle"}


def test_a_stranger_has_no_portrait() -> None:
    program = (
        'import { portrait } from "./server/web/art/portraits.js";'
        'try { portrait("nobody"); } catch (error) { console.log(error.name); }'
    )
    assert node("--input-type=module", "--eval", program).strip() == "RangeError"


def test_every_part_in_the_drawer_is_worn_by_somebody() -> None:
    drawers = ["hairBehind", "hairAbove", "beards", "throats", "hats", "extras", "eyes", "mouths"]
    parts = module("parts.js", f"{json.dumps(drawers)}.flatMap((drawer) => Object.keys(it[drawer]))")
    assert isinstance(parts, list)
    looks = (ART / "portraits.js").read_text(encoding="utf-8")
    assert [part for part in parts if f'"{part}"' not in looks] == []
