// Short scenes on a television for rare events: the end of a hand or match, a steal and a spell.

import { byId, draw, foreign, make } from "./dom.js";
import { later, say } from "./say.js";
import { tileFace } from "./tile.js";
import { isStill } from "./zoom.js";

const SCENE_MS = 1900;
const TITLES = {
  match: later("Match won!"),
  domino: later("Domino!"),
  block: later("Blocked"),
  steal: later("Stolen!"),
  spell: later("A spell!"),
};
const PARTS = { match: star, domino: fallingTiles, block: meetingTiles, steal: stackedTiles, spell: arms };

/** Plays the scene of each new message once. */
export class Scenes {
  constructor() {
    this.newest = null;
  }

  /** Play the scene of a snapshot after *delay* milliseconds. Messages of the first snapshot are old. */
  show({ messages, last, match, players }, delay) {
    const newest = this.newest;
    this.newest = messages[0]?.id ?? 0;
    const message = newest === null ? undefined : messages.find(({ id, scene }) => id > newest && scene !== null);
    if (message === undefined || isStill()) return;
    const seat = message.scene === "match" ? match.winner : last?.seat;
    const name = message.scene === "block" ? undefined : players.find((player) => player.seat === seat)?.name;
    play(message.scene, name ?? "", delay);
  }
}

function play(scene, name, delay) {
  const parts = PARTS[scene]();
  const emblem = make("div", { class: "emblem" }, ...parts.map(([part]) => part));
  const root = make("div", { class: "scene", "data-scene": scene, "aria-hidden": "true" }, emblem, make("p", {}, say(TITLES[scene])), foreign(name));
  byId("layout-view").append(root);
  for (const [part, transform, start, duration] of parts) part.animate({ transform }, { delay: delay + start, duration, easing: "ease-in", fill: "both" });
  const shown = root.animate({ opacity: [0, 1, 1, 0], offset: [0, 0.12, 0.85, 1] }, { delay, duration: SCENE_MS, fill: "both" });
  shown.finished.finally(() => root.remove());
}

/** Return the parts of an emblem: an element, its transforms, and the start and duration of its motion in milliseconds. */
function fallingTiles() {
  return [0, 1, 2, 3, 4, 5].map((pips) => [tile([pips, pips + 1]), ["none", `rotate(${90 - 5 * (5 - pips)}deg)`], 250 + 110 * pips, 380]);
}

function meetingTiles() {
  return [[tile([6, 2]), ["translateX(-12rem)", "translateX(0.6rem)", "none"], 150, 700], [tile([5, 3]), ["translateX(12rem)", "translateX(-0.6rem)", "none"], 150, 700]];
}

function stackedTiles() {
  return [[tile([5, 5]), ["none", "none"], 0, 1], [tile([5, 0]), ["translate(0, -12rem) rotate(-30deg)", "translate(-60%, -8%) rotate(-6deg)"], 200, 600]];
}

function arms() {
  return [0, 1, 2, 3, 4, 5].map((arm) => [make("span", { class: "arm" }), [`rotate(${60 * arm - 120}deg) scale(0)`, `rotate(${60 * arm}deg) scale(1)`], 150 + 60 * arm, 700]);
}

function star() {
  return [[make("span", { class: "star" }, "★"), ["scale(0) rotate(-144deg)", "scale(1.25)", "none"], 150, 800]];
}

function tile(pips) {
  return draw("svg", { viewBox: "-1.1 -2.1 2.2 4.2" }, tileFace(pips));
}
