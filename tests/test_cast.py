"""The cast: slugs and their order are stored in logs, so a change here must fail loudly."""

import re

from rules.cast import CAST


def test_the_order_of_the_stewards_is_a_promise() -> None:
    assert [steward.slug for steward in CAST] == [
        "opal-winterbourne",
        "barnaby-quill",
        "ngozi-fairweather",
        "tomasz-bellwether",
        "marisol-tack",
        "dev-halfpenny",
        "hester-plumb",
        "amadou-larkspur",
        "mei-thistlewood",
        "rufus-oakum",
        "pilar-inkwell",
        "ezra-tumbleton",
        "leonie-sparrow",
        "kaito-bramble",
        "clementine-rook",
        "solomon-drizzle",
    ]


def test_a_slug_is_ascii_kebab_case() -> None:
    for steward in CAST:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", steward.slug), steward.slug


def test_no_two_stewards_share_a_name_or_a_line() -> None:
    assert len({steward.name for steward in CAST}) == 16
    assert len({steward.line for steward in CAST}) == 16


def test_a_line_is_one_sentence_or_two_and_fits_beside_the_portrait() -> None:
    for steward in CAST:
        assert 20 <= len(steward.line) <= 90, steward.name
        assert steward.line.endswith("."), steward.name
        assert steward.line == steward.line.strip()
