"""The plots of game lengths on the page are what the rules give today."""

import pytest

from scripts.make_lengths import GAMES, lengths, path


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.thorough
def test_a_plot_on_the_page_is_the_one_the_rules_give(name: str) -> None:
    assert path(name).read_text() == lengths(name)
