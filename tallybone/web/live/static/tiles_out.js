// Sheet of the tiles that have not appeared in this hand yet.

import { make } from "./dom.js";
import { say } from "./say.js";
import { openSheet } from "./sheet.js";
import { tileIcon } from "./tile.js";

/** Open the sheet with the unseen tiles of a snapshot's hand. */
export function openTilesOut(snapshot) {
  const tiles = tilesOf(snapshot);
  const out = tiles.filter((tile) => !tile.isGone);
  const rows = tiles.map(({ pips, isGone }) => {
    const words = make("span", { class: "unseen" }, `${pips.join("-")}${isGone ? `, ${say("on the table")}` : ""}`);
    return make("li", { class: isGone ? "is-gone" : null }, tileIcon(pips), words);
  });
  const about = say("{count} of {all} tiles are in hands or in the boneyard.", { count: out.length, all: tiles.length });
  openSheet(say("Unseen tiles"), make("p", {}, about), make("ol", { class: "out-set" }, ...rows));
}

/** Return every tile of the set, with a flag if it is on the table. */
export function tilesOf({ match, plays, layout }) {
  const gone = new Map();
  const laid = new Set([...layout.tiles.map((tile) => tile.seq), ...layout.unplaced]);
  for (const play of plays) {
    const isThere = play.kind === "play" ? laid.has(play.seq) : play.kind === "stack" && !play.irregular;
    if (!isThere || play.pips === null) continue;
    gone.set(keyOf(play.pips), (gone.get(keyOf(play.pips)) ?? 0) + 1);
  }
  const tiles = [];
  for (let high = 0; high <= match.max_pips; high += 1) {
    for (let low = 0; low <= high; low += 1) {
      for (let copy = 0; copy < match.copies; copy += 1) {
        tiles.push({ pips: [high, low], isGone: copy < (gone.get(keyOf([high, low])) ?? 0) });
      }
    }
  }
  return tiles;
}

function keyOf([one, other]) {
  return `${Math.max(one, other)}-${Math.min(one, other)}`;
}
