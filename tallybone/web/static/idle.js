// Television between two matches: name, clock, how to start a match, and the ranking of the last one.

import { byId, make, write } from "./dom.js";
import { codeIfIn, codeOf } from "./pairing.js";
import { language, say } from "./say.js";

// Renew a code well before it expires.
const RENEWED_AFTER = 0.7;
const AGAIN_S = 60;
const TICK_MS = 5000;
const LOOPBACK = /^(localhost|127\.|\[::1\])/;

/** Idle screen of a television. */
export class Idle {
  constructor() {
    Object.assign(this, { timer: 0, isLobby: false, code: make("div", { id: "display-code" }), clock: make("p", { id: "clock" }) });
    const how = LOOPBACK.test(location.host) ? say("Start a match on a phone.") : say("Open {address} on a phone to start a match.", { address: location.host });
    byId("layout-view").append(make("div", { id: "idle" }, make("div", {}, make("p", { class: "wordmark" }, "Tallybone"), this.clock, make("p", {}, how)), this.code));
    write(byId("no-layout"), say("Put the tiles on the table to begin."));
    this.tick();
    setInterval(() => this.tick(), TICK_MS);
  }

  tick() {
    write(this.clock, new Date().toLocaleTimeString(language, { hour: "numeric", minute: "2-digit" }));
  }

  /** Update from a snapshot. */
  show({ match, players }) {
    const isLobby = match.phase === "lobby";
    const lead = (one, other) => (one.seat === match.winner) - (other.seat === match.winner) || one.total - other.total;
    for (const player of players) {
      const row = document.querySelector(`.player[data-key="${player.seat}"]`);
      const place = 1 + players.filter((other) => lead(other, player) > 0).length;
      row.style.order = isLobby ? place : 0;
      const name = row.querySelector(".name");
      if (isLobby) name.dataset.place = `${place}.`;
      else delete name.dataset.place;
    }
    if (isLobby === this.isLobby) return;
    this.isLobby = isLobby;
    clearTimeout(this.timer);
    this.code.replaceChildren();
    if (isLobby) this.renew();
  }

  async renew() {
    const code = await codeIfIn();
    if (!this.isLobby) return;
    this.code.replaceChildren(...(code === null ? [] : [codeOf(code.rows), make("p", {}, say("Scan to start a match"))]));
    this.timer = setTimeout(() => this.renew(), 1000 * (code === null ? AGAIN_S : RENEWED_AFTER * code.lasts_s));
  }
}
