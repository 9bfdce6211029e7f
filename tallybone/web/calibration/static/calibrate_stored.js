// Stored calibration: its parts, a check, earlier versions, and a button to calibrate again.

import { TITLES } from "./calibrate_parts.js";
import { send } from "./api.js";
import { button, foreign, keep, make, write } from "./dom.js";
import { dateOf } from "./measures.js";
import { say } from "./say.js";

export class Stored {
  /** Errors are shown on *toast*; *begun* is called when a calibration starts. */
  constructor(toast, begun) {
    Object.assign(this, { toast, begun, isBusy: false });
    this.title = make("h3", { tabindex: -1, id: "stored-title" }, say("Current calibration"));
    this.about = make("p", { class: "about" });
    this.known = make("ul", { class: "known" });
    this.wrong = make("p", { class: "wrong", role: "alert" });
    this.begin = button(say("Calibrate step by step"), () => this.ask("calibration", {}, () => this.begun()), { id: "calibrate-begin", class: "primary" });
    this.check = button(say("Check the calibration"), () => this.compare(), { id: "calibrate-check" });
    this.learned = make("span", { id: "learned-knocks" });
    this.forget = button(say("Forget these knocks"), () => this.ask("calibration/forget", {}, () => this.toast.done(say("Forgot the knocks learned in matches."))), { id: "calibrate-forget", "aria-describedby": "learned-knocks" });
    this.knocks = make("p", { class: "row", hidden: true }, this.learned, this.forget);
    this.found = make("ul", { class: "sees", id: "calibrate-found", role: "status" });
    this.earlier = make("ul", { class: "earlier" });
    this.before = make("section", { class: "card", "aria-labelledby": "earlier-title" }, make("h3", { id: "earlier-title" }, say("Earlier calibrations")), this.earlier);
    this.root = make("div", { id: "calibrate-stored", hidden: true },
      make("section", { class: "card", "aria-labelledby": "stored-title" }, this.title, this.about, this.known, this.knocks, this.wrong, make("div", { class: "row" }, this.begin, this.check), this.found),
      this.before);
  }

  show({ camera, written_at: writtenAt, known, learned, problem, earlier }) {
    this.root.hidden = false;
    write(this.about, `${camera} · ${writtenAt === null ? say("nothing yet") : dateOf(writtenAt)}`);
    keep(this.known, known.map((words, at) => ({ text: words, at })), (one) => one.at, (one) => make("li", {}, foreign(one.text)));
    write(this.learned, learned.join(" "));
    this.knocks.hidden = learned.length === 0;
    write(this.wrong, problem ?? "");
    this.check.hidden = known.length === 0;
    this.before.hidden = earlier.length === 0;
    keep(this.earlier, earlier, (one) => one.number, (one) => this.line(one));
  }

  line({ number, written_at: writtenAt, parts, problem }) {
    const what = problem ?? (parts.map((name) => say(TITLES[name])).join(", ") || say("nothing yet"));
    const back = button(say("Restore"), () => this.ask("calibration/restore", { number }, () => this.toast.done(say("Restored. The calibration it replaced is now first under \"Earlier calibrations\"."))), { "aria-describedby": `earlier-${number}` });
    return make("li", {}, make("span", { id: `earlier-${number}` }, make("b", {}, writtenAt === "" ? "–" : dateOf(writtenAt)), " ", foreign(what)), problem === null ? back : null);
  }

  async compare() {
    this.found.replaceChildren(make("li", {}, say("Checking. This takes a few seconds.")));
    await this.ask("calibration/check", {}, (told) => {
      const signs = told.map(({ well, text: words }) => make("li", { class: well ? "" : "wrong" }, make("span", { "aria-hidden": "true" }, well ? "✓ " : "! "), foreign(words)));
      this.found.replaceChildren(...signs);
    }, () => this.found.replaceChildren());
  }

  /** Send one request at a time, and pass its result to *does*. */
  async ask(path, asked, does, otherwise = () => {}) {
    if (this.isBusy) return;
    this.isBusy = true;
    this.root.setAttribute("aria-busy", "true");
    const answer = await send(path, asked);
    this.isBusy = false;
    this.root.removeAttribute("aria-busy");
    if (answer?.isDone) return void does(answer.told);
    otherwise();
    if (answer !== null) this.toast.failed(answer.told.error);
  }
}
