"""Which names a player may choose, and when two of them look alike. The one place that knows; it stores nothing."""

import unicodedata
from collections.abc import Mapping
from functools import cache

from rules.cast import CAST

LETTERS_MIN = 2
LETTERS_MAX = 20
"""Of what a reader sees: marks stand on the letter before them and aren't counted."""
MARKS_MAX = 2
"""On one letter."""
ERASED = "erased player"
"""Shown for somebody who had everything erased."""
RESERVED = (ERASED, "guest", "player", "house", "computer", "statecraft", "admin", "moderator", "operator", "staff")

_UNSEEN = (0x034F, *range(0x115F, 0x1161), *range(0x17B4, 0x17B6), *range(0x180B, 0x1810), 0x3164, 0xFFA0)
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
"""Letters and marks that show nothing (Unicode's Default_Ignorable_Code_Point)."""
_BETWEEN = " -'._"
"""May stand between letters and digits."""
_LIKE = str.maketrans({"i": "l", "1": "l", "|": "l", "0": "o"})


class BadName(Exception):
    """Why it can't be chosen, in words for the player."""


def normal(text: str) -> str:
    """The name as it is kept: Unicode's NFKC, single spaces, none at the ends. Raises BadName."""
    for character in text:
        unseen = ord(character) in _UNSEEN or any(ord(character) in each for each in _SELECTORS)
        if unseen or unicodedata.category(character)[0] == "C" or character in "\u2028\u2029":
            raise BadName("A name has no invisible characters.")
    name = " ".join(unicodedata.normalize("NFKC", text).split())
    letters = marks = 0
    last = ""
    for character in name:
        kind = unicodedata.category(character)
        if kind[0] == "M":
            marks += 1
            if not letters or last in _BETWEEN or marks > MARKS_MAX:
                raise BadName("A name has at most two marks on a letter.")
            continue
        if kind[0] != "L" and kind != "Nd" and character not in _BETWEEN:
            raise BadName(f"A name has letters, digits, spaces and - ' . _ between them, and no {character}.")
        if character in _BETWEEN and (not last or last in _BETWEEN) and (last, character) != (".", " "):
            raise BadName("Each of space - ' . _ stands between letters or digits.")
        letters, marks, last = letters + 1, 0, character
    if not LETTERS_MIN <= letters <= LETTERS_MAX:
        raise BadName(f"A name has {LETTERS_MIN} to {LETTERS_MAX} characters.")
    if last in "-'_":
        raise BadName("Each of space - ' . _ stands between letters or digits.")
    if skeleton(name) in _reserved():
        raise BadName("This name is kept for somebody else.")
    return name


def skeleton(name: str) -> str:
    """What a name looks like: two with the same skeleton are taken for one another (after UTS 39 section 4).

    Upper and lower case, i l 1 and |, o and 0 are alike, and what stands between letters makes no difference."""
    looks = _looks(unicodedata.normalize("NFD", name))
    folded = _looks(unicodedata.normalize("NFD", looks.casefold())).casefold()
    return "".join(character for character in folded.translate(_LIKE) if character not in _BETWEEN)


def _looks(text: str) -> str:
    prototypes = _prototypes()
    return "".join([prototypes.get(character, character) for character in text])


@cache
def _reserved() -> frozenset[str]:
    return frozenset(map(skeleton, (*RESERVED, *(steward.name for steward in CAST))))


@cache
def _prototypes() -> Mapping[str, str]:
    """Each character that looks like another, to the one text that stands for all of its kind."""
    # Only here: its tables are read when it is imported.
    from confusable_homoglyphs.confusables import confusables_data  # type: ignore[import-untyped]

    parents: dict[str, str] = {}

    def first(text: str) -> str:
        while (parent := parents.setdefault(text, text)) != text:
            text = parent
        return text

    for text, alike in confusables_data.items():
        for other in alike:
            # The table keeps right-to-left characters between marks.
            one, two = first(text.strip("\u200e")), first(other["c"].strip("\u200e"))
            if one != two:
                parents[max(one, two)] = min(one, two)
    texts = list(parents)
    longer = {first(text): text for text in sorted(texts, key=lambda text: (-len(text), text)) if len(text) > 1}
    return {
        text: "".join(first(part) for part in longer[first(text)]) if first(text) in longer else first(text)
        for text in texts
        if len(text) == 1
    }
