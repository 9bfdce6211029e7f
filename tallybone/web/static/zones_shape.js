// Outlines of zones as numbers: moving, adding and taking away corners. Nothing here knows the page.

import { say } from "./say.js";

export const LEAST_CORNERS = 3;
export const MOST_CORNERS = 24;

/** Return what a zone is called, in the language of the page. */
export function nameOf(name) {
  const [, seat] = name.match(/^seat (\d+)$/) ?? [];
  if (seat !== undefined) return say("Seat {seat}", { seat });
  return name === "boneyard" ? say("Boneyard") : name === "layout" ? say("Layout") : name;
}

/** Return an outline of which a corner is elsewhere, though never outside of the picture. */
export function moved(corners, at, [x, y], { width_px, height_px }) {
  const place = [tenth(Math.min(Math.max(x, 0), width_px)), tenth(Math.min(Math.max(y, 0), height_px))];
  return corners.map((corner, other) => (other === at ? place : corner));
}

/** Return an outline with a corner more, half way between one and the next. */
export function withCorner(corners, at) {
  return corners.toSpliced(at + 1, 0, middle(corners[at], corners[(at + 1) % corners.length]));
}

/** Return an outline without a corner. */
export function withoutCorner(corners, at) {
  return corners.toSpliced(at, 1);
}

/** Return the middles of the edges, each after the corner with its number. */
export function middles(corners) {
  return corners.map((corner, at) => middle(corner, corners[(at + 1) % corners.length]));
}

/** Return where the name of a zone is written. */
export function center(corners) {
  return [0, 1].map((axis) => corners.reduce((sum, corner) => sum + corner[axis], 0) / corners.length);
}

/** Return an outline as SVG takes it. */
export function pointsOf(corners) {
  return corners.map((corner) => corner.join(",")).join(" ");
}

function middle(one, other) {
  return [tenth((one[0] + other[0]) / 2), tenth((one[1] + other[1]) / 2)];
}

function tenth(number) {
  return Math.round(10 * number) / 10;
}
