// Calibration in progress: instructions, camera image and choices of each step.

import { send } from "./api.js";
import { TITLES } from "./calibrate_parts.js";
import { Sight } from "./calibrate_sight.js";
import { TileEditor } from "./calibrate_tiles.js";
import { button, byId, foreign, keep, make, write } from "./dom.js";
import { say, sentence } from "./say.js";
import { ZoneEditor } from "./zones.js";

export class CalibrateCourse {
  /** Errors are shown on *toast*; *changed* is called after each choice. */
  constructor(toast, changed) {
    Object.assign(this, { toast, changed, isBusy: false, shown: null });
    this.sight = new Sight();
    this.zones = new ZoneEditor(this.sight, toast, changed);
    this.tiles = new TileEditor(this.sight, toast, changed);
    this.root = make("div", { id: "calibrate-course", class: "course", hidden: true },
      make("ol", { id: "calibrate-steps", "aria-label": say("Steps") }),
      make("section", { class: "card", "aria-labelledby": "calibrate-title" },
        make("h3", { id: "calibrate-title", tabindex: -1 }),
        make("p", { id: "calibrate-todo", class: "todo", role: "status" }),
        this.sight.root,
        make("p", { id: "calibrate-refused", class: "wrong", role: "alert" }),
        make("ul", { id: "calibrate-seen", class: "sees", "aria-live": "polite" }),
        this.zones.root,
        this.tiles.root,
        make("div", { id: "calibrate-choices", class: "row" })));
  }

  show(shown) {
    if (this.shown !== null && shown.version < this.shown.version) return;
    this.shown = shown;
    const isOver = shown.stage === "over";
    keep(byId("calibrate-steps"), shown.steps.map((one) => ({ ...one, isNow: one.name === shown.step })), (one) => one.name, (one) => this.step(one));
    write(byId("calibrate-title"), isOver ? say("All steps are done") : say(TITLES[shown.step]));
    write(byId("calibrate-todo"), this.todo(shown));
    write(byId("calibrate-refused"), shown.refused === "" ? "" : say("Not yet: {why}.", { why: shown.refused }));
    const seen = isOver ? shown.known : shown.problem === null ? shown.seen : [shown.problem];
    keep(byId("calibrate-seen"), seen.map((words, at) => ({ text: words, at })), (one) => one.at, (one) => make("li", {}, foreign(one.text)));
    this.sight.root.hidden = isOver || shown.picture === null || shown.step === "knock";
    this.sight.show(shown);
    this.zones.show(shown);
    this.tiles.show(shown);
    this.showChoices(shown);
  }

  /** Forget the state shown, because each calibration counts its own versions. */
  forget() {
    this.shown = null;
  }

  /** Show the choices. After a choice, move the focus to the result. */
  showChoices(shown) {
    const box = byId("calibrate-choices");
    const wasHere = box.contains(document.activeElement);
    const choices = shown.choices.map((one, at) => ({ ...one, isFirst: at === 0, step: shown.step, stage: shown.stage }));
    keep(box, choices, (one) => one.press, (one) => this.choice(one));
    if (wasHere && !box.contains(document.activeElement)) byId("calibrate-title").focus();
  }

  todo(shown) {
    if (shown.stage === "measures") return say("Measuring. This takes a moment.");
    if (shown.stage === "over") return say("Everything is saved. You can repeat any step.");
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

  choice({ press, text: words, isFirst, step, stage }) {
    return button(sentence(words, []), () => this.decide("calibration/press", { press, step, stage }), { class: isFirst ? "primary" : null });
  }

  /** Send a choice. If it is outdated, nothing changes and the current state is shown. */
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
    this.changed();
  }
}
