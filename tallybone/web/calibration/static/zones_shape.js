// Polygons of zones: move, add and remove corners. Independent of the page.

import { say } from "./say.js";

export const MIN_CORNERS = 3;
export const MAX_CORNERS = 24;

/** Return the name of a zone, in the language of the page. */
export function nameOf(name) {
  const [, seat] = name.match(/^seat (\d+)$/) ?? [];
  if (seat !== undefined) return say("Seat {seat}", { seat });
  return name === "boneyard" ? say("Boneyard") : name === "layout" ? say("Layout") : name;
}

/** Return a polygon with a corner moved, limited to the image. */
export function moved(corners, at, [x, y], { width_px, height_px }) {
  const place = [tenth(Math.min(Math.max(x, 0), width_px)), tenth(Math.min(Math.max(y, 0), height_px))];
  return corners.map((corner, other) => (other === at ? place : corner));
}

/** Return a polygon with a new corner halfway between one and the next. */
export function withCorner(corners, at) {
  return corners.toSpliced(at + 1, 0, middle(corners[at], corners[(at + 1) % corners.length]));
}

/** Return a polygon without a corner. */
export function withoutCorner(corners, at) {
  return corners.toSpliced(at, 1);
}

/** Return the midpoints of the edges; each follows the corner with its index. */
export function middles(corners) {
  return corners.map((corner, at) => middle(corner, corners[(at + 1) % corners.length]));
}

/** Return the label position of a zone. */
export function center(corners) {
  return [0, 1].map((axis) => corners.reduce((sum, corner) => sum + corner[axis], 0) / corners.length);
}

/** Return a polygon as an SVG attribute. */
export function pointsOf(corners) {
  return corners.map((corner) => corner.join(",")).join(" ");
}

function middle(one, other) {
  return [tenth((one[0] + other[0]) / 2), tenth((one[1] + other[1]) / 2)];
}

function tenth(number) {
  return Math.round(10 * number) / 10;
}
