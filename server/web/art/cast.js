// The stewards of the cards, in the order a draw indexes. Made by scripts/make_cast_js.py from rules/cast.py.

/** @typedef {Readonly<{slug: string, name: string, line: string}>} Steward */

/** @type {readonly Steward[]} */
export const cast = [
  {"slug": "opal-winterbourne", "name": "Opal Winterbourne", "line": "Files the cards by weather, and always knows which drawer is raining."},
  {"slug": "barnaby-quill", "name": "Barnaby Quill", "line": "Keeps the score in green ink and blots it with great ceremony."},
  {"slug": "ngozi-fairweather", "name": "Ngozi Fairweather", "line": "Hums while she deals; the better her hand, the slower the tune."},
  {"slug": "tomasz-bellwether", "name": "Tomasz Bellwether", "line": "Walks to work through eleven counties, or so he says."},
  {"slug": "marisol-tack", "name": "Marisol Tack", "line": "Once sailed a card table across a lake. Lost only the sandwiches."},
  {"slug": "dev-halfpenny", "name": "Dev Halfpenny", "line": "Can name the capital of anywhere, and the best pie within a mile of it."},
  {"slug": "hester-plumb", "name": "Hester Plumb", "line": "Hangs every map in the house dead level, then tilts her own hat."},
  {"slug": "amadou-larkspur", "name": "Amadou Larkspur", "line": "Grows tomatoes on the archive roof and settles his debts in them."},
  {"slug": "mei-thistlewood", "name": "Mei Thistlewood", "line": "Never raises her voice above a shuffle, and has never needed to."},
  {"slug": "rufus-oakum", "name": "Rufus Oakum", "line": "Kept a lighthouse for years; still blinks slowly at anyone nearly ashore."},
  {"slug": "pilar-inkwell", "name": "Pilar Inkwell", "line": "Signs for parcels with a small drawing of whoever brought them."},
  {"slug": "ezra-tumbleton", "name": "Ezra Tumbleton", "line": "Third-best juggler in the county, and the first to say so."},
  {"slug": "leonie-sparrow", "name": "Leonie Sparrow", "line": "Flew the mail until the mail politely asked to walk."},
  {"slug": "kaito-bramble", "name": "Kaito Bramble", "line": "Mends clocks, runs late, and considers the two unrelated."},
  {"slug": "clementine-rook", "name": "Clementine Rook", "line": "Plays chess with the cat, who has promised to keep quiet about it."},
  {"slug": "solomon-drizzle", "name": "Solomon Drizzle", "line": "Carries two umbrellas: one for himself, one for whoever forgot."},
];
