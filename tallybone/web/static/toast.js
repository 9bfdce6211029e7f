// Says at the foot of the page what was done, with a way back for ten seconds.

import { button, byId, make } from "./dom.js";
import { say } from "./say.js";

const SHOWN_MS = 10_000;

/** What is said at the foot; there is one at a time. */
export class Toast {
  constructor() {
    this.timer = 0;
    this.box = byId("toast");
    // It waits while somebody is at it: nobody has to be quick.
    for (const [name, isHeld] of [["pointerenter", true], ["pointerleave", false], ["focusin", true], ["focusout", false]]) {
      this.box.addEventListener(name, () => this.hold(isHeld));
    }
  }

  /** Say what was done; *onUndo* takes it back, null where that cannot be. */
  done(text, onUndo = null) {
    const back = onUndo === null ? null : button(say("Undo"), () => (this.hide(), onUndo()), { class: "undo" });
    this.show("is-done", text, back);
  }

  /** Say what went wrong. */
  failed(text) {
    this.show("is-failed", text, button(say("Dismiss"), () => this.hide()));
  }

  show(name, text, child) {
    this.box.replaceChildren(make("p", { class: name }, make("bdi", {}, text)), ...(child === null ? [] : [child]));
    this.box.hidden = false;
    this.hold(false);
  }

  hold(isHeld) {
    clearTimeout(this.timer);
    if (!isHeld) this.timer = setTimeout(() => this.hide(), SHOWN_MS);
  }

  hide() {
    clearTimeout(this.timer);
    this.box.hidden = true;
    this.box.replaceChildren();
  }
}
