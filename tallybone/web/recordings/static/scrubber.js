// Timeline of a recording: marks at plays, step buttons and playback.

import { button, draw, make } from "./dom.js";
import { lengthOf } from "./measures.js";
import { say } from "./say.js";

const PACES = [1, 4];
const WIDE = 1000;
// Kinds of steps with a mark on the timeline.
const PLAYS = ["play", "stack"];

/** Timeline with the current moment of a recording. */
export class Scrubber {
  /**
   * @param told The recording, from the API.
   * @param onMoment Called with {step, frame, isPlaying} on every change.
   */
  constructor(told, onMoment) {
    Object.assign(this, { told, onMoment, step: -1, t_ms: 0, pace: PACES[0], timer: 0 });
    const first = { type: "range", min: 0, max: Math.max(1, told.length_ms), step: 100, "aria-label": say("Position in the recording") };
    this.range = make("input", first);
    this.range.addEventListener("input", () => this.seek(this.range.valueAsNumber));
    this.time = make("span", { class: "time" });
    this.playing = button("▶", () => this.toggle(), { "aria-label": say("Play"), class: "primary" });
    this.root = make("div", { class: "scrubber", role: "group", "aria-label": say("Time") }, this.marks(), this.range, this.buttons());
  }

  marks() {
    const svg = draw("svg", { class: "time-marks", viewBox: `0 0 ${WIDE} 10`, preserveAspectRatio: "none", "aria-hidden": "true" });
    for (const step of this.told.steps) {
      if (!PLAYS.includes(step.kind)) continue;
      const x = (WIDE * step.t_ms) / Math.max(1, this.told.length_ms);
      svg.append(draw("line", { x1: x, x2: x, y1: step.points > 0 ? 0 : 5, y2: 10, class: step.points > 0 ? "paid" : null }));
    }
    return svg;
  }

  buttons() {
    const paces = PACES.map((pace) => {
      const one = button(`${pace}×`, () => this.setPace(pace), { "aria-pressed": pace === this.pace, "data-pace": pace });
      one.setAttribute("aria-label", say("{pace}× speed", { pace }));
      return one;
    });
    this.paces = make("div", { class: "row", role: "group", "aria-label": say("Speed") }, ...paces);
    for (const one of paces) one.setAttribute("aria-pressed", String(Number(one.dataset.pace) === this.pace));
    const back = button("◀◀", () => this.goTo(this.step - 1), { "aria-label": say("Step back") });
    const next = button("▶▶", () => this.goTo(this.step + 1), { "aria-label": say("Step forward") });
    return make("div", { class: "row scrub-buttons" }, back, this.playing, next, this.paces, this.time);
  }

  /** Go to a step, clamped to the valid range. */
  goTo(step) {
    this.pause();
    if (this.told.steps.length === 0) return this.seek(0);
    const at = Math.max(0, Math.min(this.told.steps.length - 1, step));
    return this.set(this.told.steps[at].t_ms, at, this.told.steps[at].frame);
  }

  /** Go to a time. */
  seek(t_ms) {
    this.set(t_ms, lastAt(this.told.steps, t_ms, (step) => step.t_ms), this.frameAt(t_ms));
  }

  set(t_ms, step, frame) {
    Object.assign(this, { t_ms, step });
    this.range.value = t_ms;
    const where = `${lengthOf(t_ms)} / ${lengthOf(this.told.length_ms)}`;
    this.time.textContent = where;
    this.range.setAttribute("aria-valuetext", `${where} ${this.told.steps[step]?.text ?? ""}`);
    this.onMoment({ step, frame, isPlaying: this.timer !== 0 });
  }

  frameAt(t_ms) {
    const { t_ms: times, every } = this.told.frames;
    const at = lastAt(times, t_ms, (time) => time);
    return at < 0 ? null : at * every;
  }

  setPace(pace) {
    this.pace = pace;
    for (const one of this.paces.children) one.setAttribute("aria-pressed", String(Number(one.dataset.pace) === pace));
  }

  toggle() {
    if (this.timer !== 0) return this.pause();
    if (this.t_ms >= this.told.length_ms) this.seek(0);
    let before = performance.now();
    const on = (now) => {
      const t_ms = Math.min(this.told.length_ms, this.t_ms + (now - before) * this.pace);
      before = now;
      if (t_ms >= this.told.length_ms) this.pause();
      else this.timer = requestAnimationFrame(on);
      this.seek(t_ms);
    };
    this.timer = requestAnimationFrame(on);
    return this.name(say("Pause"), "❚❚");
  }

  pause() {
    cancelAnimationFrame(this.timer);
    this.timer = 0;
    this.name(say("Play"), "▶");
  }

  name(words, sign) {
    this.playing.setAttribute("aria-label", words);
    this.playing.textContent = sign;
  }

  /** Handle a key pressed in the view: arrow keys move between steps. */
  key(event) {
    const isElsewhere = event.target.closest?.("input:not([type=range]), select, textarea, dialog") ?? null;
    const steps = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1 };
    if (isElsewhere !== null || event.altKey || event.ctrlKey || event.metaKey || !(event.key in steps)) return;
    event.preventDefault();
    this.goTo(steps[event.key]);
  }
}

/** Return the index of the last item not later than a time, or -1. */
function lastAt(items, t_ms, timeOf) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(items[middle]) <= t_ms) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
