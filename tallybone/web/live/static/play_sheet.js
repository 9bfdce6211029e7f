// Sheet of a play: its image, its reading, and corrections.

import { button, foreign, make } from "./dom.js";
import { evidenceOf } from "./evidence.js";
import { rightKey } from "./plays.js";
import { closeSheet, numberForm, openSheet, part } from "./sheet.js";
import { tileIcon } from "./tile.js";
import { say } from "./say.js";

const LAID = ["play", "stack"];

/** Open the sheet of a play. */
export function openPlay(seq, snapshot, desk) {
  const play = snapshot.plays.find((one) => one.seq === seq);
  const tile = snapshot.layout?.tiles.find((one) => one.seq === seq);
  const pips = play?.pips ?? tile?.pips ?? null;
  const what = nameOf(play, pips, snapshot);
  const amend = (name, to) => {
    const now = nameOf(play && name === "seat" ? { ...play, seat: to } : play, name === "pips" ? to : pips, snapshot);
    const before = { pips, seat: play?.seat, points: play?.points }[name];
    closeSheet();
    // Without a change, it only confirms an inferred play.
    if (String(to) === String(before) && !play?.inferred) return null;
    return desk.act({ type: "amend", seq, [name]: to }, say("Corrected: {what}.", { what: now }), snapshot.version);
  };
  const parts = [
    tile !== undefined || LAID.includes(play?.kind) ? evidenceOf(`evidence/${seq}.jpg`, play ?? {}, readingOf(tile)) : null,
    play?.text ? make("p", { class: "about" }, foreign(play.text)) : null,
    play?.irregular ? make("p", { class: "wrong" }, foreign(play.irregular)) : null,
    play?.inferred ? make("p", { class: "about" }, say("Not seen: inferred from later pictures.")) : null,
    pips === null ? null : part(say("Which tile was it?"), pipsPad(pips, snapshot, (to) => amend("pips", to))),
  ];
  if (play !== undefined && play.seat !== null) {
    parts.push(part(say("Who played it?"), seatsPad(snapshot.players, play.seat, (to) => amend("seat", to))));
  }
  if (play?.kind === "play" && pips !== null) parts.push(elsewherePart(seq, pips, snapshot, (end) => amend("at", placeOf(end))));
  if (play !== undefined && pips !== null) {
    const asked = { label: say("Points"), value: play.points };
    parts.push(part(say("Points"), numberForm(asked, say("Save"), (to) => amend("points", to))));
  }
  parts.push(lastRow({ seq, play, what }, snapshot, desk));
  openSheet(what, ...parts);
}

function nameOf(play, pips, snapshot) {
  const player = snapshot.players.find((one) => one.seat === play?.seat);
  if (pips === null) return play?.text ?? "";
  return player === undefined ? pips.join("-") : say("{name}: {what}", { name: player.name, what: pips.join("-") });
}

function lastRow({ seq, play, what }, snapshot, desk) {
  const remove = () => (closeSheet(), desk.act({ type: "remove", seq }, say("Removed: {what}.", { what }), snapshot.version));
  const canBeRemoved = play === undefined || play.seat !== null;
  const first = canBeRemoved ? button(say("It did not happen"), remove, { class: "danger" }) : null;
  const right = play?.inferred ? rightKey(play, desk, closeSheet) : null;
  return make("div", { class: "row" }, right, first, button(say("Add an action before this"), () => openInsert({ seq, what }, snapshot, desk)));
}

/** Return the list of other ends for a tile, or null if there are none. */
function elsewherePart(seq, pips, snapshot, onEnd) {
  const row = make("div", { class: "row" });
  const shown = part(say("Is it in the wrong place?"), row);
  shown.hidden = true;
  offer(seq, pips, snapshot, { isMoved: true }).then(({ ends, endKeys }) => {
    row.replaceChildren(...endKeys(ends, null, onEnd));
    shown.hidden = ends.length === 0;
  });
  return shown;
}

/** Open the sheet for adding a missed action before the action at *seq*. */
function openInsert({ seq, what }, snapshot, desk) {
  const wish = { kind: "play", seat: snapshot.players.find((one) => one.turn)?.seat ?? 0, pips: [0, 0], end: null };
  const where = make("div", { class: "row" });
  const wherePart = part(say("Where was it played?"), where);
  const lacking = make("p", { class: "wrong", role: "alert" });
  let offered = { ends: [], asked: 0 };
  // If the tile fits only one end, it was played there.
  const offerEnds = async () => {
    const asked = offered.asked + 1;
    offered = { ...offered, asked };
    const { ends, endKeys } = await offer(seq, wish.pips, snapshot);
    if (asked !== offered.asked) return;
    offered = { ends, asked };
    wish.end = ends.find((end) => end.seq === wish.end?.seq && end.port === wish.end?.port) ?? (ends.length === 1 ? ends[0] : null);
    const draw = () => where.replaceChildren(...endKeys(ends, wish.end, (end) => (Object.assign(wish, { end }), draw())));
    draw();
    // Before the first tile there are no ends.
    wherePart.hidden = ends.length === 0;
  };
  const insert = () => {
    if (wish.kind === "play" && wish.end === null && offered.ends.length > 1) {
      lacking.textContent = say("It fits at more than one end: choose one.");
      return;
    }
    putIn(seq, wish, desk);
  };
  const show = () => {
    const set = (change) => (Object.assign(wish, change), show());
    const kinds = [["play", say("Played a tile")], ["knock", say("Knocked")], ["draw", say("Drew")]].map(([kind, said]) =>
      choice(said, kind === wish.kind, () => set({ kind })));
    const tile = wish.kind === "play" ? [
      part(say("Which tile was it?"), pipsPad(wish.pips, snapshot, (pips) => (set({ pips }), offerEnds()))),
      wherePart,
    ] : [];
    lacking.textContent = "";
    openSheet(
      say("Unseen action"),
      make("p", { class: "about" }, say("Before: {what}", { what })),
      part(say("What happened?"), make("div", { class: "row" }, ...kinds)),
      part(say("Who played it?"), seatsPad(snapshot.players, wish.seat, (seat) => set({ seat }))),
      ...tile,
      lacking,
      make("div", { class: "row" }, button(say("Add"), insert, { class: "primary" })),
    );
  };
  show();
  offerEnds();
}

function putIn(before, { kind, seat, pips, end }, desk) {
  closeSheet();
  const tile = kind === "play" ? { pips, at: end === null ? null : placeOf(end) } : {};
  return desk.act({ type: "insert", before, kind, seat, ...tile }, say("Added."));
}

function placeOf({ seq, port }) {
  return { seq, port };
}

/** Return the ends at which a tile may have been played, and their drawing functions; none if unknown. */
async function offer(before, pips, snapshot, how = {}) {
  // Rarely used, so loaded on demand.
  const { endKeys, endsBefore } = await import("./ends.js");
  const ends = await endsBefore(before, pips, snapshot, how).catch(() => []);
  return { ends, endKeys };
}

/** Return the camera's reading, and the corrected tile if it differs; null if there is no reading. */
function readingOf({ pips, read, confidence } = { read: null }) {
  if (read === null) return null;
  const [first, second] = confidence.map((sure) => `${Math.round(100 * sure)}%`);
  const words = [say("Read as {tile}, confidence {first} and {second}.", { tile: read.join("-"), first, second })];
  if (pips.toSorted().join() !== read.toSorted().join()) words.push(say("Corrected to {tile}.", { tile: pips.join("-") }));
  return words.join(" ");
}

/** Return the keypad for a tile: a row of numbers for each half. */
export function pipsPad(pips, snapshot, onPips) {
  const most = snapshot.match.max_pips;
  const rows = [0, 1].map((half) => {
    const numbers = Array.from({ length: most + 1 }, (_, number) => {
      const changed = half === 0 ? [number, pips[1]] : [pips[0], number];
      return choice(String(number), number === pips[half], () => onPips(changed));
    });
    const label = half === 0 ? say("One half") : say("Other half");
    return make("div", { class: "numbers", role: "group", "aria-label": label }, ...numbers);
  });
  return make("div", { class: "pips-pad" }, tileIcon(pips), make("div", { class: "halves" }, ...rows));
}

/** Return a button for each player; the one at *seat* is marked. */
export function seatsPad(players, seat, onSeat) {
  const seats = players.map((one) => choice(foreign(one.name), one.seat === seat, () => onSeat(one.seat)));
  return make("div", { class: "row" }, ...seats);
}

function choice(text, isChosen, onPress) {
  return button(text, onPress, { class: "choice", "aria-pressed": isChosen ? "true" : "false" });
}
