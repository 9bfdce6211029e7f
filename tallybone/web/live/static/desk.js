// Sends actions and corrections to the table, asks for the PIN if needed, and offers to undo.

import { send } from "./api.js";
import { say } from "./say.js";

// Ignore a second tap within this time.
const ONE_TAP_MS = 400;
const UNDO = { type: "press", button: "undo", seat: null };

/** Sends the actions of this page. */
export class Desk {
  /** Results are shown on *toast*; *shown* returns the current snapshot, *changed* redraws the keys. `counting` is an unfinished count of a hand, or null. */
  constructor(toast, shown, changed) {
    toast.onHide = () => this.offer(null);
    Object.assign(this, { changed, toast, shown, isBusy: false, doneAt: -ONE_TAP_MS, counting: null, redo: null });
  }

  /**
   * Send an action; resolves to the answer, or null if the person cancelled or another action is pending.
   *
   * @param action The action.
   * @param said Message to show on success.
   * @param version Version of the snapshot on which the action is based.
   */
  async act(action, said, version = this.shown().version) {
    if (this.isBusy || performance.now() - this.doneAt < ONE_TAP_MS) return null;
    this.isBusy = true;
    const answer = await send("actions", { action, if_version: version });
    if (answer !== null) this.tell(answer.status, answer.told, action, said);
    Object.assign(this, { isBusy: false, doneAt: performance.now() });
    return answer;
  }

  tell(status, told, action, said) {
    if (status !== 200) {
      this.toast.failed(told.error);
      return;
    }
    // A new hand is not a player's action; it is undone with the button.
    const back = told.back ?? (action.button === "next" ? UNDO : null);
    const isUndo = action.button === "undo";
    const does = back === null ? null : () => this.takeBack(back, told.version, isUndo ? say("Redone.") : say("Undone."));
    this.toast.done(said, does, isUndo ? say("Redo") : say("Undo"));
    this.offer(isUndo && does !== null ? { does, log: back.log, names: this.undoing } : null);
  }

  /** Undo the last action; *names* are its name and its short name. A redo is offered while the message is shown. */
  undo(names) {
    this.undoing = names;
    return this.act(UNDO, names[0] === "" ? say("Undone.") : say("Undone: {what}.", { what: names[0] }));
  }

  offer(redo) {
    this.redo = redo;
    this.changed();
  }

  /** Return true if the last undo can be reverted; not once another action followed it. */
  canRedo(plays) {
    return this.redo !== null && plays.every(({ seq }) => seq < this.redo.log);
  }

  /** Withdraw the message that offers a redo, once another action followed the undo. */
  follow({ plays }) {
    if (this.redo !== null && !this.canRedo(plays)) this.toast.hide();
  }

  /** Undo an action, unless the table has moved on. */
  takeBack(back, version, said) {
    this.doneAt = -ONE_TAP_MS;
    return this.act(back, said, version);
  }
}
