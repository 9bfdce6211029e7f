// Pip positions on a half, for 0 to 18 pips, as on commercial sets; the first pattern of lab/render/scene.py.

const COLUMNS = {
  6: [3, 3],
  7: [3, 1, 3],
  8: [3, 2, 3],
  9: [3, 3, 3],
  10: [4, 2, 4],
  11: [4, 3, 4],
  12: [4, 4, 4],
  13: [5, 3, 5],
  14: [5, 4, 5],
  15: [5, 5, 5],
  16: [4, 4, 4, 4],
  17: [6, 5, 6],
  18: [6, 6, 6],
};
// Position of the outermost pip centre, in half units, by the number of pips in a line.
const REACH = { 1: 0, 2: 0.58, 3: 0.6, 4: 0.66, 5: 0.7, 6: 0.74 };
const MAX_RADIUS = 0.2;

/** Return the pip centres of a half that spans -1 to 1 in both axes: x along the bar, y away from it. */
export function pipCenters(pips) {
  return pips in COLUMNS ? inColumns(COLUMNS[pips]) : few(pips);
}

/** Return a pip radius, in half units, at which these pips do not touch. */
export function pipRadius(centers) {
  let apart = 2;
  centers.forEach(([x, y], at) => {
    for (const [u, v] of centers.slice(0, at)) apart = Math.min(apart, Math.hypot(x - u, y - v));
  });
  return Math.min(MAX_RADIUS, 0.4 * apart);
}

function few(pips) {
  const reach = REACH[2];
  const diagonal = [[-reach, -reach], [reach, reach]];
  const square = [...diagonal, [reach, -reach], [-reach, reach]];
  const around = pips >= 4 ? square : pips >= 2 ? diagonal : [];
  return pips % 2 === 1 ? [...around, [0, 0]] : around;
}

function inColumns(heights) {
  const acrossX = line(heights.length, REACH[heights.length]);
  const reach = REACH[Math.max(...heights)];
  return heights.flatMap((height, at) => line(height, reach).map((y) => [acrossX[at], y]));
}

function line(count, reach) {
  if (count === 1) return [0];
  return Array.from({ length: count }, (_, at) => -reach + (2 * reach * at) / (count - 1));
}
