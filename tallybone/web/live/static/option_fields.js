// Form fields for the options of a game, each with an explanation and its choices.

import { button, make } from "./dom.js";
import { plural, say, sentence } from "./say.js";

const SETS = [6, 9, 12, 15, 18];
const NONE = "none";
const AUTO = "auto";
const IS_TYPED = ["number", "players", "deal"];
// Group of buttons that set several options at once.
const VARIATIONS = "variations";

/**
 * Return a collapsible group of options.
 *
 * @param group Topic of the group.
 * @param options Options of the group that apply to this game.
 * @param at {valueOf(key), usualOf(key), faultOf(key), change(key, text), typed(key, text)}.
 * @param isOpen True if the group is expanded.
 */
function optionGroup(group, options, at, isOpen) {
  const changed = options.filter((one) => at.valueOf(one.key) !== at.usualOf(one.key)).length;
  const count = changed === 0 ? null : make("span", { class: "changed" }, plural("1 changed", "{number} changed", { number: changed }));
  const summary = make("summary", {}, sentence(say(group), []), count);
  const open = isOpen || options.some((one) => at.faultOf(one.key) !== null);
  return make("details", { class: "group", open, "data-group": group }, summary, ...options.map((one) => optionField(one, at)));
}

/** Return known variations, then *options* by group; *open* contains the expanded groups. */
export function agreedField(options, shown, at, open) {
  const groups = [...new Set(options.map((one) => one.group))];
  const drawn = groups.map((group) => optionGroup(group, options.filter((one) => one.group === group), at, open.has(group)));
  const named = shown.length === 0 ? null : variations(shown, at.change, open.has(VARIATIONS));
  return make("fieldset", { class: "part" }, make("legend", {}, say("House rules")), named, ...drawn);
}

/** Return the field of an option with its error message. */
export function optionField(option, at) {
  const { key } = option;
  const [value, usual, fault] = [at.valueOf(key), at.usualOf(key), at.faultOf(key)];
  const change = IS_TYPED.includes(option.kind) ? at.typed : at.change;
  const control = CONTROLS[option.kind](option, value, (text) => change(key, text));
  const hints = [hintOf(option), value === usual ? null : say("default: {value}", { value: wordsOf(option, usual) })].filter(Boolean);
  control.id = `option-${key}`;
  return field({ control, label: sentence(say(option.meaning), []), hint: hints.join("; "), fault });
}

/** Return a control with its label, hint and error message. */
export function field({ control, label, hint = "", fault = null }) {
  const said = [];
  const below = [];
  if (hint !== "") {
    said.push(`${control.id}-hint`);
    below.push(make("small", { id: said.at(-1), class: "about" }, hint));
  }
  if (fault !== null) {
    said.push(`${control.id}-wrong`);
    below.push(make("small", { id: said.at(-1), class: "wrong" }, fault));
    control.setAttribute("aria-invalid", "true");
  }
  if (said.length > 0) control.setAttribute("aria-describedby", said.join(" "));
  const isSwitch = control.type === "checkbox";
  const name = make("label", { for: control.id, class: isSwitch ? "switch" : null }, ...(isSwitch ? [control] : []), label);
  return make("div", { class: "field" }, name, ...(isSwitch ? [] : [control]), ...below);
}

function hintOf({ kind, allowed, none }) {
  if (kind === "number" && none !== null) return say("empty: {none}", { none: say(none) });
  return kind === "players" || kind === "deal" ? say(allowed) : "";
}

function wordsOf(option, value) {
  const meaning = option.choices.find((one) => one.value === value)?.meaning;
  if (value === NONE && option.none !== null) return say(option.none);
  return meaning === undefined ? say(value) : say(meaning);
}

const CONTROLS = {
  choice: ({ choices }, value, change) => select(choices.map((one) => [one.value, say(one.meaning)]), value, change),
  yes_no: (option, value, change) => {
    const box = make("input", { type: "checkbox", checked: value === "yes" });
    box.addEventListener("change", () => change(box.checked ? "yes" : "no"));
    return box;
  },
  // Not a number field: those do not expose the text cursor.
  number: (option, value, change) => {
    const attributes = { type: "text", class: "number", inputmode: "numeric", maxlength: 6, value: value === NONE ? "" : value };
    return listened(make("input", attributes), (text) => change(text === "" ? NONE : text));
  },
  set: (option, value, change) => {
    const sizes = SETS.includes(Number(value)) ? SETS : [Number(value), ...SETS];
    return select(sizes.map((pips) => [String(pips), setName(pips)]), value, change);
  },
  players: (option, value, change) => listened(make("input", { type: "text", maxlength: 20, value }), change),
  deal: (option, value, change) => listened(make("input", { type: "text", maxlength: 60, value }), change),
};

/**
 * Return the choice of the domino set.
 *
 * @param set The selected set; "auto" for the set of the game, whose highest double is *usual*.
 */
export function setField(set, usual, fault, change) {
  const own = [AUTO, say("the game's usual set ({set})", { set: setName(usual) })];
  const control = select([own, ...SETS.map((pips) => [`double-${pips}`, setName(pips)])], set, change);
  control.id = "set";
  return field({ control, label: say("The set on the table"), fault: set === AUTO ? null : fault });
}

/** Return the name of a set, given its highest double. */
function setName(pips) {
  return say("double-{pips}", { pips });
}

/** Return a select element; *choices* are pairs of value and label. */
export function select(choices, value, change) {
  const list = make("select", {}, ...choices.map(([own, words]) => make("option", { value: own, selected: own === value }, words)));
  list.addEventListener("change", () => change(list.value));
  return list;
}

/** Return a collapsible list of buttons for named combinations of options. */
function variations(shown, choose, isOpen) {
  const ones = shown.map((one) => button(sentence(say(one.meaning), []), () => choose(one.key, one.value), { class: "choice" }));
  const summary = make("summary", {}, say("Known variations"));
  return make("details", { class: "group", open: isOpen, "data-group": VARIATIONS }, summary, make("div", { class: "row" }, ...ones));
}

function listened(input, change) {
  input.addEventListener("input", () => change(input.value.trim()));
  return input;
}
