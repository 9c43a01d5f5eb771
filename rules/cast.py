"""The sixteen stewards of the cards, all invented. The only place that knows the house's rivals by name."""

from typing import NamedTuple


class Steward(NamedTuple):
    slug: str  # ascii kebab-case; stored in logs, so it never changes and is never reused
    name: str
    line: str  # at most 90 characters, shown beside the portrait


# The order is a promise as well: a seeded draw indexes this tuple, and an audit years from now must draw the same
# rival. Names and lines may be polished; nobody moves, leaves or joins without a new rules version.
CAST: tuple[Steward, ...] = (
    Steward(
        "opal-winterbourne",
        "Opal Winterbourne",
        "Files the cards by weather, and always knows which drawer is raining.",
    ),
    Steward(
        "barnaby-quill",
        "Barnaby Quill",
        "Keeps the score in green ink and blots it with great ceremony.",
    ),
    Steward(
        "ngozi-fairweather",
        "Ngozi Fairweather",
        "Hums while she deals; the better her hand, the slower the tune.",
    ),
    Steward(
        "tomasz-bellwether",
        "Tomasz Bellwether",
        "Walks to work through eleven counties, or so he says.",
    ),
    Steward(
        "marisol-tack",
        "Marisol Tack",
        "Once sailed a card table across a lake. Lost only the sandwiches.",
    ),
    Steward(
        "dev-halfpenny",
        "Dev Halfpenny",
        "Can name the capital of anywhere, and the best pie within a mile of it.",
    ),
    Steward(
        "hester-plumb",
        "Hester Plumb",
        "Hangs every map in the house dead level, then tilts her own hat.",
    ),
    Steward(
        "amadou-larkspur",
        "Amadou Larkspur",
        "Grows tomatoes on the archive roof and settles his debts in them.",
    ),
    Steward(
        "mei-thistlewood",
        "Mei Thistlewood",
        "Never raises her voice above a shuffle, and has never needed to.",
    ),
    Steward(
        "rufus-oakum",
        "Rufus Oakum",
        "Kept a lighthouse for years; still blinks slowly at anyone nearly ashore.",
    ),
    Steward(
        "pilar-inkwell",
        "Pilar Inkwell",
        "Signs for parcels with a small drawing of whoever brought them.",
    ),
    Steward(
        "ezra-tumbleton",
        "Ezra Tumbleton",
        "Third-best juggler in the county, and the first to say so.",
    ),
    Steward(
        "leonie-sparrow",
        "Leonie Sparrow",
        "Flew the mail until the mail politely asked to walk.",
    ),
    Steward(
        "kaito-bramble",
        "Kaito Bramble",
        "Mends clocks, runs late, and considers the two unrelated.",
    ),
    Steward(
        "clementine-rook",
        "Clementine Rook",
        "Plays chess with the cat, who has promised to keep quiet about it.",
    ),
    Steward(
        "solomon-drizzle",
        "Solomon Drizzle",
        "Carries two umbrellas: one for himself, one for whoever forgot.",
    ),
)
