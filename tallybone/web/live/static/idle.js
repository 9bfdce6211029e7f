// Television between two matches: name, clock, how to start a match, and the ranking of the last one.

import { read } from "./api.js";
import { byId, make, write } from "./dom.js";
import { codeIfIn, codeOf } from "./pairing.js";
import { locale, say } from "./say.js";

// Renew a code well before it expires.
const RENEWED_AFTER = 0.7;
const AGAIN_S = 60;
const TICK_MS = 5000;
// Whether the television runs on the computer of the table, whose address is then of no use to a phone.
export const isHere = /^(localhost|127\.|\[::1\])/.test(location.host);

/** Idle screen of a television. */
export class Idle {
  constructor() {
    Object.assign(this, { timer: 0, isLobby: false, code: make("div", { id: "display-code" }), clock: make("p", { id: "clock" }) });
    this.how = make("p", {}, isHere ? "" : howAt(location.host));
    byId("layout-view").append(make("div", { id: "idle" }, make("div", {}, make("p", { class: "wordmark" }, "Tallybone"), this.clock, this.how), this.code));
    write(byId("no-layout"), say("Put the tiles on the table to begin."));
    this.tick();
    setInterval(() => this.tick(), TICK_MS);
  }

  tick() {
    write(this.clock, new Date().toLocaleTimeString(locale, { hour: "numeric", minute: "2-digit" }));
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
    const [code, address] = await Promise.all([codeIfIn(), read("address").catch(() => null)]);
    if (!this.isLobby) return;
    if (isHere) write(this.how, howWith(address));
    const rows = code?.rows ?? address?.rows ?? [];
    const words = code === null ? say("Scan to watch") : say("Scan to start a match");
    this.code.replaceChildren(...(rows.length === 0 ? [] : [codeOf(rows), make("p", {}, words)]));
    this.timer = setTimeout(() => this.renew(), 1000 * (code === null ? AGAIN_S : RENEWED_AFTER * code.lasts_s));
  }
}

function howAt(host) {
  return say("Open {address} on a phone to start a match.", { address: host });
}

/** Return how to start a match from a phone, for a television on the table's own computer. */
function howWith(address) {
  if (address === null) return say("Start a match on a phone.");
  if (address.is_closed) return say("Phones cannot reach this page. To let them, start the table with --at {port}.", { port: address.port });
  return address.url === null ? say("Connect this computer to a network, to start a match on a phone.") : howAt(new URL(address.url).host);
}
