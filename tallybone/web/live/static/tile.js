// Draws a tile with its pips, in its position on the table or as a small icon.

import { draw } from "./dom.js";
import { pipCenters, pipRadius } from "./pips.js";

/**
 * Return a tile in its own units: each half is 2 by 2, and the bar lies on the x axis through (0, 0).
 *
 * @param pips Pips of both halves, the first above the bar; null if unknown.
 */
export function tileFace(pips, { isSpinner = false } = {}) {
  const halves = (pips ?? []).map((number, half) => halfPips(number, half));
  return draw(
    "g",
    { class: "face" },
    draw("rect", { class: "cast", x: -1.02, y: -2.02, width: 2.04, height: 4.04, rx: 0.28 }),
    draw("rect", { class: "ivory", x: -0.96, y: -1.96, width: 1.92, height: 3.92, rx: 0.22 }),
    draw("rect", { class: "top", x: -0.86, y: -1.86, width: 1.72, height: 3.72, rx: 0.16 }),
    draw("rect", { class: "bar", x: -0.7, y: -0.045, width: 1.4, height: 0.09, rx: 0.045 }),
    ...halves,
    isSpinner ? draw("circle", { class: "pin", r: 0.2 }) : null,
  );
}

function halfPips(number, half) {
  const centers = pipCenters(number);
  const radius = pipRadius(centers);
  const sign = half === 0 ? -1 : 1;
  const dots = centers.map(([x, y]) => draw("circle", { cx: x, cy: sign * (1 + y), r: radius }));
  return draw("g", { class: "pips" }, ...dots);
}

/** Return a small horizontal tile for a line of text; *pips* is null for an unread tile. */
export function tileIcon(pips) {
  const face = tileFace(pips);
  face.setAttribute("transform", "rotate(-90)");
  return draw("svg", { class: "tile-icon", viewBox: "-2.1 -1.1 4.2 2.2", "aria-hidden": "true" }, face);
}

/**
 * Return the pose of a tile: the matrix from its own units to image pixels.
 *
 * @param tile Tile of a snapshot: corners clockwise and centres of both halves, in pixels.
 */
export function poseOf(tile) {
  const [a, b, c, d] = tile.corners_px;
  const [first, second] = tile.halves_px ?? middlesOf(tile.corners_px);
  const along = times(minus(second, first), 0.5);
  const sides = [times(plus(minus(b, a), minus(c, d)), 0.25), times(plus(minus(c, b), minus(d, a)), 0.25)];
  const squareness = (side) => Math.abs(cross(side, along)) / (Math.hypot(...side) || 1);
  let across = squareness(sides[0]) >= squareness(sides[1]) ? sides[0] : sides[1];
  // Tiles are seen from above, so the transform must not mirror.
  if (cross(across, along) < 0) across = times(across, -1);
  const middle = times(plus(first, second), 0.5);
  return { across, along, middle, side: 2 * Math.hypot(...along) };
}

/** Return the pose as an SVG transform. */
export function transformOf({ across, along, middle }) {
  return `matrix(${[...across, ...along, ...middle].map((number) => number.toFixed(3)).join(" ")})`;
}

/** Return the centres of the halves of a tile, computed from its corners. */
function middlesOf([a, b, c, d]) {
  const isLong = Math.hypot(...minus(b, a)) >= Math.hypot(...minus(c, b));
  const [near, far] = isLong ? [plus(a, d), plus(b, c)] : [plus(a, b), plus(c, d)];
  const [start, end] = [times(near, 0.5), times(far, 0.5)];
  return [plus(times(start, 0.75), times(end, 0.25)), plus(times(start, 0.25), times(end, 0.75))];
}

function plus([x, y], [u, v]) {
  return [x + u, y + v];
}

function minus([x, y], [u, v]) {
  return [x - u, y - v];
}

function times([x, y], factor) {
  return [x * factor, y * factor];
}

function cross([x, y], [u, v]) {
  return x * v - y * u;
}
