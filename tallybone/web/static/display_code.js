// Pairing code on a television between two matches, shown only if the PIN was entered on that television.

import { byId, make } from "./dom.js";
import { codeIfIn, codeOf } from "./pairing.js";
import { say } from "./say.js";

// Renew a code well before it expires.
const RENEWED_AFTER = 0.7;
const AGAIN_S = 60;

/** Pairing code shown by a television to people who want to start a match. */
export class DisplayCode {
  constructor() {
    Object.assign(this, { timer: 0, isLobby: false });
  }

  /** Update from a snapshot. */
  follow({ match }) {
    const isLobby = match.phase === "lobby";
    if (isLobby === this.isLobby) return;
    this.isLobby = isLobby;
    clearTimeout(this.timer);
    byId("display-code").replaceChildren();
    if (isLobby) this.renew();
  }

  async renew() {
    const code = await codeIfIn();
    if (!this.isLobby) return;
    byId("display-code").replaceChildren(...(code === null ? [] : [codeOf(code.rows), make("p", {}, say("Scan to start a match"))]));
    this.timer = setTimeout(() => this.renew(), 1000 * (code === null ? AGAIN_S : RENEWED_AFTER * code.lasts_s));
  }
}
