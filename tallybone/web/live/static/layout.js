// Layout of the current game; the arrow keys move between tiles.

import { byId, write } from "./dom.js";
import { drawFelt } from "./felt.js";
import { plural, say } from "./say.js";

/** Show the layout of a snapshot. On a page, *onTile* is called with the seq of a tapped tile; a television has a *zoom*. */
export function showLayout(snapshot, onTile, zoom) {
  const layout = snapshot.layout;
  const { tiles, ends, waiting, unsure } = drawFelt(byId("felt"), layout, onTile, zoom);
  const last = layout?.tiles.find((tile) => tile.last);
  const seat = snapshot.plays.find((play) => play.seq === last?.seq)?.seat;
  byId("felt").setAttribute("class", Number.isInteger(seat) ? `seat-${seat % 6}` : "");
  byId("no-layout").hidden = tiles.length + waiting.length + unsure.length > 0;
  showBeside("count", snapshot.match.count, (sum) => say("{what}: {sum}", { what: say("Open ends"), sum }));
  showBeside("unplaced", layout?.unplaced?.length, (number) => plural("1 more tile belongs to the layout, but the camera cannot see where.", "{number} more tiles belong to the layout, but the camera cannot see where.", { number }));
  write(byId("layout-says"), tiles.length === 0 ? "" : sayLayout(tiles, ends, waiting));
  rove(byId("tiles"));
}

function showBeside(id, worth, textOf) {
  byId(id).hidden = !worth;
  write(byId(id), worth ? textOf(worth) : "");
}

/** Move between tiles with the arrow keys, so the layout is a single tab stop. */
export function listenToKeys() {
  const group = byId("tiles");
  group.addEventListener("keydown", (event) => {
    const all = [...group.children];
    const at = all.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
    if (at < 0 || !(event.key in to)) return;
    event.preventDefault();
    all[Math.max(0, Math.min(all.length - 1, to[event.key]))].focus();
    rove(group);
  });
}

function rove(group) {
  const all = [...group.children].filter((one) => one.hasAttribute("tabindex"));
  const stop = all.find((one) => one === document.activeElement) ?? all.at(-1);
  for (const one of all) one.setAttribute("tabindex", one === stop ? "0" : "-1");
}

function sayLayout(tiles, ends, waiting) {
  const values = ends.map((end) => end.value).join(", ") || say("none");
  const said = plural("1 tile; open ends: {ends}. Use the arrow keys to move between tiles.", "{number} tiles; open ends: {ends}. Use the arrow keys to move between tiles.", { number: tiles.length, ends: values });
  return waiting.length > 0 ? `${said} ${say("{count} on the table, not yet part of the game", { count: waiting.length })}.` : said;
}
