// A code to scan on a television between two matches, if somebody has typed the PIN there: others must not have one.

import { byId, make } from "./dom.js";
import { codeIfIn, codeOf } from "./pairing.js";
import { say } from "./say.js";

// A code is renewed well before it ends.
const RENEWED_AFTER = 0.7;
const AGAIN_S = 60;

/** What a television shows to those who want to begin a match. */
export class DisplayCode {
  constructor() {
    Object.assign(this, { timer: 0, isLobby: false });
  }

  /** Take a snapshot. */
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
    byId("display-code").replaceChildren(...(code === null ? [] : [codeOf(code.rows), make("p", {}, say("Scan it to begin a match"))]));
    this.timer = setTimeout(() => this.renew(), 1000 * (code === null ? AGAIN_S : RENEWED_AFTER * code.lasts_s));
  }
}
