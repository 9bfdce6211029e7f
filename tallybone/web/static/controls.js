// The buttons at the foot of the page: what can be said just now, one tap each, and the rest behind "More".

import { button, byId, foreign, keep, make, say } from "./dom.js";
import { closeSheet, numberForm, openSheet, part } from "./sheet.js";
import { words } from "./words.js";

const USUAL = ["knock", "draw", "call", "undo"];
// One of these stands first, where it is what the table waits for.
const NOW = ["stands", "next", "done"];
const RARE = ["next", "done", "stands", "hand_end", "redeal", "stack"];
const OF_A_SEAT = ["knock", "draw", "call", "done"];
const TURN_MEANT = ["knock", "draw", "done"];

/** Show the buttons of a snapshot. */
export function showControls(snapshot, desk) {
  const now = NOW.filter((name) => snapshot.can[name]).slice(0, 1);
  const buttons = [...now.map((name) => keyOf(name, snapshot, true)), ...USUAL.map((name) => keyOf(name, snapshot, false))];
  keep(byId("buttons"), buttons, (one) => one.name, (one) => drawKey(one, desk));
}

function keyOf(name, snapshot, isPrimary) {
  const whose = TURN_MEANT.includes(name) ? snapshot.players.find((player) => player.turn) : undefined;
  return { name, isPrimary, isOn: Boolean(snapshot.can[name]), seat: whose?.seat ?? null, who: whose?.name ?? null };
}

function drawKey({ name, isPrimary, isOn, seat, who }, desk) {
  const said = who === null ? words("said", { words: words(name) }) : words("said_for", { words: words(name), name: who });
  const classes = isPrimary ? "key primary" : "key";
  const one = button(words(name), () => press(name, seat, said, desk), { class: classes, disabled: !isOn, "data-press": name });
  if (who !== null && isOn) one.append(" ", foreign(who, { class: "whose" }));
  return one;
}

function press(name, seat, said, desk) {
  closeSheet();
  return desk.act({ type: "press", button: name, seat }, said);
}

/** Open the sheet with all that is seldom said. */
export function openMore(snapshot, desk) {
  const rows = RARE.map((name) => {
    const said = words("said", { words: words(name) });
    const attributes = { class: "wide", disabled: !snapshot.can[name], "data-press": name };
    const one = button(words(name), () => press(name, null, said, desk), attributes);
    if (name !== "stands") one.append(make("small", {}, words(`hint_${name}`)));
    return one;
  });
  openSheet(words("more_title"), make("div", { class: "column" }, ...rows));
}

/** Open the sheet in which one speaks for a player. */
export function openSeat(seat, snapshot, desk) {
  const player = snapshot.players.find((one) => one.seat === seat);
  const keys = OF_A_SEAT.map((name) => {
    const said = words("said_for", { words: words(name), name: player.name });
    return button(words(name), () => press(name, seat, said, desk), { class: "key", "data-press": name });
  });
  const give = (points, why) => {
    closeSheet();
    return desk.act({ type: "points", seat, points, why }, words("pointed", { name: player.name, points }));
  };
  const parts = [make("div", { class: "row" }, ...keys)];
  if (snapshot.match.phase === "lead") parts.unshift(leadKey(player, desk));
  if (snapshot.match.phase === "reveal") parts.unshift(leftForm(player, desk));
  openSheet(player.name, ...parts, part(words("adjust"), adjustForm(give)));
}

function leadKey({ seat, name }, desk) {
  const say = () => (closeSheet(), desk.act({ type: "lead", seat }, words("lead", { name })));
  return make("div", { class: "row" }, button(words("leads"), say, { class: "primary" }));
}

/** Return the field for the pips that are left in a hand at its end. */
function leftForm({ seat, name }, desk) {
  const set = (pips) => (closeSheet(), desk.act({ type: "left", seat, pips }, words("left_set", { name, pips })));
  return part(words("left"), numberForm({ label: words("left"), value: "", min: 0 }, words("set_points"), set));
}

function adjustForm(onGive) {
  const points = make("input", { type: "number", step: 1, value: 5, "aria-label": words("points") });
  const why = make("input", { type: "text", maxlength: 80, placeholder: words("adjust_why"), "aria-label": words("adjust_why") });
  const form = make("form", { class: "row" }, points, why, make("button", { type: "submit" }, words("adjust_now")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (Number.isInteger(points.valueAsNumber)) onGive(points.valueAsNumber, why.value.trim());
  });
  return form;
}

/** Show what the table asks, with the tiles in question, and what is irregular; each answer is one tap. */
export function showQuestion(snapshot, desk) {
  const asked = snapshot.question;
  byId("question").hidden = asked === null;
  say(byId("question-words"), asked?.words ?? "");
  keep(byId("question-tiles"), asked === null || desk === null ? [] : asked.seqs ?? [], (seq) => seq, cropOf);
  const choices = (asked?.choices ?? []).map((text, choice) => ({ text, choice, topic: asked.topic }));
  keep(byId("choices"), choices, (one) => one.choice, (one) => drawChoice(one, desk));
  const odd = snapshot.irregular ?? [];
  byId("irregular").hidden = odd.length === 0;
  keep(byId("irregular-list"), odd, (one) => one.seq, (one) => drawIrregular(one, desk));
}

function drawIrregular({ seq, words: text }, desk) {
  if (desk === null) return make("li", {}, foreign(text));
  const stands = button(words("stands"), () => desk.act({ type: "stands", seq }, words("stood")));
  const remove = button(words("remove"), () => desk.act({ type: "remove", seq }, words("removed", { what: text })));
  return make("li", {}, foreign(text), make("div", { class: "row" }, stands, remove));
}

function drawChoice({ text, choice, topic }, desk) {
  if (desk === null) return make("span", { class: "choice" }, foreign(text));
  const answer = () => desk.act({ type: "answer", topic, choice }, words("answered", { words: text }));
  return button(foreign(text), answer, { class: "choice answer" });
}

function cropOf(seq) {
  const picture = make("img", { class: "crop", src: `/api/v1/tiles/${seq}.jpg`, alt: words("crop") });
  picture.addEventListener("error", () => picture.remove());
  return picture;
}
