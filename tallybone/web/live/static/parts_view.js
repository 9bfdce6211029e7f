// Parts view: virtual parts, and a guided test of all parts.

import { read, send } from "./api.js";
import { button, foreign, keep, make, write } from "./dom.js";
import { login } from "./login.js";
import { drawPanel } from "./panel.js";
import { later, say } from "./say.js";

const EVERY_MS = 400;
const KEYS = { y: later("Yes"), n: later("No"), a: later("Again"), s: later("Skip"), q: later("Stop the test") };
const CALLED = { ok: later("works"), failed: later("failed"), skipped: later("skipped") };
const OUTCOMES = { ok: ["ok", "✓"], failed: ["problem", "✕"], skipped: ["not there", "–"] };

/** The parts view; errors are shown on *toast*. */
export class PartsView {
  constructor(toast) {
    Object.assign(this, { toast, timer: 0, isShown: false, isRunning: false });
  }

  show(root) {
    this.isShown = true;
    if (root.childElementCount === 0) this.build(root);
    this.look();
  }

  hide() {
    this.isShown = false;
    clearTimeout(this.timer);
  }

  build(root) {
    this.panel = make("div", { class: "panel-box" });
    this.enter = button(say("Show the virtual panel (needs the PIN)"), async () => (await login()) && this.look(), { id: "see-panel" });
    this.begin = button(say("Test the parts"), () => this.send("parts/test"), { id: "test-parts", class: "primary" });
    this.said = make("ol", { class: "said" });
    this.keys = make("div", { class: "row", id: "test-keys" });
    this.results = make("ul", { class: "findings" });
    this.wrong = make("p", { class: "wrong", role: "alert" });
    const about = make("p", { class: "about" }, say("Tests each LED, button, knock sensor and display in turn. You press, knock and confirm what you see."));
    const test = make("section", { class: "card", "aria-labelledby": "test-title" }, make("h3", { id: "test-title" }, say("Test")), about, this.begin, make("div", { "aria-live": "polite" }, this.said), this.keys, this.wrong, this.results);
    root.append(make("h2", {}, say("Parts")), test, this.enter, this.panel);
  }

  async look() {
    clearTimeout(this.timer);
    try {
      const [me, test] = await Promise.all([read("me"), read("parts/test")]);
      this.draw(test);
      this.enter.hidden = me.controls;
      this.panel.hidden = !me.controls;
      if (me.controls) drawPanel(this.panel, await read("panel"), (pressed) => this.send("panel", { button: pressed }));
      write(this.wrong, "");
    } catch (error) {
      write(this.wrong, error.message);
    }
    if (this.isShown) this.timer = setTimeout(() => this.look(), EVERY_MS);
  }

  draw({ running, lines, keys, results }) {
    const held = this.keys.contains(document.activeElement);
    this.begin.hidden = running;
    keep(this.said, lines.map((words, at) => ({ text: words, at })), (one) => one.at, (one) => make("li", {}, foreign(one.text)));
    keep(this.keys, keys, (key) => key, (key) => button(say(KEYS[key]), () => this.send("parts/test/answer", { key }), { "data-answer": key, class: key === "q" ? "danger" : "" }));
    keep(this.results, results, (one) => one.part, resultOf);
    // Keep the focus on the answers for keyboard users.
    if (held && !this.keys.contains(document.activeElement)) (this.keys.querySelector("button") ?? this.begin).focus();
    this.said.scrollTop = this.said.scrollHeight;
  }

  async send(path, asked = {}) {
    const answer = await send(path, asked);
    if (answer !== null && !answer.isDone) this.toast.failed(answer.told.error);
    if (this.isShown) this.look();
  }
}

function resultOf({ part, outcome, text: words }) {
  const [grade, sign] = OUTCOMES[outcome];
  const head = make("p", { class: "finding-head" }, make("span", { class: "sign", "aria-hidden": "true" }, sign), make("strong", {}, foreign(part)), make("small", {}, say(CALLED[outcome])));
  return make("li", { class: "card finding", "data-grade": grade }, head, make("p", {}, foreign(words)));
}
