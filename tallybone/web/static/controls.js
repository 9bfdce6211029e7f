// Buttons at the foot of the page: the main actions, and all others behind "More".

import { button, byId, foreign, keep, make, writeLong } from "./dom.js";
import { cropAt } from "./evidence.js";
import { closeSheet, numberForm, openSheet, part } from "./sheet.js";
import { later, say, sentence } from "./say.js";
import { initialsOf } from "./scores.js";

// The middle place has the key that the table waits for, or else a call; "next" stands there while nothing does.
const NOW = ["stands", "next", "done", "call"];
const ALL = ["knock", "draw", "call", "next", "done", "stands", "undo", "hand_end", "redeal", "stack", "table"];
const OF_A_SEAT = ["knock", "draw", "call", "done"];
const MOST_NAME = 40;
const TURN_MEANT = ["knock", "draw", "done"];
/** Names of the buttons of a table. */
export const NAMES = {
  count: later("Count a hand"),
  knock: later("Knock"),
  draw: later("Draw"),
  call: later("Call"),
  undo: later("Undo"),
  redo: later("Redo"),
  stands: later("Accept"),
  next: later("Next hand"),
  done: later("End turn"),
  hand_end: later("Hand is over"),
  redeal: later("Deal again"),
  stack: later("Stack on the same tile"),
  table: later("Put it right"),
};
const HINTS = {
  next: later("The hand has been dealt, or another player leads"),
  done: later("The player does not play again"),
  hand_end: later("Nobody can play"),
  redeal: later("Misdeal: all tiles go back"),
  stack: later("The next tile is stacked on the same tile"),
  table: later("Score the tiles on the table and drop the rest"),
};

/** Show the keys, each in its own place: one without effect says why when it is pressed. "More" has the others. */
export function showControls(snapshot, desk) {
  keep(byId("buttons"), placesOf(snapshot, desk).map((name) => keyOf(name, snapshot, desk)), (one) => one.name, (one) => drawKey(one, desk));
}

function placesOf({ can, match, plays }, desk) {
  const now = match.phase === "reveal" ? "count" : (NOW.find((name) => can[name]) ?? "next");
  return ["knock", "draw", now, desk.canRedo(plays) ? "redo" : "undo"];
}

function keyOf(name, snapshot, desk) {
  const { can, why, players, plays } = snapshot;
  const isOn = can[name] ?? true;
  const whose = TURN_MEANT.includes(name) && isOn ? players.find((player) => player.turn) : undefined;
  const undone = { undo: nameOf(plays.at(-1), players), redo: desk.redo?.names }[name];
  const [about, brief] = undone ?? [whose?.name ?? "", shorten(whose, players)];
  const isPrimary = isOn && (name === "count" || NOW.slice(0, 3).includes(name));
  const reason = isOn ? null : sentence(why[name], players.map((player) => player.name));
  return { name, isPrimary, accepted: acceptedBy(name, snapshot), seat: whose?.seat ?? null, about, brief, reason };
}

/** Return the name of an action for a key, and a short one for a narrow screen: "6-4 by Bartholomew", "6-4 B". */
function nameOf(play, players) {
  if (play === undefined) return ["", ""];
  const player = players.find((one) => one.seat === play.seat);
  const name = player?.name ?? "";
  const done = play.pips?.join("-") ?? (play.kind in NAMES ? say(NAMES[play.kind]) : "");
  if (done === "") return [play.words, ""];
  return [say("{what} by {name}", { what: done, name }), `${done} ${shorten(player, players)}`];
}

/** Return a player's name if it fits on a narrow key, or else its initials. */
function shorten(player, players) {
  if (player === undefined || player.name.length <= 7) return player?.name ?? "";
  return initialsOf(players.map((one) => one.name))[players.indexOf(player)];
}

/** Return the seq of the action that a button accepts, or null for other buttons. */
function acceptedBy(name, snapshot) {
  return name === "stands" ? (snapshot.irregular.findLast((one) => one.can_stand)?.seq ?? null) : null;
}

function drawKey({ name, isPrimary, accepted, seat, about, brief, reason }, desk) {
  const words = say(NAMES[name]);
  const said = about === "" ? say("{words}.", { words }) : say("{words}: {name}.", { words, name: about });
  const others = { count: () => count(desk), undo: () => undo([about, brief], desk), redo: () => desk.redo?.does() };
  const does = reason === null ? (others[name] ?? (() => press({ name, accepted, seat }, said, desk))) : () => desk.toast.done(reason);
  const one = button(words, does, { class: isPrimary ? "key primary" : "key", "data-press": name, "aria-disabled": reason === null ? null : "true", "aria-description": reason });
  if (about !== "") one.append(" ", foreign(about, { class: "unseen" }));
  if (brief !== "") one.append(foreign(about, { class: "whose", "aria-hidden": "true" }), foreign(brief, { class: "whose brief", "aria-hidden": "true" }));
  return one;
}

function undo(names, desk) {
  closeSheet();
  return desk.undo(names);
}

function press({ name, accepted = null, seat = null }, said, desk) {
  closeSheet();
  return desk.act(accepted === null ? { type: "press", button: name, seat } : { type: "stands", seq: accepted }, said);
}

/** Open the sheet that counts a hand from a photo. Rarely used, so loaded on demand. */
function count(desk, seat = null) {
  const failed = () => desk.toast.failed(say("The table cannot be reached."));
  return import("./count_hand.js").then(({ countHand }) => countHand(desk, seat)).catch(failed);
}

/** Open the sheet with all other buttons, each with its purpose or the reason why it has no effect. */
export function openMore(snapshot, desk) {
  const names = snapshot.players.map((player) => player.name);
  const shown = placesOf(snapshot, desk);
  const rows = ALL.filter((name) => !shown.includes(name)).map((name) => {
    const words = say(NAMES[name]);
    const said = say("{words}.", { words });
    const attributes = { class: "wide", disabled: !snapshot.can[name], "data-press": name };
    const act = () => press({ name, accepted: acceptedBy(name, snapshot) }, said, desk);
    const one = button(words, name === "undo" ? () => undo(nameOf(snapshot.plays.at(-1), snapshot.players), desk) : act, attributes);
    const about = sentence(snapshot.why[name], names) || (name in HINTS ? say(HINTS[name]) : "");
    if (about !== "") one.append(" ", make("small", {}, foreign(about)));
    return one;
  });
  openSheet(say("More actions"), make("div", { class: "column" }, ...rows));
}

/** Open the sheet of actions on behalf of a player. */
export function openSeat(seat, snapshot, desk) {
  const player = snapshot.players.find((one) => one.seat === seat);
  const keys = OF_A_SEAT.map((name) => {
    const words = say(NAMES[name]);
    const said = say("{words}: {name}.", { words, name: player.name });
    return button(words, () => press({ name, seat }, said, desk), { class: "key", "data-press": name });
  });
  const give = (points, why) => {
    closeSheet();
    return desk.act({ type: "points", seat, points, why }, say("{name}: {points} points added by hand.", { name: player.name, points }));
  };
  const set = (total) => (total === player.total ? closeSheet() : give(total - player.total, say("corrected total")));
  const total = numberForm({ label: say("Total"), value: player.total }, say("Save"), set);
  const parts = [make("div", { class: "row" }, ...keys)];
  if (snapshot.match.phase === "lead") parts.unshift(leadKey(player, desk));
  if (snapshot.match.phase === "reveal") parts.unshift(leftForm(player, desk));
  const [name, places] = [part(say("Name"), nameForm(player, desk)), part(say("Place"), swapsOf(player, snapshot, desk))];
  openSheet(player.name, ...parts, part(say("Total"), total), part(say("Adjust points"), adjustForm(give)), name, places);
}

function nameForm({ seat, name }, desk) {
  const field = make("input", { type: "text", maxlength: MOST_NAME, value: name, autocomplete: "off", "aria-label": say("Name"), required: true });
  const form = make("form", { class: "row" }, field, make("button", { type: "submit" }, say("Rename")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const after = field.value.trim();
    closeSheet();
    if (after !== name) desk.act({ type: "rename", seat, name: after }, say("{before} is now {after}", { before: name, after }));
  });
  return form;
}

/** Return a key for each player with whom a player can change places, or the reason why there is none. */
function swapsOf(player, { match, players }, desk) {
  if (match.phase === "play" || match.phase === "reveal") return make("p", { class: "about" }, say("Players can change places between hands."));
  const keys = players.filter((other) => other.seat !== player.seat && other.team === player.team).map((other) => {
    const names = { name: player.name, other: other.name };
    const swap = () => (closeSheet(), desk.act({ type: "swap", seat: player.seat, other: other.seat }, say("{name} and {other} change places.", names)));
    return button(say("Change places with {name}", { name: other.name }), swap);
  });
  return make("div", { class: "row" }, ...keys);
}

function leadKey({ seat, name }, desk) {
  const lead = () => (closeSheet(), desk.act({ type: "lead", seat }, say("{name} leads", { name })));
  return make("div", { class: "row" }, button(say("This player leads the hand"), lead, { class: "primary" }));
}

/** Return the field for the pips left in a player's hand, and the button that counts them. */
function leftForm({ seat, name }, desk) {
  const set = (pips) => (closeSheet(), desk.act({ type: "left", seat, pips }, say("{name}: {pips} pips left.", { name, pips })));
  const form = numberForm({ label: say("Pips left in this hand"), value: "", min: 0 }, say("Save"), set);
  return part(say("Pips left in this hand"), form, make("div", { class: "row" }, button(say("Count a hand"), () => count(desk, seat))));
}

function adjustForm(onGive) {
  const points = make("input", { type: "number", step: 1, value: 5, "aria-label": say("Points") });
  const why = make("input", { type: "text", maxlength: 80, placeholder: say("Reason"), "aria-label": say("Reason") });
  const form = make("form", { class: "row" }, points, why, make("button", { type: "submit" }, say("Add")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (Number.isInteger(points.valueAsNumber)) onGive(points.valueAsNumber, why.value.trim());
  });
  return form;
}

/** Show the open question with its tiles, unreadable tiles, and irregular actions; each answer takes one tap. */
export function showQuestion(snapshot, desk) {
  const asked = snapshot.question;
  byId("question").hidden = asked === null;
  const names = snapshot.players.map((player) => player.name);
  writeLong(byId("question-words"), sentence(asked?.words ?? "", names));
  keep(byId("question-tiles"), asked === null ? [] : cropsOf(asked, snapshot.match.count, desk), (one) => one.path, drawCrop);
  const chosen = asked?.chosen ?? null;
  const brief = (text) => snapshot.players.reduce((shorter, player) => shorter.replaceAll(player.name, shorten(player, snapshot.players)), text);
  const choices = (asked?.choices ?? []).map(brief).map((text, choice) => ({ text, choice, topic: asked.topic, isChosen: choice === chosen }));
  byId("choices").style.setProperty("--long", choices.reduce((sum, { text }) => sum + [...text].length + 3, 0));
  keep(byId("choices"), choices, (one) => one.choice, (one) => drawChoice(one, desk));
  byId("unsure").hidden = !snapshot.layout?.unsure?.length;
  writeLong(byId("unsure-words"), sentence(say("is this a tile? It cannot be read: move it a little, or take it away"), []));
  const odd = snapshot.irregular ?? [];
  byId("irregular").hidden = odd.length === 0;
  keep(byId("irregular-list"), odd, (one) => one.seq, (one) => drawIrregular({ ...one, words: sentence(one.words, names) }, desk));
}

function drawIrregular({ seq, words: text, can_stand: canStand }, desk) {
  if (desk === null) return make("li", {}, foreign(text));
  const stands = canStand ? button(say("Accept"), () => desk.act({ type: "stands", seq }, say("Accepted."))) : "";
  const remove = button(say("It did not happen"), () => desk.act({ type: "remove", seq }, say("Removed: {what}.", { what: text })));
  return make("li", {}, foreign(text), make("div", { class: "row" }, stands, remove));
}

function drawChoice({ text, choice, topic, isChosen }, desk) {
  // Mark the choice selected with the table's own buttons.
  const current = isChosen ? "true" : null;
  if (desk === null) return make("span", { class: "choice", "aria-current": current }, foreign(text));
  const answer = () => desk.act({ type: "answer", topic, choice }, say("Answered: {words}.", { words: text }));
  return button(foreign(text), answer, { class: "choice answer", "aria-current": current });
}

/** Return the image paths of a question: the region that raised it, else the current view of its tiles. */
function cropsOf({ evidence, topic, seqs }, sum, desk) {
  // A television shows the count over the layout.
  if (evidence) return [{ path: `evidence/question.jpg?topic=${encodeURIComponent(topic)}`, sum: desk === null ? null : sum }];
  return desk === null ? [] : seqs.map((seq) => ({ path: `tiles/${seq}.jpg`, sum: null }));
}

function drawCrop({ path, sum }) {
  const caption = sum === null ? null : make("figcaption", {}, say("{what}: {sum}", { what: say("Open ends"), sum }));
  return make("figure", { class: "reading" }, cropAt(path), caption);
}
