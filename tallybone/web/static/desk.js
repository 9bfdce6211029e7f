// Sends what somebody puts right to the table, asks for the PIN where it is needed, and offers the way back.

import { send } from "./api.js";
import { say } from "./say.js";

// A second tap so soon after the first is the same tap.
const ONE_TAP_MS = 400;
const UNDO = { type: "press", button: "undo", seat: null };

/** Where actions of this page go through. */
export class Desk {
  /** Say what was done on *toast*; *shown* returns the snapshot that is shown. */
  constructor(toast, shown) {
    Object.assign(this, { toast, shown, isBusy: false, doneAt: -ONE_TAP_MS });
  }

  /**
   * Do something.
   *
   * @param action What the table is sent.
   * @param said What to say when it is done.
   * @param version That of the snapshot in which it was asked for.
   */
  async act(action, said, version = this.shown().version) {
    if (this.isBusy || performance.now() - this.doneAt < ONE_TAP_MS) return;
    this.isBusy = true;
    const answer = await send("actions", { action, if_version: version });
    if (answer !== null) this.tell(answer.status, answer.told, action, said);
    Object.assign(this, { isBusy: false, doneAt: performance.now() });
  }

  tell(status, told, action, said) {
    if (status !== 200) {
      this.toast.failed(told.error);
      return;
    }
    // A new hand is no action of a player: what takes it back is the button.
    const back = told.back ?? (action.button === "next" ? UNDO : null);
    this.toast.done(said, back === null ? null : () => this.takeBack(back, told.version));
  }

  /** Take something back, unless the table has moved on since. */
  takeBack(back, version) {
    this.doneAt = -ONE_TAP_MS;
    return this.act(back, say("Taken back."), version);
  }
}
