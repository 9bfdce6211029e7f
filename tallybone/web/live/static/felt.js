// Draws a layout as on the table: tiles in their true positions, the spinner, and the values of open ends.

import { draw, keep } from "./dom.js";
import { poseOf, tileFace, transformOf } from "./tile.js";
import { say } from "./say.js";

// Margin around the tiles, and minimum size shown, in sides of a half tile.
const MARGIN = 1.6;
const MIN_SIDES = [11, 7];
const LARGEST_LABEL = 3;
// Half the height of an end's value, and how far it reaches over the end, up to the pips, in sides of a half tile.
const BADGE_SIDES = 0.38;
const OVERLAP_SIDES = 0.12;
const MIN_BADGE_PX = 9;
// Distance between the middles of a tile that may be meant for the layout and the nearest of the others, at most.
const BESIDE_SIDES = 4;
// Distance of an end from the middle of its tile from which it has a place of its own, in sides of a half tile.
const MIN_AWAY = 0.1;
// Aspect ratio of the felt on a phone.
const [MIN_SHAPE, MAX_SHAPE] = [0.9, 1.7];

/** Return an SVG element for `drawLayout`. */
export function emptyFelt(label) {
  return draw("svg", { role: "img", "aria-label": label, viewBox: "0 0 640 360" }, draw("g"), draw("g"), draw("g"));
}

/**
 * Draw a layout on a felt; unchanged elements are kept.
 *
 * @param felt SVG element with three groups: waiting and unreadable tiles, played tiles, and open ends.
 * @param given Layout of a snapshot, or null.
 * @param onTile Called with the seq of a tapped tile; null if tiles cannot be tapped.
 * @param zoom Zoom of a television, which shows the layout as large as possible; null for a page.
 * @returns {tiles, ends, waiting, unsure} as drawn.
 */
export function drawFelt(felt, given, onTile, zoom = null) {
  const layout = zoom === null ? given : zoom.turn(felt, given);
  const tiles = (layout?.tiles ?? []).map((tile) => ({ ...tile, pose: poseOf(tile) }));
  let waiting = (layout?.waiting ?? []).map((tile) => ({ ...tile, pose: poseOf(tile) }));
  const unsure = (layout?.unsure ?? []).map((tile) => ({ ...tile, pose: poseOf(tile) }));
  const ends = (layout?.ends ?? []).filter((end) => end.open !== false);
  const side = median([...tiles, ...waiting, ...unsure].map((tile) => tile.pose.side)) || 40;
  const [waitingGroup, tileGroup, endGroup] = felt.children;
  // A tile that has not been read yet covers the end at which it lies.
  const isFree = ({ x, y }) => !waiting.some(({ pose }) => Math.hypot(pose.middle[0] - x, pose.middle[1] - y) < side);
  const badgesOf = (size) => {
    const shown = ends.map((end) => badge(end, tiles, side, size)).filter((one) => one !== null && isFree(one));
    return [...shown, ...armBadges(ends, tiles, side, size)];
  };
  if (zoom === null) showWindow(felt, windowAround([...tiles, ...waiting, ...unsure], side));
  else {
    // Others are in a player's hand.
    waiting = besideLayout(waiting, tiles, side);
    const followed = [...tiles, ...waiting, ...unsure].flatMap((tile) => tile.corners_px);
    zoom.show(felt, [...followed, ...badgesOf(BADGE_SIDES * side).flatMap(cornersOf)], side);
  }
  const beside = [...waiting.map((tile, at) => ({ ...tile, key: `w${at}` })), ...unsure.map((tile, at) => ({ ...tile, key: `u${at}`, isUnsure: true }))];
  keep(waitingGroup, beside, (tile) => tile.key, (tile) => (tile.isUnsure ? unsureTile(tile) : waitingTile(tile)));
  keep(tileGroup, tiles, (tile) => tile.seq, (tile) => laidTile(tile, onTile));
  const size = Math.max(BADGE_SIDES * side, MIN_BADGE_PX / scaleOf(felt));
  keep(endGroup, badgesOf(size), (one) => one.key, drawBadge);
  return { tiles, ends, waiting, unsure };
}

/** Set the visible part of the image. On pages that scroll, the felt takes its aspect ratio. */
function showWindow(felt, [left, top, width, height]) {
  felt.setAttribute("viewBox", [left, top, width, height].map((number) => number.toFixed(0)).join(" "));
  const shape = Math.max(MIN_SHAPE, Math.min(MAX_SHAPE, width / height));
  felt.parentElement?.style.setProperty("--shape", shape.toFixed(2));
}

function laidTile(tile, onTile) {
  const states = ["tile", tile.last && "is-last", tile.doubtful && "is-doubtful", tile.spinner && "is-spinner"];
  const one = draw("g", { class: states.filter(Boolean).join(" "), transform: transformOf(tile.pose) });
  if (tile.stacked > 0) one.append(draw("rect", { class: "under", x: -0.66, y: -1.66, width: 1.92, height: 3.92, rx: 0.22 }));
  one.append(tileFace(tile.pips, { isSpinner: tile.spinner }));
  one.append(draw("rect", { class: "rim", x: -1.06, y: -2.06, width: 2.12, height: 4.12, rx: 0.3 }));
  if (tile.doubtful) one.append(sign("?", tile.pose));
  else if (tile.stacked > 0) one.append(sign(`×${tile.stacked + 1}`, tile.pose));
  if (onTile === null) return one;
  for (const [name, worth] of [["role", "button"], ["tabindex", "-1"], ["aria-label", nameOf(tile)]]) one.setAttribute(name, worth);
  one.addEventListener("click", () => onTile(tile.seq));
  one.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onTile(tile.seq);
  });
  return one;
}

function nameOf(tile) {
  const parts = [tile.pips.join("-")];
  if (tile.last) parts.push(say("last tile"));
  if (tile.spinner) parts.push(say("spinner"));
  if (tile.doubtful) parts.push(say("unsure"));
  if (tile.stacked > 0) parts.push(say("stacked"));
  return parts.join(", ");
}

/** Return a small upright sign in the middle of a tile. */
function sign(text, { across, along }) {
  const turned = -Math.atan2(across[1], across[0]) * (180 / Math.PI);
  const label = draw("text", { y: 0.28 }, text);
  return draw("g", { class: "sign", transform: `rotate(${turned.toFixed(1)})` }, draw("circle", { r: 0.62 }), label);
}

function waitingTile(tile) {
  return draw("g", { class: "tile is-waiting", transform: transformOf(tile.pose) }, tileFace(tile.pips));
}

function unsureTile({ pose }) {
  const rim = draw("rect", { class: "rim", x: -0.96, y: -1.96, width: 1.92, height: 3.92, rx: 0.22 });
  return draw("g", { class: "tile is-unsure", transform: transformOf(pose) }, rim, sign("?", pose));
}

/** Return the position of an open end's value, at the edge of its tile, or null if unknown. */
function badge(end, tiles, side, size) {
  const host = tiles.find((tile) => tile.seq === end.seq);
  if (host === undefined) return null;
  const away = [end.x - host.pose.middle[0], end.y - host.pose.middle[1]];
  const length = Math.hypot(...away);
  if (length < MIN_AWAY * side) return null;
  const text = end.counts === 2 * end.value && end.value > 0 ? `${end.value}+${end.value}` : String(end.value);
  const wide = size * (text.length >= LARGEST_LABEL ? 1.75 : text.length > 1 ? 1.15 : 1);
  const reach = ((Math.abs(away[0]) * wide + Math.abs(away[1]) * size) / length - OVERLAP_SIDES * side) / length;
  const place = { x: end.x + away[0] * reach, y: end.y + away[1] * reach };
  return { key: `${end.seq} ${end.port}`, ...place, text, size, wide, isCounted: end.counts > 0 };
}

/** Return one badge for the free arms of each starter, which have no places of their own: its number, and how many arms. */
function armBadges(ends, tiles, side, size) {
  return tiles.flatMap(({ seq, pose }) => {
    const arms = ends.filter((end) => end.seq === seq && Math.hypot(end.x - pose.middle[0], end.y - pose.middle[1]) < MIN_AWAY * side);
    if (arms.length === 0) return [];
    const text = arms.length === 1 ? String(arms[0].value) : `${arms[0].value}×${arms.length}`;
    const wide = size * (text.length > LARGEST_LABEL ? 2 : text.length > 1 ? 1.5 : 1);
    return { key: `${seq} arms`, x: pose.middle[0], y: pose.middle[1], text, size, wide, isCounted: arms.some((end) => end.counts > 0) };
  });
}

/** Return the waiting tiles that lie near the layout or near another such tile. All without a layout. */
function besideLayout(waiting, tiles, side) {
  const isNear = ({ pose }, others) => others.some((other) => Math.hypot(other.pose.middle[0] - pose.middle[0], other.pose.middle[1] - pose.middle[1]) < BESIDE_SIDES * side);
  let [found, size] = [tiles.length === 0 ? waiting : [], -1];
  while (found.length > size) {
    size = found.length;
    const near = [...tiles, ...found];
    found = waiting.filter((tile) => found.includes(tile) || isNear(tile, near));
  }
  return found;
}

function cornersOf({ x, y, wide, size }) {
  return [[x - wide, y - size], [x + wide, y + size]];
}

function drawBadge({ x, y, text, size, wide, isCounted }) {
  return draw(
    "g",
    { class: `end${isCounted ? " is-counted" : ""}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
    draw("rect", { x: -wide, y: -size, width: 2 * wide, height: 2 * size, rx: size }),
    draw("text", { y: size * 0.5, "font-size": size * 1.4 }, text),
  );
}

/** Return the visible part of the image: all tiles, rounded up in steps so it does not change with each tile. */
function windowAround(tiles, side) {
  const corners = tiles.flatMap((tile) => tile.corners_px);
  if (corners.length === 0) return [0, 0, 640, 400];
  const step = 2 * side;
  const spans = [0, 1].map((axis) => {
    const along = corners.map((corner) => corner[axis]);
    let low = Math.floor((Math.min(...along) - MARGIN * side) / step) * step;
    let high = Math.ceil((Math.max(...along) + MARGIN * side) / step) * step;
    const lacking = MIN_SIDES[axis] * side - (high - low);
    if (lacking > 0) [low, high] = [low - lacking / 2, high + lacking / 2];
    return [low, high - low];
  });
  return [spans[0][0], spans[1][0], spans[0][1], spans[1][1]];
}

/** Return the number of screen pixels per drawing unit. */
function scaleOf(svg) {
  const { width, height } = svg.viewBox.baseVal;
  return Math.min(svg.clientWidth / width, svg.clientHeight / height) || 1;
}

function median(numbers) {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)];
}
