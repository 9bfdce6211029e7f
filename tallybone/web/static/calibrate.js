// The view on which camera and table are calibrated: what to do, what is seen, and what is decided, step by step.

import { read, send } from "./api.js";
import { button, byId, foreign, keep, make, write } from "./dom.js";
import { later, say, sentence } from "./say.js";
import { Sight } from "./calibrate_sight.js";
import { ZoneEditor } from "./zones.js";

const PAUSE_MS = 200;
const AFTER_FAILURE_MS = 2000;
const TITLES = { lens: later("Lens"), table: later("Table"), zones: later("Zones"), light: later("Light"), knock: later("Knocks") };

/** The view in its element *root*; what goes wrong is said on *toast*. */
export class CalibrateView {
  constructor(root, toast) {
    Object.assign(this, { toast, timer: 0, isOpen: false, isBusy: false, shown: null });
    this.build(root);
    document.addEventListener("visibilitychange", () => this.isOpen && !document.hidden && this.follow());
  }

  open() {
    this.isOpen = true;
    this.follow();
  }

  close() {
    this.isOpen = false;
    clearTimeout(this.timer);
  }

  build(root) {
    this.sight = new Sight();
    this.zones = new ZoneEditor(this.sight, this.toast, () => this.follow());
    root.append(
      make("h2", {}, say("Calibration")),
      make("div", { id: "calibrate-none", class: "card", hidden: true },
        make("p", { id: "calibrate-why" }),
        make("p", { class: "about" }, say("A calibration is begun at the terminal: {command}", { command: "tallybone calibrate guide --serve" }))),
      make("div", { id: "calibrate-course", class: "course", hidden: true },
        make("ol", { id: "calibrate-steps", "aria-label": say("Steps") }),
        make("section", { class: "card", "aria-labelledby": "calibrate-title" },
          make("h3", { id: "calibrate-title", tabindex: -1 }),
          make("p", { id: "calibrate-todo", class: "todo", role: "status" }),
          this.sight.root,
          make("p", { id: "calibrate-refused", class: "wrong", role: "alert" }),
          make("ul", { id: "calibrate-seen", class: "sees", "aria-live": "polite" }),
          this.zones.root,
          make("div", { id: "calibrate-choices", class: "row" }))),
    );
  }

  /** Ask how it stands, now and again and again while somebody looks. */
  async follow() {
    clearTimeout(this.timer);
    if (!this.isOpen || document.hidden) return;
    let pause = PAUSE_MS;
    try {
      this.show(await read("calibration"));
    } catch (error) {
      this.tell(error.message);
      pause = AFTER_FAILURE_MS;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.follow(), pause);
  }

  /** Tell why there is nothing to show; "" where there is. */
  tell(problem) {
    byId("calibrate-course").hidden = problem !== "";
    byId("calibrate-none").hidden = problem === "";
    write(byId("calibrate-why"), sentence(problem, []));
  }

  show(shown) {
    if (this.shown !== null && shown.version < this.shown.version) return;
    this.shown = shown;
    this.tell("");
    const isOver = shown.stage === "over";
    keep(byId("calibrate-steps"), shown.steps.map((one) => ({ ...one, isNow: one.name === shown.step })), (one) => one.name, (one) => this.step(one));
    write(byId("calibrate-title"), isOver ? say("All steps are done") : say(TITLES[shown.step]));
    write(byId("calibrate-todo"), this.todo(shown));
    write(byId("calibrate-refused"), shown.refused === "" ? "" : say("Not yet: {why}.", { why: shown.refused }));
    const seen = isOver ? shown.known : shown.problem === null ? shown.seen : [shown.problem];
    keep(byId("calibrate-seen"), seen.map((words, at) => ({ words, at })), (one) => one.at, (one) => make("li", {}, foreign(one.words)));
    this.sight.root.hidden = isOver || shown.picture === null || shown.step === "knock";
    this.sight.show(shown);
    this.zones.show(shown);
    this.showChoices(shown);
  }

  /** Show what can be decided; whoever has just decided is taken to what comes of it. */
  showChoices(shown) {
    const box = byId("calibrate-choices");
    const wasHere = box.contains(document.activeElement);
    const choices = shown.choices.map((one, at) => ({ ...one, isFirst: at === 0, step: shown.step, stage: shown.stage }));
    keep(box, choices, (one) => one.press, (one) => this.choice(one));
    if (wasHere && !box.contains(document.activeElement)) byId("calibrate-title").focus();
  }

  todo(shown) {
    if (shown.stage === "measures") return say("Measuring. This takes a moment.");
    if (shown.stage === "over") return say("Everything is kept. Any step can be done again.");
    return shown.todo.join(" ");
  }

  step(one) {
    const sign = one.isNow ? "▸" : one.outcome === null ? "·" : one.skipped ? "–" : "✓";
    const words = make("span", {}, make("b", {}, say(TITLES[one.name])), make("small", {}, foreign(one.outcome ?? "")));
    const go = button(make("span", { class: "sign-of", "aria-hidden": "true" }, sign), () => this.decide("calibration/step", { step: one.name }), {
      class: `step${one.isNow ? " is-now" : ""}${one.skipped || one.outcome === null ? "" : " is-done"}`, "aria-current": one.isNow ? "step" : null,
    }, words);
    return make("li", {}, go);
  }

  choice({ press, words, isFirst, step, stage }) {
    return button(sentence(words, []), () => this.decide("calibration/press", { press, step, stage }), { class: isFirst ? "primary" : null });
  }

  /** Send a decision; one that came too late changes nothing, and what there is now is shown. */
  async decide(path, asked) {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      await this.zones.settle();
      const answer = await send(path, asked);
      if (answer !== null && !answer.isDone) this.toast.failed(answer.told.error);
    } finally {
      this.isBusy = false;
    }
    this.follow();
  }
}
