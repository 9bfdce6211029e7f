// Buttons at the foot of the page: the main actions, and all others behind "More".

import { button, byId, foreign, keep, make, writeLong } from "./dom.js";
import { cropAt } from "./evidence.js";
import { closeSheet, openSheet } from "./sheet.js";
import { later, say, sentence } from "./say.js";
import { initialsOf } from "./scores.js";

// The middle place has the key that the table waits for, or else a call; "next" stands there while nothing does.
const NOW = ["stands", "next", "done", "call"];
const ALL = ["knock", "draw", "call", "next", "done", "stands", "undo", "hand_end", "redeal", "stack", "table"];
// Of "Put it right". In one column, the layout is then shown above the question.
const MANY_CHOICES = 5;
// Number of characters of all choices that a television shows in two lines.
const MAX_LEGIBLE = 75;
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
  if (done === "") return [play.text, ""];
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

/** Send a press of a button; *said* is the message on success. */
export function press({ name, accepted = null, seat = null }, said, desk) {
  closeSheet();
  return desk.act(accepted === null ? { type: "press", button: name, seat } : { type: "stands", seq: accepted }, said);
}

/** Open the sheet that counts a hand from a photo. Rarely used, so loaded on demand. */
export function count(desk, seat = null) {
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

/** Show the open question with its tiles, unreadable tiles, and irregular actions; each answer takes one tap. */
export function showQuestion(snapshot, desk) {
  const asked = snapshot.question;
  const names = snapshot.players.map((player) => player.name);
  writeLong(byId("question-words"), sentence(asked?.text ?? "", names));
  keep(byId("question-tiles"), asked === null ? [] : cropsOf(asked, snapshot.match.count, desk), (one) => one.path, drawCrop);
  const chosen = asked?.chosen ?? null;
  const brief = (text) => snapshot.players.reduce((shorter, player) => shorter.replaceAll(player.name, shorten(player, snapshot.players)), sentence(text, names));
  const all = (asked?.choices ?? []).map(brief).map((text, choice) => ({ text, choice, topic: asked.topic, isChosen: choice === chosen }));
  const choices = desk === null ? legible(all) : all;
  byId("choices").style.setProperty("--long", lengthOf(choices));
  keep(byId("choices"), choices, (one) => one.choice, (one) => drawChoice(one, desk));
  const isNew = byId("question").hidden && all.length >= MANY_CHOICES;
  byId("question").hidden = asked === null;
  if (isNew && desk !== null) requestAnimationFrame(() => byId("table").scrollIntoView({ block: "nearest" })); // once the layout is drawn
  byId("unsure").hidden = !snapshot.layout?.unsure?.length;
  writeLong(byId("unsure-words"), sentence(say("is this a tile? It cannot be read: move it a little, or take it away"), []));
  const odd = snapshot.irregular ?? [];
  byId("irregular").hidden = odd.length === 0;
  keep(byId("irregular-list"), odd, (one) => one.seq, (one) => drawIrregular({ ...one, text: sentence(one.text, names) }, desk));
}

/** Return the choices as a television shows them: if all of them would be too small to read, the selected one or their number. */
function legible(choices) {
  if (lengthOf(choices) <= MAX_LEGIBLE) return choices;
  const chosen = choices.find((one) => one.isChosen);
  const number = choices.length;
  return chosen === undefined
    ? [{ ...choices[0], text: say("{number} answers", { number }) }]
    : [{ ...chosen, text: `${chosen.choice + 1}/${number} ${chosen.text}` }];
}

function lengthOf(choices) {
  return choices.reduce((sum, { text }) => sum + [...text].length + 3, 0);
}

function drawIrregular({ seq, text, can_stand: canStand }, desk) {
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
