// The drawer of parts that the stewards' portraits are put together from: markup on a 96 × 96 medallion.
//
// Every part is plain SVG with presentation attributes only, no ids and no styles: a portrait may stand on a page
// twice, and a strict content policy has nothing to object to. Light falls from the left, so each right half is darker.

export const palette = Object.freeze({
  brass: "#b08d57", bronze: "#86673a", gilt: "#d6bb85", parchment: "#efe4cc", cream: "#f8f0df", ink: "#231e1b",
  oxblood: "#722f33", rose: "#b97f74", blush: "#a8433f", clay: "#a9633f", mustard: "#c4953a", plum: "#583c50",
  forest: "#33503f", moss: "#6d7f58", sage: "#a5b29b", navy: "#26374f", slate: "#56677a", dusk: "#a3b2bd",
  sand: "#d9c69d", straw: "#dcc07f",
});

/** @typedef {{skin: string, hair: string, coat: string, trim: string}} Colours */
/** @typedef {(colours: Colours) => string} Part */

const p = palette;
/** @param {string} d @param {string} fill @param {string} [more] */
const shape = (d, fill, more = "") => `<path d="${d}" fill="${fill}"${more && ` ${more}`}/>`;
/** @param {string} d @param {string} colour @param {number} width @param {string} [more] */
const line = (d, colour, width, more = "") =>
  `<path d="${d}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"${more && ` ${more}`}/>`;
/** @param {number} x @param {number} y @param {number} r @param {string} fill @param {string} [more] */
const dot = (x, y, r, fill, more = "") => `<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}"${more && ` ${more}`}/>`;
/** @param {string} d @param {number} [opacity] */
const shade = (d, opacity = 0.14) => shape(d, "#1d1210", `fill-opacity="${opacity}"`);
/** @param {string} d @param {number} [opacity] */
const light = (d, opacity = 0.16) => shape(d, "#fffaf0", `fill-opacity="${opacity}"`);

// ---- the medallion

/** @param {string} ground */
export const field = (ground) => dot(48, 48, 43, ground) + rays();

/** Rays behind the head, as an engraver would cut them. */
function rays() {
  let d = "";
  for (let i = 0; i < 16; i++) {
    const at = (/** @type {number} */ turn) => {
      const angle = (Math.PI * 2 * turn) / 16;
      return `${Math.round(480 + 430 * Math.sin(angle)) / 10} ${Math.round(460 - 410 * Math.cos(angle)) / 10}`;
    };
    d += `M48 46L${at(i - 0.22)}L${at(i + 0.22)}Z`;
  }
  return light(d, 0.17);
}

export const rim =
  `<circle cx="48" cy="48" r="44" fill="none" stroke="${p.brass}" stroke-width="5"/>` +
  `<circle cx="48" cy="48" r="44" fill="none" stroke="${p.gilt}" stroke-width="1.4" stroke-dasharray="0.1 3.356" stroke-linecap="round"/>` +
  `<circle cx="48" cy="48" r="46.9" fill="none" stroke="${p.bronze}" stroke-width="0.9"/>` +
  `<circle cx="48" cy="48" r="41.4" fill="none" stroke="${p.bronze}" stroke-width="0.9"/>`;

// ---- the bust

/** Shoulders that end where the medallion does: the lower edge is its circle. */
/** @type {Part} */
export const shoulders = ({ coat }) =>
  shape("M13.6 73.5C19 69.5 30 67.5 39 65.5H57C66 67.5 77 69.5 82.4 73.5A43 43 0 0 1 13.6 73.5Z", coat) +
  shade("M48 65.5H57C66 67.5 77 69.5 82.4 73.5A43 43 0 0 1 48 91Z", 0.16);

/** @type {Part} */
export const neck = ({ skin }) =>
  shape("M41.5 54H54.5V66C54.5 70 51 72.5 48 72.5S41.5 70 41.5 66Z", skin) +
  shade("M41.5 56H54.5V62C52 65 44 65 41.5 60.5Z", 0.2);

/** @type {Record<string, {outline: string, half: string}>} */
const heads = {
  oval: {
    outline: "M34.8 42C34.8 32 40 27 48 27S61.2 32 61.2 42C61.2 52.5 56 61.5 48 61.5S34.8 52.5 34.8 42Z",
    half: "M48 27C56 27 61.2 32 61.2 42C61.2 52.5 56 61.5 48 61.5",
  },
  round: {
    outline: "M33.4 43.5C33.4 33 39.5 28 48 28S62.6 33 62.6 43.5C62.6 54.5 56.5 61 48 61S33.4 54.5 33.4 43.5Z",
    half: "M48 28C56.5 28 62.6 33 62.6 43.5C62.6 54.5 56.5 61 48 61",
  },
  long: {
    outline: "M36 41C36 31 41 26 48 26S60 31 60 41C60 54 55.5 64 48 64S36 54 36 41Z",
    half: "M48 26C55 26 60 31 60 41C60 54 55.5 64 48 64",
  },
  square: {
    outline: "M34.6 41C34.6 31.5 40 27 48 27S61.4 31.5 61.4 41C61.4 49 60.6 53 58 57C55.6 60.8 52 61.8 48 61.8S40.4 60.8 38 57C35.4 53 34.6 49 34.6 41Z",
    half: "M48 27C56 27 61.4 31.5 61.4 41C61.4 49 60.6 53 58 57C55.6 60.8 52 61.8 48 61.8",
  },
};

/** A head with ears; the edge between light and shade draws the nose. @param {string} form @param {string} skin */
export function head(form, skin) {
  const { outline, half } = heads[form];
  return (
    dot(34.6, 45.5, 3.2, skin) + dot(61.4, 45.5, 3.2, skin) + dot(61.4, 45.5, 3.2, "#1d1210", 'fill-opacity="0.18"') +
    shape(outline, skin) +
    shade(`${half}V52.2C46.4 52.6 44.6 51.8 45 50.4L48 42Z`, 0.15) +
    dot(40.2, 51, 3, p.blush, 'fill-opacity="0.2"') + dot(56, 51, 3, p.blush, 'fill-opacity="0.2"')
  );
}

/** @type {Record<string, string>} */
export const eyes = {
  open: dot(42.2, 45, 1.55, p.ink) + dot(53.8, 45, 1.55, p.ink) + dot(42.7, 44.4, 0.5, p.cream) + dot(54.3, 44.4, 0.5, p.cream),
  merry: line("M40 45.6Q42.2 43.2 44.4 45.6M51.6 45.6Q53.8 43.2 56 45.6", p.ink, 1.3),
  sleepy: shape("M40.5 44.4H43.9A1.75 1.9 0 0 1 40.5 44.4ZM52.1 44.4H55.5A1.75 1.9 0 0 1 52.1 44.4Z", p.ink) + line("M39.4 45Q42.2 42.9 45 44.8M51 44.8Q53.8 42.9 56.6 45", p.ink, 1),
  lashes: dot(42.2, 45, 1.5, p.ink) + dot(53.8, 45, 1.5, p.ink) + line("M39.6 44.2Q42 42.4 44.4 44M51.6 44Q54 42.4 56.4 44.2M39.6 44.2L38.6 43.2M56.4 44.2L57.4 43.2", p.ink, 0.9),
};

/** @param {string} colour @param {"level" | "arched" | "bushy" | "wry"} form */
export function brows(colour, form) {
  const d = {
    level: "M39.2 40.6Q42 39.2 45 40.6M51 40.6Q54 39.2 56.8 40.6",
    arched: "M39 40.4Q42 37.4 45.2 39.8M50.8 39.8Q54 37.4 57 40.4",
    bushy: "M39 40.8Q42 38.6 45 40.4M51 40.4Q54 38.6 57 40.8",
    wry: "M39 40.8Q42 40 45 41M50.8 39Q54 36.6 57 39.2",
  };
  return line(d[form], colour, form === "bushy" ? 2.3 : 1.3);
}

/** @type {Record<string, string>} */
export const mouths = {
  smile: line("M43.6 55.4Q48 58.6 52.4 55.4", p.oxblood, 1.4),
  small: line("M45.4 56Q48 57.6 50.6 56", p.oxblood, 1.5),
  wry: line("M44.4 56.4Q48.5 57.6 52.2 54.8", p.oxblood, 1.4),
  grin: shape("M43 54.8H53C52.6 58 50.6 59.4 48 59.4S43.4 58 43 54.8Z", p.oxblood) + shape("M43.7 54.8H52.3C52.2 55.6 51.9 56.3 51.4 56.8H44.6C44.1 56.3 43.8 55.6 43.7 54.8Z", p.cream),
  lips: shape("M44.2 56C45.8 54.6 47 54.6 48 55.2C49 54.6 50.2 54.6 51.8 56C50.4 58 45.6 58 44.2 56Z", p.blush),
};

// ---- hair: what hangs behind the head, and what lies on it

/** @type {Record<string, Part>} */
export const hairBehind = {
  bob: ({ hair }) => shape("M31.5 42C30.5 28 39 22 48 22S65.5 28 64.5 42L66 60C62 63 57 63 55 62H41C39 63 34 63 30 60Z", hair) + shade("M48 22C57 22 65.5 28 64.5 42L66 60C62 63 57 63 55 62H48Z"),
  waves: ({ hair }) => shape("M32 38C30 26 39 21 48 21S66 26 64 38C68 43 66 48 67.5 53S66 62 68.5 67C64 73 57 71 55 66H41C39 71 32 73 27.5 67C30 62 27 58 28.5 53S28 43 32 38Z", hair) + shade("M48 21C57 21 66 26 64 38C68 43 66 48 67.5 53S66 62 68.5 67C64 73 57 71 55 66H48Z"),
  cloud: ({ hair }) => shape("M48 15C53 12 60 14 62.5 18.5C68 19 71 24.5 69.5 29.5C73 33 73 39 69.5 42.5C70.5 48 67 52.5 62 53H34C29 52.5 25.5 48 26.5 42.5C23 39 23 33 26.5 29.5C25 24.5 28 19 33.5 18.5C36 14 43 12 48 15Z", hair) + shade("M48 15C53 12 60 14 62.5 18.5C68 19 71 24.5 69.5 29.5C73 33 73 39 69.5 42.5C70.5 48 67 52.5 62 53H48Z"),
};

/** @type {Record<string, Part>} */
export const hairAbove = {
  bun: ({ hair }) => dot(48, 18.5, 7.5, hair) + line("M43 17Q48 13 52.5 17.5M43.5 20.5Q48 17 52 21", "#1d1210", 0.8, 'stroke-opacity="0.25"') + shape("M33.6 45C32 31 38 24 48 24S64 31 62.4 45C61.6 39 59 35 56 33C51 36 42 36 38 33.5C36 36 34.4 40 33.6 45Z", hair) + shade("M48 24C58 24 64 31 62.4 45C61.6 39 59 35 56 33C53.5 34.6 50.8 35.4 48 35.5Z"),
  parted: ({ hair }) => shape("M33.8 43C31.6 29 38 23.4 48.5 23C58.5 22.8 64.4 29 62.2 43C61.4 39.4 60.6 37 59 35.4C53 35.6 45 33.4 41.4 30C40 33.4 35.2 36 33.8 43Z", hair) + shade("M48.5 23C58.5 22.8 64.4 29 62.2 43C61.4 39.4 60.6 37 59 35.4C55.4 35.5 51.6 34.7 48.5 33.6Z"),
  swept: ({ hair }) => shape("M33.8 43C31 33 33.6 25.6 40 22.6C47 19.4 59 20.4 62 27C64.4 32 63.4 38 62.2 43C61.8 39.6 61 37 59.4 34.6C54 37 47 33.4 44 33.8C39 34.4 35 37 33.8 43Z", hair) + light("M38 28C43 23.6 51 23 56 25.6C50 24.8 43 26.4 38 28Z", 0.2) + shade("M50 20.9C56 21.4 60.6 23.6 62 27C64.4 32 63.4 38 62.2 43C61.8 39.6 61 37 59.4 34.6C56.4 36 53 35.4 50 34.8Z"),
  fringe: ({ hair }) => shape("M33.6 46C31.6 30 38 23.6 48 23.6S64.4 30 62.4 46C61.6 43 61 40.6 60.4 38.4H35.6C35 40.6 34.4 43 33.6 46Z", hair) + light("M37 32C40 27.6 45 26 50 26.4C45 28 41 29.6 37 32Z", 0.2) + shade("M48 23.6C58 23.6 64.4 30 62.4 46C61.6 43 61 40.6 60.4 38.4H48Z"),
  curls: ({ hair }) => shape("M34 43C30.6 42.6 29.6 38.6 31.8 36.6C29.2 34 30.4 29.6 33.8 29.2C33 25 37 22 40.4 23.6C42 19.6 47.4 19 49.6 22C52.4 19 57.6 20.2 58.4 24C62 23.6 64.6 27.2 63 30.4C66 31.6 66.4 36 63.8 37.8C65.4 40.2 64.4 43 62 43C61.8 40 60.8 37.4 58.6 36C56.4 37.8 53 37.4 51.6 35.2C49.4 37.4 45.4 37.2 44 34.8C42 37 38.6 37 37 35.6C35.4 37.6 34.4 40 34 43Z", hair) + line("M37 29Q39 26 42 28M46 27Q49 24 52 27M55 30Q58 28 60 31", "#1d1210", 0.9, 'stroke-opacity="0.28"') + shade("M49.6 22C52.4 19 57.6 20.2 58.4 24C62 23.6 64.6 27.2 63 30.4C66 31.6 66.4 36 63.8 37.8C65.4 40.2 64.4 43 62 43C61.8 40 60.8 37.4 58.6 36C56.4 37.8 53 37.4 51.6 35.2L49.6 36.4Z", 0.12),
  cloudLine: ({ hair }) => shape("M33.8 45C32.6 33 39 27 48 27S63.4 33 62.2 45C61.4 40 59.6 36.6 56.4 34.4C51 32.4 45 32.4 39.6 34.4C36.4 36.6 34.6 40 33.8 45Z", hair) + shade("M48 27C57 27 63.4 33 62.2 45C61.4 40 59.6 36.6 56.4 34.4C53.8 33.4 51 32.9 48 32.9Z"),
  sides: ({ hair }) => shape("M34.2 36C32 38 31.4 44 33 49L36.4 47C35.4 43 35.6 39 36.6 36ZM61.8 36C64 38 64.6 44 63 49L59.6 47C60.6 43 60.4 39 59.4 36Z", hair),
};

// ---- beards, each drawn before the mouth

/** @type {Record<string, Part>} */
export const beards = {
  full: ({ hair }) => shape("M33.8 44C34.6 49 36.6 51.6 40 51.8C43.4 49.6 46 51 48 52.4C50 51 52.6 49.6 56 51.8C59.4 51.6 61.4 49 62.2 44C64.4 58 60 70.6 48 72.6C36 70.6 31.6 58 33.8 44Z", hair) + line("M41 61Q42 65.6 45 68.6M48 62.4V69.6M55 61Q54 65.6 51 68.6", "#1d1210", 0.9, 'stroke-opacity="0.22"') + shade("M48 52.4C50 51 52.6 49.6 56 51.8C59.4 51.6 61.4 49 62.2 44C64.4 58 60 70.6 48 72.6Z"),
  short: ({ hair }) => shape("M34.4 44C35 49.6 37 52.4 40.4 53C43.4 51.4 46 52 48 53C50 52 52.6 51.4 55.6 53C59 52.4 61 49.6 61.6 44C63 56 58 64.6 48 64.6S33 56 34.4 44Z", hair) + shade("M48 53C50 52 52.6 51.4 55.6 53C59 52.4 61 49.6 61.6 44C63 56 58 64.6 48 64.6Z"),
  handlebar: ({ hair }) => shape("M48 52.4C45 50.8 42.4 52.2 40.6 54C39 55.4 37.2 55 36.4 53.2C35.6 57 38.6 59 42 58C45 57.2 47 55.8 48 55.2C49 55.8 51 57.2 54 58C57.4 59 60.4 57 59.6 53.2C58.8 55 57 55.4 55.4 54C53.6 52.2 51 50.8 48 52.4Z", hair),
  whiskers: ({ hair }) => shape("M35.6 41C33 46 32.6 54 36.4 59C40 60.6 41.6 57 40.2 54C38 51 37 46 37.4 41ZM60.4 41C63 46 63.4 54 59.6 59C56 60.6 54.4 57 55.8 54C58 51 59 46 58.6 41Z", hair),
};

// ---- at the throat

const shirt = shape("M40 65.4L48 81L56 65.4C55 70 51 72.6 48 72.6S41 70 40 65.4Z", p.cream);
/** @param {string} colour */
const lapels = (colour) => shape("M40 64.6L34.6 68.6L37.4 75L35 76.4L46.4 90L48 81ZM56 64.6L61.4 68.6L58.6 75L61 76.4L49.6 90L48 81Z", colour);

/** @type {Record<string, Part>} */
export const throats = {
  brooch: ({ trim }) => shape("M39.6 64.4C37 67 37 71 40 73.6C43 75 46 73.6 48 72C50 73.6 53 75 56 73.6C59 71 59 67 56.4 64.4C55 69 51 70.6 48 70.6S41 69 39.6 64.4Z", p.cream) + dot(48, 74, 3.3, p.bronze) + dot(48, 74, 2.3, trim) + light("M46.6 73A1.8 1.8 0 0 1 49 72.6Z", 0.6),
  bow: ({ coat, trim }) => shirt + lapels(coat) + shade("M56 64.6L61.4 68.6L58.6 75L61 76.4L49.6 90L48 81Z", 0.28) + shade("M40 64.6L34.6 68.6L37.4 75L35 76.4L46.4 90L48 81Z", 0.12) + shape("M48 72L40.6 68.2C39.4 71 39.4 74.6 40.6 77.4L48 74L55.4 77.4C56.6 74.6 56.6 71 55.4 68.2Z", trim) + shape("M46 71H50V75H46Z", trim) + shade("M46 71H50V75H46Z", 0.25),
  cravat: ({ coat, trim }) => shirt + lapels(coat) + shade("M56 64.6L61.4 68.6L58.6 75L61 76.4L49.6 90L48 81Z", 0.28) + shade("M40 64.6L34.6 68.6L37.4 75L35 76.4L46.4 90L48 81Z", 0.12) + shape("M41 66C44 69 52 69 55 66L54.6 71C52.6 72.6 50.6 73 49.6 73L52.4 86L48 90.6L43.6 86L46.4 73C45.4 73 43.4 72.6 41.4 71Z", trim) + dot(48, 78, 1.3, p.gilt),
  scarf: ({ trim }) => shape("M38 61.6C34.6 64 34.4 69.6 37.6 72.4C43 76 53 76 58.4 72.4C61.6 69.6 61.4 64 58 61.6C56 66.4 52 68 48 68S40 66.4 38 61.6Z", trim) + shape("M52 73L60.4 71.4L63.4 86.2L55.2 89Z", trim) + line("M38.4 66.4C43 71 53 71 57.6 66.4M54.4 79.4L61.8 77.4M55.2 83L62.4 81", p.cream, 1.3, 'stroke-opacity="0.75"') + shade("M48 68C52 68 56 66.4 58 61.6C61.4 64 61.6 69.6 58.4 72.4C55.6 74.2 52 75 48 75Z"),
  naval: ({ trim }) => shirt + shape("M40 64.8L30 70L40.6 90L48 82.4L55.4 90L66 70L56 64.8L48 81Z", trim) + line("M38.4 67.4L33.2 70.6L42 86.6M57.6 67.4L62.8 70.6L54 86.6", p.gilt, 1) + dot(37, 82.4, 1.2, p.gilt) + dot(59, 82.4, 1.2, p.gilt),
  knit: ({ coat }) => shape("M38.6 62C36.6 65 36.6 70 39 73C44 76.4 52 76.4 57 73C59.4 70 59.4 65 57.4 62C55 66.6 52 68 48 68S41 66.6 38.6 62Z", coat) + light("M38.6 62C36.6 65 36.6 70 39 73C44 76.4 52 76.4 57 73C59.4 70 59.4 65 57.4 62C55 66.6 52 68 48 68S41 66.6 38.6 62Z", 0.12) + line("M41 67.4L41.8 74M44.4 69L44.8 75M48 69.4V75.4M51.6 69L51.2 75M55 67.4L54.2 74", "#1d1210", 0.9, 'stroke-opacity="0.3"'),
  beads: ({ trim }) => `<path d="M37.6 66.6C38.8 73.8 43 77.6 48 77.6S57.2 73.8 58.4 66.6" fill="none" stroke="${trim}" stroke-width="3" stroke-linecap="round" stroke-dasharray="0.1 3.5"/>`,
  ruff: ({ trim }) => shape("M48 63C54 63 60 64.4 64 68C62.6 69.6 63.4 71 61.6 71.8C62 73.6 60 73.8 58.4 74.4C58.4 76.2 56 76 54.4 76.4C53.4 78 51.6 77 50.2 77.6C48.8 78.8 47.2 78.8 45.8 77.6C44.4 77 42.6 78 41.6 76.4C40 76 37.6 76.2 37.6 74.4C36 73.8 34 73.6 34.4 71.8C32.6 71 33.4 69.6 32 68C36 64.4 42 63 48 63Z", p.cream) + line("M48 70V77M43.6 69.4L41.8 76M52.4 69.4L54.2 76M40 68L35.6 72.6M56 68L60.4 72.6", trim, 0.9, 'stroke-opacity="0.6"') + shade("M40 64C44 68.4 52 68.4 56 64C52 62.8 44 62.8 40 64Z", 0.22) + dot(48, 82, 1.6, trim) + dot(48, 87, 1.4, trim),
  flying: ({ trim }) => shape("M39 64L30.4 69.4C32.4 75 36.4 78 41 78.4L48 72.4L55 78.4C59.6 78 63.6 75 65.6 69.4L57 64C55.4 69 52 71 48 71S40.6 69 39 64Z", trim) + shade("M48 71C52 71 55.4 69 57 64L65.6 69.4C63.6 75 59.6 78 55 78.4L48 72.4Z", 0.12) + line("M48 73V90", p.ink, 0.9, 'stroke-opacity="0.5"') + dot(50.6, 79, 1.1, p.gilt) + dot(50.6, 85, 1.1, p.gilt),
  smock: ({ trim }) => shape("M40 64.6C36 66 33 69 32 72.6L44 76.4L48 73L52 76.4L64 72.6C63 69 60 66 56 64.6C55 69 51 71.4 48 71.4S41 69 40 64.6Z", trim) + line("M44 76.4L41 87M52 76.4L55 87", "#1d1210", 0.8, 'stroke-opacity="0.3"') + shade("M48 71.4C51 71.4 55 69 56 64.6C60 66 63 69 64 72.6L52 76.4L48 73Z", 0.12),
  waistcoat: ({ trim }) => shirt + shape("M40 65L31 69.4L36 90L48 91L60 90L65 69.4L56 65L48 82Z", trim) + shade("M56 65L65 69.4L60 90L48 91V82Z", 0.18) + shape("M40 64.4L37 69.4L44 74L48 72.4L52 74L59 69.4L56 64.4C55 69 51 72.4 48 72.4S41 69 40 64.4Z", p.cream) + shade("M48 72.4L52 74L59 69.4L56 64.4C55 69 51 72.4 48 72.4Z", 0.1) + dot(48, 86, 1.1, p.gilt),
};

// ---- hats

/** @type {Record<string, Part>} */
export const hats = {
  bowler: ({ trim }) => shape("M34 31C33 18 39.6 12.4 48 12.4S63 18 62 31Z", trim) + light("M37.6 26C38 19 42 15.6 46 15C42.6 18 40.4 21.6 40 27Z", 0.2) + shade("M48 12.4C56.4 12.4 63 18 62 31H48Z", 0.2) + shape("M33.9 26.4C42 28.6 54 28.6 62.1 26.4V32.6H33.9Z", p.oxblood) + shape("M28.6 30C30 33.6 38 35.4 48 35.4S66 33.6 67.4 30C68.4 28.6 67 28 65.4 28.8C60 31 54 31.6 48 31.6S36 31 30.6 28.8C29 28 27.6 28.6 28.6 30Z", trim) + shade("M48 35.4C58 35.4 66 33.6 67.4 30C68.4 28.6 67 28 65.4 28.8C60 31 54 31.6 48 31.6Z", 0.2),
  wrap: ({ trim }) => shape("M33 38C29 27 34 15 46 12.6C58 10.4 67 20 65 31C64.6 34 64 36 63 38C58 33.6 53 32.4 48 32.4S38 33.6 33 38Z", trim) + shape("M52 15C55 8.6 63 9 64.6 14C67.6 17 66 22.6 61 22.4C57 22.4 53 19.6 52 15Z", p.mustard) + line("M54.4 15.6Q58 12.4 61.6 14.4M56.4 19Q60 16.6 63.6 18.4", "#1d1210", 0.9, 'stroke-opacity="0.3"') + line("M32.6 31C38 24 48 18.6 58 21.6M33.4 36C40 27.6 52 24 63.6 27.4", p.mustard, 1.6) + shade("M50 12.2C60 12 66.6 20.6 65 31C64.6 34 64 36 63 38C58.6 34.2 54 32.7 50 32.5Z", 0.14),
  cap: ({ trim }) => shape("M32.6 33C29.4 24 36 17 47 17.4C59 17.6 66 23 64.4 33Z", trim) + line("M47.6 17.6C44 22 43 27 43.4 32.6M49 17.6C54.6 21 57.4 26 57.6 32.6", "#1d1210", 0.8, 'stroke-opacity="0.3"') + dot(48, 17.6, 1.5, trim) + dot(48, 17.6, 1.5, "#1d1210", 'fill-opacity="0.25"') + shade("M49 17.4C60 18 66 23.4 64.4 33H57.6C57.4 26 54.6 21 49 17.4Z", 0.18) + shape("M31.4 33.6C36 29.8 60 29.8 65.2 33.6C66.2 35.4 64.6 36.8 62.6 36.4C56 34.6 40 34.6 34 36.4C31.8 36.8 30.4 35.4 31.4 33.6Z", trim) + shade("M31.4 33.6C36 29.8 60 29.8 65.2 33.6C66.2 35.4 64.6 36.8 62.6 36.4C56 34.6 40 34.6 34 36.4C31.8 36.8 30.4 35.4 31.4 33.6Z", 0.3),
  captain: () => shape("M30.4 24C32 17.6 40 14.4 48 14.4S64 17.6 65.6 24C65 26.4 62.6 27.6 61.6 29.4H34.4C33.4 27.6 31 26.4 30.4 24Z", p.cream) + shade("M48 14.4C56 14.4 64 17.6 65.6 24C65 26.4 62.6 27.6 61.6 29.4H48Z") + shape("M34 27.6C42 29.4 54 29.4 62 27.6V33.4C54 31.6 42 31.6 34 33.4Z", p.navy) + shape("M33.4 33.4C40 30.4 56 30.4 62.6 33.4C62 36 60 37 58 36.6C52 34.8 44 34.8 38 36.6C36 37 34 36 33.4 33.4Z", p.ink) + line("M35 32.2C42 30.2 54 30.2 61 32.2", p.gilt, 1.1) + dot(48, 24.4, 3, p.brass) + line("M48 22.6V26.4M46.4 25C46.8 26.4 49.2 26.4 49.6 25M47 23.4H49", p.navy, 0.8),
  plumed: ({ trim }) => shape("M63 25C70 23 75.6 17 74.4 10.6C69 11 63 15 60 21Z", p.cream) + line("M61.4 24.4C66 21.4 71 16.4 73.4 11.6", p.bronze, 0.8) + shape("M35 29C34 20 41 13.6 50 14C58 14.4 64 20 63.6 27.6L63.4 32.6L34.8 34.6Z", trim) + shade("M50 14C58 14.4 64 20 63.6 27.6L63.4 32.6L50 33.6Z", 0.2) + shape("M34.8 28.8C44 29.6 54 28.8 63.6 25.8V31.6C54 34.4 44 35.2 34.8 34.4Z", p.gilt) + shape("M25 36.4C30 31.4 42 33.6 48 32.8S66 26 73 26.4C74.4 27.6 72.6 30 69 32C60 36.6 38 40.6 27 38.6C25 38.2 24 37.4 25 36.4Z", trim) + light("M27 36.4C34 34 44 35 50 33.8C42 37 34 37.6 27 36.4Z", 0.18),
  straw: ({ trim }) => shape("M36.4 30C36 19.6 39.6 15.6 48 15.6S60 19.6 59.6 30Z", p.straw) + shade("M48 15.6C56.4 15.6 60 19.6 59.6 30H48Z") + line("M39 21.6Q48 19.4 57 21.6M41 18.4Q48 16.6 55 18.4", p.bronze, 0.7, 'stroke-opacity="0.6"') + shape("M36.3 25.4C44 27.4 52 27.4 59.7 25.4V30.4H36.3Z", trim) + shape("M22.6 33C26 28.4 38 29.6 48 29.6S70 28.4 73.4 33C74.4 35.4 70 36.4 66 35.4C60 33.8 54 33.4 48 33.4S36 33.8 30 35.4C26 36.4 21.6 35.4 22.6 33Z", p.straw) + shade("M48 29.6C58 29.6 70 28.4 73.4 33C74.4 35.4 70 36.4 66 35.4C60 33.8 54 33.4 48 33.4Z") + line("M26 33.4C34 30.6 62 30.6 70 33.4", p.bronze, 0.7, 'stroke-opacity="0.6"'),
  watch: ({ trim }) => shape("M33.6 32C32.6 20 39 14.6 48 14.6S63.4 20 62.4 32Z", trim) + line("M40.4 17.4Q38 23 38.4 28M45 15.4Q43.6 21 43.8 28M51 15.4Q52.4 21 52.2 28M55.6 17.4Q58 23 57.6 28", "#1d1210", 0.9, 'stroke-opacity="0.25"') + shape("M32.6 29.6C40 27.2 56 27.2 63.4 29.6C64.6 32 64.6 35.4 63.4 37.6C56 34.6 40 34.6 32.6 37.6C31.4 35.4 31.4 32 32.6 29.6Z", trim) + light("M32.6 29.6C40 27.2 56 27.2 63.4 29.6C64.6 32 64.6 35.4 63.4 37.6C56 34.6 40 34.6 32.6 37.6C31.4 35.4 31.4 32 32.6 29.6Z", 0.14) + line("M36.4 29.4V35.4M40.2 28.6V34.6M44 28.2V34.2M48 28V34M52 28.2V34.2M55.8 28.6V34.6M59.6 29.4V35.4", "#1d1210", 0.8, 'stroke-opacity="0.25"') + shade("M48 14.6C57 14.6 63.4 20 62.4 29.4C63.4 29.6 65 35 63.4 37.6C58.6 35.6 53 34.9 48 34.9Z", 0.12),
  flyer: ({ trim }) => shape("M32 50C29.4 30 36 18.4 48 18.4S66.6 30 64 50C64 56 62.6 59.6 60 61.4C58.6 56 60.6 50 60.4 44C60.2 38 56 34 48 34S35.8 38 35.6 44C35.4 50 37.4 56 36 61.4C33.4 59.6 32 56 32 50Z", trim) + line("M48 18.6V34", "#1d1210", 0.9, 'stroke-opacity="0.35"') + shade("M48 18.4C60 18.4 66.6 30 64 50C64 56 62.6 59.6 60 61.4C58.6 56 60.6 50 60.4 44C60.2 38 56 34 48 34Z", 0.18) + line("M33 31C42 26.6 54 26.6 63 31", p.ink, 2.2) + `<g stroke="${p.brass}" stroke-width="1.6"><circle cx="41.6" cy="28.6" r="5" fill="${p.dusk}"/><circle cx="54.4" cy="28.6" r="5" fill="${p.dusk}"/></g>` + light("M38.4 28.6A3.4 3.4 0 0 1 42 25.2ZM51.2 28.6A3.4 3.4 0 0 1 54.8 25.2Z", 0.7),
  top: ({ trim }) => shape("M36 30L34.6 9.8C42 7.6 54 7.6 61.4 9.8L60 30Z", trim) + light("M38.6 28L37.4 11C39 10.6 40.4 10.4 42 10.2L42.6 28Z", 0.18) + shade("M48 8.2C53 8.2 58 8.8 61.4 9.8L60 30H48Z", 0.22) + shape("M35.7 24.4C44 26.4 52 26.4 60.3 24.4L60 32H36Z", p.slate) + shape("M29.4 29.6C31 33 39 34.6 48 34.6S65 33 66.6 29.6C67.6 28 66 27.6 64.4 28.4C60 30.2 54 30.8 48 30.8S36 30.2 31.6 28.4C30 27.6 28.4 28 29.4 29.6Z", trim) + shade("M48 34.6C57 34.6 65 33 66.6 29.6C67.6 28 66 27.6 64.4 28.4C60 30.2 54 30.8 48 30.8Z", 0.22),
};

// ---- what makes the person

/** @type {Record<string, Part>} */
export const extras = {
  spectacles: () => `<g fill="${p.cream}" fill-opacity="0.22" stroke="${p.bronze}" stroke-width="1.1"><circle cx="42" cy="45.2" r="4.6"/><circle cx="54" cy="45.2" r="4.6"/></g>` + line("M46.6 44.6Q48 43.6 49.4 44.6M37.4 44.4L34.4 43.4M58.6 44.4L61.6 43.4", p.bronze, 1),
  halfmoons: () => line("M37.8 46.6H46.2A4.2 4 0 0 1 37.8 46.6ZM49.8 46.6H58.2A4.2 4 0 0 1 49.8 46.6ZM46.2 46.8Q48 45.8 49.8 46.8M37.8 46.4L34.4 44.6M58.2 46.4L61.6 44.6", p.bronze, 1),
  square: () => line("M37.4 42.2H46.4L45.8 48.6H38.2ZM49.6 42.2H58.6L57.8 48.6H50.2ZM46.4 43.6Q48 42.8 49.6 43.6M37.4 43L34.4 42.6M58.6 43L61.6 42.6", p.ink, 1.2),
  loupe: () => `<circle cx="53.8" cy="45.2" r="4.8" fill="${p.cream}" fill-opacity="0.25" stroke="${p.brass}" stroke-width="1.5"/>` + line("M57.8 48.2C60.6 53 61.6 60 59 68", p.brass, 0.9),
  hoops: () => line("M33.6 48.4A2.8 2.8 0 1 0 33.8 48.4M62.2 48.4A2.8 2.8 0 1 0 62.4 48.4", p.brass, 1.2),
  drops: () => dot(33.8, 50.4, 1.7, p.cream) + dot(62.2, 50.4, 1.7, p.cream),
  pencil: () => line("M55.6 12.4L40.6 24", p.mustard, 2.4) + shape("M40.2 22.8L37.4 26.4L41.6 25.2Z", p.ink) + line("M55 12.9L56.4 11.8", p.blush, 2.6),
  quill: () => shape("M62.4 47C66 39 70.4 33 75.6 29.6C75.6 36 71.4 42.6 64.4 47.4Z", p.cream) + line("M61.4 50C64.4 42.6 69 36 75 30.4", p.moss, 0.9),
  freckles: () => `<g fill="${p.clay}" fill-opacity="0.55">` + ["39 49.4", "41 50.8", "38.6 51.8", "55 50.8", "57 49.4", "57.4 51.8"].map((at) => `<circle cx="${at.split(" ")[0]}" cy="${at.split(" ")[1]}" r="0.6"/>`).join("") + "</g>",
  tomato: () => dot(70.4, 74.4, 4.2, p.blush) + shape("M70.4 71.4L68 69.6L70 70L70.4 68.2L71 70L73 69.6Z", p.forest) + light("M67.6 74A3 3 0 0 1 70 71.6Z", 0.5),
};
