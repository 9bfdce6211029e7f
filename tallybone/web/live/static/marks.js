// Draws tally marks with a hand-drawn look: houses of text 000 and rows of text 003.

import { draw } from "./dom.js";

// Size of the square of a mark, in drawing units.
const SQUARE = 24;
const WOBBLE = 1.3;

/** Return all marks of a player. Equal marks always have equal strokes. */
export function drawMarks(marks, seat) {
  if (marks === null || marks === undefined) return [];
  if (marks.kind === "houses") return marks.houses.map((house, at) => drawHouse(house, hand(seat * 101 + at)));
  if (marks.kind === "rows") return marks.rows.map((row, at) => drawRow(row, hand(seat * 101 + at)));
  return [];
}

function drawHouse(house, wobble) {
  const middle = SQUARE;
  const strokes = [];
  if (house.cross >= 1) strokes.push(stroke([1, middle], [2 * SQUARE - 1, middle], wobble));
  if (house.cross >= 2) strokes.push(stroke([middle, 1], [middle, 2 * SQUARE - 1], wobble));
  house.quadrants.forEach((mark, at) => {
    strokes.push(...drawMark(mark, [(at % 2) * SQUARE, Math.floor(at / 2) * SQUARE], wobble));
  });
  return sheet(2 * SQUARE, 2 * SQUARE, strokes);
}

function drawRow(row, wobble) {
  const strokes = row.flatMap((mark, at) => {
    const corner = [at * SQUARE, 0];
    const lining = [at * SQUARE + 1, SQUARE * 0.62];
    const isOut = mark.lined_out ? [stroke(lining, [lining[0] + SQUARE - 2, SQUARE * 0.4], wobble, "out")] : [];
    return [...drawMark(mark.stroke, corner, wobble), ...isOut];
  });
  return sheet(Math.max(1, row.length) * SQUARE, SQUARE, strokes);
}

function sheet(width, height, strokes) {
  const frame = { class: "marks", viewBox: `-1 -1 ${width + 2} ${height + 2}`, "aria-hidden": "true" };
  const svg = draw("svg", frame, ...strokes);
  svg.style.aspectRatio = `${width + 2} / ${height + 2}`;
  return svg;
}

function drawMark(mark, [x, y], wobble) {
  const [near, far] = [0.24 * SQUARE, 0.76 * SQUARE];
  const falling = () => stroke([x + near, y + near], [x + far, y + far], wobble);
  const rising = () => stroke([x + near, y + far], [x + far, y + near], wobble);
  switch (mark) {
    case "\\":
      return [falling()];
    case "/":
      return [rising()];
    case "X":
      return [falling(), rising()];
    case "O":
      return [ring([x + SQUARE / 2, y + SQUARE / 2], 0.27 * SQUARE, wobble)];
    default:
      return [];
  }
}

/** Return a slightly curved and displaced line. */
function stroke([x0, y0], [x1, y1], wobble, name = "") {
  const at = [x0 + wobble(), y0 + wobble(), (x0 + x1) / 2 + wobble(), (y0 + y1) / 2 + wobble(), x1 + wobble(), y1 + wobble()];
  const [a, b, c, d, e, f] = at.map((number) => number.toFixed(1));
  return draw("path", { class: name || null, d: `M${a} ${b}Q${c} ${d} ${e} ${f}` });
}

/** Return a slightly open circle. */
function ring([x, y], radius, wobble) {
  const [start, lean, drift] = [-1.9 + wobble() * 0.3, wobble(), 0.6 + 0.3 * wobble()];
  const points = Array.from({ length: 33 }, (_, at) => {
    const angle = start + (at / 32) * 6.6;
    const reach = radius + 0.6 * Math.cos(2 * angle + lean) - (drift * at) / 32;
    return `${(x + reach * Math.cos(angle)).toFixed(1)} ${(y + reach * 1.05 * Math.sin(angle)).toFixed(1)}`;
  });
  return draw("path", { d: `M${points.join("L")}` });
}

/** Return a deterministic random displacement for a seed. */
function hand(seed) {
  let state = (seed * 2654435761 + 40503) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296 - 0.5) * 2 * WOBBLE;
  };
}
