// Ends at which a tile may have been played, each drawn with its tile to distinguish them.

import { read } from "./api.js";
import { button, draw, make } from "./dom.js";
import { poseOf, tileFace, transformOf } from "./tile.js";
import { say } from "./say.js";

// Half the size of a drawing, and of the mark in it, in sides of a half tile.
const VIEW_SIDES = 1.85;
const MARK_SIDES = 0.4;
const MIN_AWAY = 0.1;

/**
 * Return the ends at which a tile may have been played: matching ends, or all ends if none matches.
 *
 * @param before Ends that were open before this action. If *isMoved*, the end where its own tile lies is excluded.
 * @param pips Pips of the tile.
 * @param snapshot Snapshot with the positions of tiles.
 * @returns A list of ends, each with a distinct description.
 */
export async function endsBefore(before, pips, snapshot, { isMoved = false } = {}) {
  const found = await read(`ends?before=${before}&${pips.map((number) => `pips=${number}`).join("&")}`);
  const ends = found.map((end) => placed(end, snapshot));
  const isAlike = (end) => ends.filter((other) => other.seq === end.seq && other.value === end.value).length > 1;
  const open = ends.filter((end) => !(isMoved && end.taken)).map((end) => ({ ...end, text: isAlike(end) ? sideOf(end) : valueOf(end) }));
  // Free arms of a starter are equivalent, so they count as one end.
  const named = open.filter((one, at) => open.findIndex((other) => other.seq === one.seq && other.text === one.text) === at);
  const fitting = named.filter((end) => end.fits);
  return fitting.length > 0 ? fitting : named;
}

/** Return a button for each end; the *chosen* one is marked. */
export function endKeys(ends, chosen, onEnd) {
  const isChosen = (end) => chosen !== null && chosen.seq === end.seq && chosen.port === end.port;
  return ends.map((end) => button(make("span", {}, end.text), () => onEnd(end), { class: "choice end-key", "aria-pressed": isChosen(end) ? "true" : "false" }, drawing(end)));
}

function placed(end, snapshot) {
  const tile = snapshot.layout?.tiles.find((one) => one.seq === end.seq);
  const pose = tile === undefined ? null : poseOf(tile);
  const away = pose === null ? [0, 0] : [(end.x - pose.middle[0]) / pose.side, (end.y - pose.middle[1]) / pose.side];
  return { ...end, tile, pose, away: Math.hypot(...away) < MIN_AWAY ? null : away };
}

function valueOf({ value, tile }) {
  return tile === undefined ? say("at the {value}", { value }) : say("at the {value} of the {tile}", { value, tile: tile.pips.join("-") });
}

/** Return the side of its tile on which an end lies in the image; distinct for each end of a tile. */
function sideOf(end) {
  if (end.away === null) return valueOf(end);
  const tile = end.tile.pips.join("-");
  const quarters = Math.round(Math.atan2(end.away[1], end.away[0]) / (Math.PI / 2));
  switch ((quarters + 4) % 4) {
    case 0:
      return say("right of the {tile}", { tile });
    case 1:
      return say("below the {tile}", { tile });
    case 2:
      return say("left of the {tile}", { tile });
    default:
      return say("above the {tile}", { tile });
  }
}

/** Return a drawing of the tile of an end with a mark at the end, or null if its position is unknown. */
function drawing({ tile, pose, away }) {
  if (tile === undefined || away === null) return null;
  const { across, along, side } = pose;
  const turned = transformOf({ across: across.map((one) => one / side), along: along.map((one) => one / side), middle: [0, 0] });
  const reach = 1 + MARK_SIDES / Math.hypot(...away);
  const view = [-VIEW_SIDES, -VIEW_SIDES, 2 * VIEW_SIDES, 2 * VIEW_SIDES].join(" ");
  return draw(
    "svg",
    { class: "end-drawing", viewBox: view, "aria-hidden": "true" },
    draw("g", { transform: turned }, tileFace(tile.pips)),
    draw("circle", { class: "mark", cx: (away[0] * reach).toFixed(2), cy: (away[1] * reach).toFixed(2), r: MARK_SIDES }),
  );
}
