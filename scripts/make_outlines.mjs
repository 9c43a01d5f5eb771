// Draws the fifty states for the cards: us-atlas in, server/web/art/outlines.js out (or the file named as argument).
//
// Each state is projected about its own centre, so that it stands upright and undistorted alone, Alaska and Hawaii
// like the rest; then fitted into 100 × 100, thinned, and rounded to a tenth: a third of a pixel on the largest card.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { geoAzimuthalEqualArea, geoBounds } from "d3-geo";
import { feature } from "topojson-client";
import { states } from "../server/web/art/states.js";

const SIDE = 100;
const MARGIN = 1; // keeps a stroke of two units inside the box
const DETAIL_AREA_MIN = 0.15; // square units: a bend that spans less is thinned away
const ISLAND_AREA_MIN = 0.12; // square units: a smaller island is a speck of dirt on a card

const atlas = JSON.parse(readFileSync(createRequire(import.meta.url).resolve("us-atlas/states-10m.json"), "utf8"));
const shapes = new Map(feature(atlas, atlas.objects.states).features.map((f) => [f.properties.name, f.geometry]));

/** Polygons of a state, each a list of rings of [longitude, latitude]. */
function polygonsOf(name) {
  const { type, coordinates } = shapes.get(name);
  const polygons = type === "Polygon" ? [coordinates] : coordinates;
  // Past Niihau the Hawaiian chain is specks over 2,000 km; with them the islands people know would shrink to specks too.
  return name === "Hawaii" ? polygons.filter(([outer]) => outer.every(([lon]) => lon > -161)) : polygons;
}

/** Projects about the middle of the state; the sphere has no edge there, so the Aleutians pass 180° unbroken. */
function project(polygons) {
  const [[west, south], [east, north]] = geoBounds({ type: "MultiPolygon", coordinates: polygons });
  const middle = (west > east ? (west + east + 360) : (west + east)) / 2;
  const sphere = geoAzimuthalEqualArea().rotate([-middle, -(south + north) / 2]).scale(1000).translate([0, 0]);
  return polygons.map((rings) => rings.map((ring) => ring.map((point) => sphere(point))));
}

function fit(polygons) {
  const points = polygons.flat(2);
  const [left, right] = [Math.min(...points.map((p) => p[0])), Math.max(...points.map((p) => p[0]))];
  const [top, bottom] = [Math.min(...points.map((p) => p[1])), Math.max(...points.map((p) => p[1]))];
  const scale = (SIDE - 2 * MARGIN) / Math.max(right - left, bottom - top);
  const place = ([x, y]) => [MARGIN + (x - left) * scale, MARGIN + (y - top) * scale];
  const round = (length) => Math.round(10 * (length * scale + 2 * MARGIN)) / 10;
  return {
    box: `0 0 ${round(right - left)} ${round(bottom - top)}`,
    polygons: polygons.map((rings) => rings.map((ring) => ring.map(place))),
  };
}

const triangle = ([ax, ay], [bx, by], [cx, cy]) => Math.abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2;

function areaOf(ring) {
  let twice = 0;
  for (let i = 0; i < ring.length; i++) {
    const [[ax, ay], [bx, by]] = [ring[i], ring[(i + 1) % ring.length]];
    twice += ax * by - bx * ay;
  }
  return Math.abs(twice) / 2;
}

/** Visvalingam's thinning of a closed ring: drop the point of the smallest triangle until none is below the limit. */
function thin(ring) {
  const kept = ring.slice(0, -1); // GeoJSON repeats the first point at the end
  while (kept.length > 4) {
    let least = DETAIL_AREA_MIN;
    let at = -1;
    for (let i = 0; i < kept.length; i++) {
      const area = triangle(kept.at(i - 1), kept[i], kept[(i + 1) % kept.length]);
      if (area < least) [least, at] = [area, i];
    }
    if (at < 0) break;
    kept.splice(at, 1);
  }
  return kept;
}

/** One closed subpath in whole tenths, relative steps, so that no rounding adds up along the way. */
function subpath(ring) {
  const tenths = ring.map(([x, y]) => [Math.round(x * 10), Math.round(y * 10)]);
  const steps = [];
  for (let i = 1; i < tenths.length; i++) {
    const [dx, dy] = [tenths[i][0] - tenths[i - 1][0], tenths[i][1] - tenths[i - 1][1]];
    if (dx || dy) steps.push([dx, dy]);
  }
  const pairs = (list) => list.map(([x, y]) => `${x / 10},${y / 10}`).join(" ");
  return `M${pairs([tenths[0]])}l${pairs(steps).replaceAll(" -", "-").replaceAll(",-", "-")}z`;
}

function outline(name) {
  const { box, polygons } = fit(project(polygonsOf(name)));
  const rings = polygons
    .flat()
    .filter((ring) => areaOf(ring) >= ISLAND_AREA_MIN)
    .map(thin);
  return { box, path: rings.map(subpath).join("") };
}

const rows = states.map(({ postal, name }) => {
  const { box, path } = outline(name);
  return `  ${postal}: { box: "${box}", path: "${path}" },\n`;
});

const text = `// The outlines of the fifty states, each fitted into 100 × 100. Written by scripts/make_outlines.mjs from us-atlas.

/** @type {Readonly<Record<string, {readonly box: string, readonly path: string}>>} */
export const outlines = {
${rows.join("")}};
`;

writeFileSync(process.argv[2] ?? fileURLToPath(new URL("../server/web/art/outlines.js", import.meta.url)), text);
