// The stewards' portraits: who wears what. The drawer of parts is parts.js; this is the only place that picks from it.

import { beards, brows, extras, eyes, field, hairAbove, hairBehind, hats, head, mouths, neck, palette as p, rim, shoulders, throats } from "./parts.js";

/**
 * @typedef {object} Look
 * @property {string} ground the field behind the head
 * @property {string} skin
 * @property {string} hair
 * @property {string} coat
 * @property {string} trim what the collar or tie is made of
 * @property {string} [felt] what the hat is made of
 * @property {"oval" | "round" | "long" | "square"} head
 * @property {keyof typeof eyes} eyes
 * @property {"level" | "arched" | "bushy" | "wry"} brows
 * @property {keyof typeof mouths} mouth
 * @property {string} throat
 * @property {string} [behind]
 * @property {string} [above]
 * @property {string} [beard]
 * @property {string} [hat]
 * @property {string[]} [extras]
 */

/** @type {Readonly<Record<string, Look>>} */
const looks = {
  "opal-winterbourne": { ground: p.dusk, skin: "#f0d3b8", hair: "#efe9de", coat: p.forest, trim: p.oxblood, head: "oval", eyes: "open", brows: "arched", mouth: "smile", throat: "brooch", above: "bun", extras: ["spectacles"] },
  "barnaby-quill": { ground: p.sand, skin: "#ecc4a2", hair: "#6b3f27", coat: p.navy, trim: p.mustard, felt: "#3b322c", head: "round", eyes: "open", brows: "bushy", mouth: "small", throat: "bow", above: "sides", beard: "handlebar", hat: "bowler", extras: ["quill"] },
  "ngozi-fairweather": { ground: p.sage, skin: "#85523a", hair: "#231c1a", coat: p.clay, trim: p.gilt, felt: p.oxblood, head: "oval", eyes: "merry", brows: "arched", mouth: "grin", throat: "beads", hat: "wrap", extras: ["hoops"] },
  "tomasz-bellwether": { ground: p.dusk, skin: "#e9bf9c", hair: "#8d8378", coat: "#5a4a3a", trim: p.oxblood, felt: p.moss, head: "square", eyes: "open", brows: "bushy", mouth: "smile", throat: "scarf", above: "sides", beard: "short", hat: "cap" },
  "marisol-tack": { ground: p.sand, skin: "#c58d63", hair: "#2c201b", coat: p.navy, trim: "#1b2a3f", head: "oval", eyes: "lashes", brows: "wry", mouth: "wry", throat: "naval", behind: "waves", hat: "captain" },
  "dev-halfpenny": { ground: p.rose, skin: "#a8714a", hair: "#1f1a1a", coat: p.parchment, trim: p.forest, head: "square", eyes: "open", brows: "level", mouth: "grin", throat: "waistcoat", above: "parted", extras: ["square"] },
  "hester-plumb": { ground: p.sage, skin: "#f2d6bf", hair: "#2a2325", coat: p.plum, trim: p.gilt, felt: p.plum, head: "oval", eyes: "lashes", brows: "arched", mouth: "lips", throat: "brooch", behind: "bob", hat: "plumed" },
  "amadou-larkspur": { ground: p.dusk, skin: "#74492f", hair: "#cfc8bc", coat: p.moss, trim: p.oxblood, head: "long", eyes: "merry", brows: "level", mouth: "smile", throat: "smock", above: "sides", beard: "short", hat: "straw", extras: ["tomato"] },
  "mei-thistlewood": { ground: p.rose, skin: "#edc9a3", hair: "#1e1b20", coat: p.forest, trim: p.gilt, head: "oval", eyes: "merry", brows: "level", mouth: "smile", throat: "bow", behind: "bob", above: "fringe" },
  "rufus-oakum": { ground: p.sage, skin: "#f0c7a6", hair: "#a3522b", coat: p.slate, trim: p.slate, felt: p.navy, head: "square", eyes: "sleepy", brows: "bushy", mouth: "smile", throat: "knit", beard: "full", hat: "watch" },
  "pilar-inkwell": { ground: p.sand, skin: "#d9a679", hair: "#5b3423", coat: p.slate, trim: p.cream, head: "round", eyes: "lashes", brows: "level", mouth: "smile", throat: "smock", above: "bun", extras: ["pencil", "drops"] },
  "ezra-tumbleton": { ground: p.dusk, skin: "#e8b990", hair: "#b8682f", coat: p.mustard, trim: p.oxblood, head: "oval", eyes: "open", brows: "wry", mouth: "grin", throat: "ruff", above: "curls", extras: ["freckles"] },
  "leonie-sparrow": { ground: p.sage, skin: "#f3d2b5", hair: "#c9974f", coat: "#6a4a30", trim: p.cream, felt: "#7a5233", head: "oval", eyes: "open", brows: "level", mouth: "grin", throat: "flying", hat: "flyer", extras: ["freckles"] },
  "kaito-bramble": { ground: p.sand, skin: "#e6bd93", hair: "#26211f", coat: p.forest, trim: p.oxblood, head: "square", eyes: "open", brows: "level", mouth: "smile", throat: "cravat", above: "swept", extras: ["loupe"] },
  "clementine-rook": { ground: p.rose, skin: "#7c4e37", hair: "#c9c1b6", coat: p.navy, trim: p.cream, head: "round", eyes: "open", brows: "arched", mouth: "smile", throat: "beads", behind: "cloud", above: "cloudLine", extras: ["halfmoons", "drops"] },
  "solomon-drizzle": { ground: p.dusk, skin: "#eccbb0", hair: "#54483f", coat: "#4a4247", trim: p.slate, felt: p.ink, head: "long", eyes: "sleepy", brows: "wry", mouth: "smile", throat: "cravat", above: "sides", beard: "whiskers", hat: "top" },
};

/**
 * The portrait of a steward as SVG markup, 96 × 96, hidden from screen readers: the name stands beside it.
 * @param {string} slug one of cast.js
 * @returns {string}
 */
export function portrait(slug) {
  const look = looks[slug];
  if (!look) throw new RangeError(`no steward is called ${slug}`);
  const worn = { ...look, trim: look.felt ?? look.trim };
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" aria-hidden="true" focusable="false">' +
    field(look.ground) +
    (look.behind ? hairBehind[look.behind](look) : "") +
    shoulders(look) +
    neck(look) +
    throats[look.throat](look) +
    head(look.head, look.skin) +
    (look.beard ? beards[look.beard](look) : "") +
    mouths[look.mouth] +
    eyes[look.eyes] +
    brows(look.hair, look.brows) +
    (look.above ? hairAbove[look.above](look) : "") +
    (look.hat ? hats[look.hat](worn) : "") +
    (look.extras ?? []).map((name) => extras[name](look)).join("") +
    rim +
    "</svg>"
  );
}
