// Virtual panel: LEDs, display rows, buttons and a table to knock on.

import { button, draw, keep, make } from "./dom.js";
import { NAMES } from "./controls.js";
import { later, say } from "./say.js";

const DARK = "#000000";
const RADIUS = 9;
const STEP = 26;
const LEDS = { seats: later("LEDs of the seats"), status: later("Status LED"), direction: later("LEDs of the direction"), spell: later("Spell LED"), all: later("LEDs") };

/**
 * Draw the panel.
 *
 * @param root Element to draw in; stays empty without virtual parts.
 * @param shown {leds, screen, buttons, pressed, detects_knocks, knocked}.
 * @param press Called with the name of a button, or null for a knock.
 */
export function drawPanel(root, { leds, screen, buttons, pressed, detects_knocks: detectsKnocks, knocked }, press) {
  const parts = [];
  if (leds.length > 0) parts.push({ kind: "leds", leds });
  if (screen.length > 0) parts.push({ kind: "screen", screen });
  if (buttons.length > 0) parts.push({ kind: "buttons", buttons, pressed });
  if (detectsKnocks) parts.push({ kind: "knock", knocked });
  root.hidden = parts.length === 0;
  if (root.childElementCount === 0) root.append(make("section", { class: "card", "aria-labelledby": "panel-title" }, make("h3", { id: "panel-title" }, say("Virtual panel")), make("div", { class: "panel" })));
  keep(root.querySelector(".panel"), parts, (one) => one.kind, (one) => DRAWN[one.kind](one, press));
}

const DRAWN = {
  leds: ({ leds }) => make("div", { class: "column" }, ...leds.map(ledsOf)),
  screen: ({ screen }) => make("pre", { class: "screen", "aria-label": say("Display"), role: "img" }, screen.join("\n")),
  buttons: ({ buttons, pressed }, press) =>
    make("div", { class: "row" }, ...buttons.map((name) => button(keyName(name), () => press(name), { "data-button": name, "aria-pressed": String(pressed.includes(name)) }))),
  knock: ({ knocked }, press) => make("div", { class: "row" }, button(say("Knock on the table"), () => press(null), { id: "panel-knock", "aria-pressed": String(knocked) })),
};

/** Return the name of a button, with the number of its seat if it has one: "Knock 2". */
function keyName(name) {
  const [action, seat] = name.split(" ");
  return [say(NAMES[action] ?? action), seat].filter(Boolean).join(" ");
}

function ledsOf({ shows, colours }) {
  const lamps = colours.map((colour, at) => draw("circle", { cx: RADIUS + 3 + at * STEP, cy: RADIUS + 3, r: RADIUS, fill: colour, class: colour === DARK ? "lamp" : "lamp is-lit" }));
  const size = 2 * (RADIUS + 3);
  const width = size + (colours.length - 1) * STEP;
  const lit = colours.flatMap((colour, at) => (colour === DARK ? [] : [String(at + 1)]));
  const leds = say(LEDS[shows]);
  const words = lit.length === 0 ? say("{leds}: all off", { leds }) : say("{leds}: {lit} on", { leds, lit: lit.join(", ") });
  return draw("svg", { class: "lamps", viewBox: `0 0 ${width} ${size}`, width, height: size, role: "img", "aria-label": words }, ...lamps);
}
