// Players in seating order: names can be edited, moved, added and removed.

import { button, make } from "./dom.js";
import { say } from "./say.js";

const MAX_NAME = 40;

/**
 * Return the list of players.
 *
 * @param now Returns the current names by seat, including typed input.
 * @param seats {least, most} number of players.
 * @param fault Error message, or null.
 * @param at {typed(players), change(players, {seat, part})}: called when a name is typed, and when the list
 *   changes, with the new focus.
 */
export function seatsField(now, { least, most }, fault, at) {
  const players = now();
  const up = (seat) => now().with(seat, now()[seat - 1]).with(seat - 1, now()[seat]);
  const rows = players.map((name, seat) => {
    const input = make("input", { type: "text", maxlength: MAX_NAME, value: name, autocomplete: "off", "data-seat": seat });
    input.setAttribute("aria-label", say("Name at seat {seat}", { seat: seat + 1 }));
    input.setAttribute("aria-describedby", fault === null ? "seats-hint" : "seats-hint seats-wrong");
    if (fault !== null) input.setAttribute("aria-invalid", "true");
    input.addEventListener("input", () => at.typed(now().with(seat, input.value)));
    const move = key("up", "↑", say("Move {name} up", { name }), seat > 0, () => at.change(up(seat), { seat: seat - 1, part: "up" }));
    const out = key("out", "✕", say("Remove {name}", { name }), players.length > least, () =>
      at.change(now().toSpliced(seat, 1), { seat: Math.max(0, seat - 1), part: "name" }),
    );
    return make("li", { class: "seat-row" }, make("span", { class: "seat-number", "aria-hidden": "true" }, String(seat + 1)), input, move, out);
  });
  const more =
    players.length >= most
      ? make("p", { class: "about" }, say("At most {number} players", { number: most }))
      : button(say("Add a player"), () => at.change([...now(), fresh(now())], { seat: now().length, part: "name" }));
  return make(
    "fieldset",
    { class: "part" },
    make("legend", {}, say("Players")),
    make("p", { class: "about", id: "seats-hint" }, say("Enter them as they sit: clockwise, starting at the bottom of the camera picture.")),
    make("ol", { class: "seats" }, ...rows),
    fault === null ? null : make("p", { class: "wrong", id: "seats-wrong" }, fault),
    make("div", { class: "row" }, more),
  );
}

/** Restore the focus after the list was rebuilt. */
export function focusSeat(root, { seat, part }) {
  const row = root.querySelectorAll(".seat-row")[seat];
  const wanted = row?.querySelector(part === "name" ? "input" : `[data-part="${part}"]`);
  (wanted ?? row?.querySelector("input"))?.focus();
}

/** Return a button, or a placeholder if it has no effect. */
function key(part, sign, label, isOn, does) {
  return isOn ? button(sign, does, { class: "cross", "aria-label": label, "data-part": part }) : make("span", { class: "cross" });
}

/** Return an unused name. */
function fresh(players) {
  for (let number = players.length + 1; ; number += 1) {
    const name = say("Player {number}", { number });
    if (!players.includes(name)) return name;
  }
}
