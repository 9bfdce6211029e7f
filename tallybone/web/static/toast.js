// Message at the foot of the page, with an undo or redo button for ten seconds.

import { button, byId, make } from "./dom.js";
import { say } from "./say.js";

const SHOWN_MS = 10_000;

/** A message at the foot of the page; one at a time. */
export class Toast {
  constructor() {
    Object.assign(this, { timer: 0, onHide: () => {} });
    this.box = byId("toast");
    // Stays while it has the focus or the pointer.
    for (const [name, isHeld] of [["pointerenter", true], ["pointerleave", false], ["focusin", true], ["focusout", false]]) {
      this.box.addEventListener(name, () => this.hold(isHeld));
    }
  }

  /** Show a result; *onUndo* undoes it, or is null. *words* is the text of its button. */
  done(text, onUndo = null, words = say("Undo")) {
    const back = onUndo === null ? null : button(words, () => (this.hide(), onUndo()), { class: "undo" });
    this.show("is-done", text, back);
  }

  /** Show an error. */
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
    this.onHide();
  }
}
