// Sheet of a player: buttons, points, name and place.

import { NAMES, count, press } from "./controls.js";
import { button, make } from "./dom.js";
import { say } from "./say.js";
import { closeSheet, numberForm, openSheet, part } from "./sheet.js";

const OF_A_SEAT = ["knock", "draw", "call", "done"];
const MAX_NAME = 40;

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
  const field = make("input", { type: "text", maxlength: MAX_NAME, value: name, autocomplete: "off", "aria-label": say("Name"), required: true });
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
