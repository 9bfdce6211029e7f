// Recordings view: the list, or one recording step by step.

import { read } from "./api.js";
import { foreign, make } from "./dom.js";
import { gameName } from "./games.js";
import { dateOf, lengthOf, sizeOf } from "./measures.js";
import { backLink, winnerStar } from "./recording_desk.js";
import { ReplayView } from "./replay.js";
import { plural, say } from "./say.js";
import { addressOf } from "./views.js";

/** The recordings view; results are shown on *toast*. */
export class Recordings {
  constructor(toast) {
    Object.assign(this, { toast, replay: null, asked: 0 });
  }

  async show(root, name) {
    this.hide();
    const asked = ++this.asked;
    const title = make("h2", {}, say("Recordings"));
    root.replaceChildren(title, make("p", { class: "about" }, say("Loading")));
    try {
      const told = await read(name === "" ? "recordings" : `recordings/${encodeURIComponent(name)}`);
      if (asked !== this.asked) return;
      if (name === "") root.replaceChildren(title, ...listOf(told));
      else this.replay = new ReplayView(root, told, this.toast);
    } catch (error) {
      if (asked !== this.asked) return;
      root.replaceChildren(title, make("p", { class: "wrong", role: "alert" }, error.message), backLink());
    }
  }

  hide() {
    this.asked += 1;
    this.replay?.close();
    this.replay = null;
  }
}

function listOf({ recordings, others, size_bytes }) {
  if (recordings.length + others.length === 0) return [make("p", {}, say("No recordings yet."))];
  const all = plural("{number} recording, {size}", "{number} recordings, {size}", { number: recordings.length, size: sizeOf(size_bytes) });
  const broken = others.map((words) => make("li", { class: "wrong" }, foreign(words)));
  return [
    make("p", { class: "about" }, all),
    make("ol", { class: "recordings" }, ...recordings.map(rowOf)),
    broken.length > 0 ? make("ul", {}, ...broken) : "",
  ];
}

function rowOf(one) {
  const link = make("a", { href: addressOf("recordings", one.name), class: "recording" });
  const state = one.running ? make("span", { class: "running" }, say("being recorded")) : null;
  const game = one.game === null ? say("damaged at the start") : gameName(one.game);
  link.append(make("span", { class: "when" }, one.started_at === null ? foreign(one.name) : dateOf(one.started_at)), " ");
  link.append(make("span", { class: "of-game" }, foreign(game)), " ", state ?? "", state === null ? "" : " ", resultOf(one), " ");
  link.append(make("span", { class: "about" }, `${lengthOf(one.length_ms)} · ${sizeOf(one.size_bytes)}`));
  const damage = one.damage.map((words) => make("p", { class: "damage" }, say("Damaged: {words}", { words })));
  return make("li", {}, link, ...damage);
}

/** Return the totals with the winner marked. */
function resultOf(one) {
  const parts = one.players.flatMap((name, seat) => {
    const points = one.totals?.[seat];
    const won = one.winner === seat ? winnerStar() : null;
    return [seat > 0 ? make("span", {}, " · ") : null, won, foreign(name), points === undefined ? null : ` ${points}`];
  });
  return make("span", { class: "result" }, ...parts);
}
