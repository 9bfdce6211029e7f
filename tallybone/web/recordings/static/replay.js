// A recording step by step: image, layout, scores and events of the same moment.

import { read } from "./api.js";
import { button, foreign, keep, make, totalOf, write } from "./dom.js";
import { evidenceOf } from "./evidence.js";
import { drawFelt, emptyFelt } from "./felt.js";
import { gameName } from "./games.js";
import { lengthOf } from "./measures.js";
import { aboutRecording, backLink, winnerStar } from "./recording_desk.js";
import { say, sentence } from "./say.js";
import { Scrubber } from "./scrubber.js";
import { tileIcon } from "./tile.js";

const MAX_KEPT = 300;

/** View of a recording. */
export class ReplayView {
  /**
   * @param root Element to show it in.
   * @param told The recording, from the API.
   * @param toast Shows results.
   */
  constructor(root, told, toast) {
    Object.assign(this, { told, moments: new Map(), step: -1, wanted: -1, hand: null, isAsking: false });
    this.base = `recordings/${encodeURIComponent(told.name)}`;
    this.leave = new AbortController();
    this.felt = emptyFelt(say("Layout"));
    this.picture = make("img", { alt: say("Camera picture"), class: "recorded" });
    this.players = make("ul", { class: "replay-players" });
    this.says = make("p", { class: "replay-says", role: "status" });
    this.evidence = make("div", { class: "replay-evidence", hidden: !told.steps.some((one) => one.evidence) });
    this.list = make("ol", { class: "replay-steps" });
    this.scrubber = new Scrubber(told, (moment) => this.turn(moment));
    root.replaceChildren(...this.parts(toast));
    window.addEventListener("keydown", (event) => this.scrubber.key(event), { signal: this.leave.signal });
    this.scrubber.goTo(0);
  }

  /** Close the view. */
  close() {
    this.leave.abort();
    this.scrubber.pause();
  }

  parts(toast) {
    const { told } = this;
    const title = make("h2", {}, foreign(told.game === null ? say("No game") : gameName(told.game)), ` · ${lengthOf(told.length_ms)}`);
    const running = told.running ? make("p", { class: "running" }, say("Still recording: later actions are not shown here.")) : null;
    const complaints = told.complaints.map((words) => make("li", {}, foreign(words)));
    const broken = complaints.length > 0 ? make("ul", { class: "damage" }, ...complaints) : null;
    const shows = make("div", { class: "replay-shows" }, make("div", { class: "felt" }, this.felt), make("div", { class: "stage" }, this.picture));
    const steps = make("section", { class: "card", "aria-label": say("Actions") }, this.list);
    const seen = make("div", { class: "replay-seen" }, shows, this.scrubber.root, this.says, this.evidence);
    const beside = make("div", { class: "replay-beside" }, make("div", { class: "card" }, this.players), steps);
    const whole = make("div", { class: "replay" }, seen, beside);
    const about = aboutRecording(told, toast, () => this.hand ?? 1);
    return [backLink(), title, running, broken, whole, about].filter((one) => one !== null);
  }

  /** Show a moment {step, frame, isPlaying}. */
  turn({ step, frame, isPlaying }) {
    this.says.setAttribute("aria-live", isPlaying ? "off" : "polite");
    this.showFrame(frame);
    if (step === this.wanted) return;
    this.wanted = step;
    this.showSteps(step);
    const one = this.told.steps[step];
    write(this.says, one === undefined ? "" : `${lengthOf(one.t_ms)} ${sentence(one.text, this.told.players)}`);
    this.evidence.replaceChildren(...(one?.evidence ? [evidenceOf(`${this.base}/steps/${step}/evidence.jpg`, one)] : []));
    this.ask();
  }

  /** Show an image. While one is loading, only the newest request is kept. */
  showFrame(number) {
    this.frame = number;
    this.picture.parentElement?.toggleAttribute("hidden", this.told.frames.count === 0);
    if (number === null || number === this.shownFrame || this.isLoading) return;
    this.isLoading = true;
    const loader = new Image();
    const done = () => {
      Object.assign(this, { isLoading: false, shownFrame: number });
      if (loader.naturalWidth > 0) this.picture.src = loader.src;
      this.showFrame(this.frame);
    };
    loader.addEventListener("load", done);
    loader.addEventListener("error", done);
    loader.src = `/api/v1/${this.base}/frames/${number}.jpg`;
  }

  /** Request the state after a step, one request at a time, and show it. */
  async ask() {
    if (this.isAsking || this.wanted < 0 || this.wanted === this.step) return;
    const step = this.wanted;
    this.isAsking = true;
    try {
      const moment = this.moments.get(step) ?? (await read(`${this.base}/steps/${step}`));
      this.moments.set(step, moment);
      if (this.moments.size > MAX_KEPT) this.moments.delete(this.moments.keys().next().value);
      this.show(moment);
    } catch (error) {
      write(this.says, error.message);
    } finally {
      Object.assign(this, { isAsking: false, step });
    }
    if (!this.leave.signal.aborted) this.ask();
  }

  show(moment) {
    const { tiles, ends } = drawFelt(this.felt, moment.layout, null);
    const values = ends.map((end) => end.value).join(", ");
    this.felt.setAttribute("aria-label", say("Layout: {tiles} tiles; open ends: {ends}", { tiles: tiles.length, ends: values || say("none") }));
    const players = moment.players.map((player) => ({ ...player, provisional: moment.match.provisional }));
    keep(this.players, players, (player) => player.seat, (player) => playerOf(player, moment.match));
  }

  /** List the events of a step's hand, and mark the step. */
  showSteps(step) {
    const hand = this.told.steps[step]?.hand ?? 0;
    if (hand !== this.hand) {
      this.hand = hand;
      const own = this.told.steps.map((one, at) => ({ ...one, at })).filter((one) => one.hand === hand);
      this.list.replaceChildren(...own.map((one) => this.rowOf(one)));
    }
    for (const row of this.list.children) {
      const isHere = Number(row.dataset.at) === step;
      const one = row.firstElementChild;
      if (isHere) one.setAttribute("aria-current", "step");
      else one.removeAttribute("aria-current");
      if (isHere) this.list.scrollTop = row.offsetTop - this.list.clientHeight / 2;
    }
  }

  rowOf(one) {
    const points = one.points ? make("span", { class: "points" }, say("+{points}", { points: one.points })) : null;
    const own = one.seat === null ? "" : ` seat-${one.seat % 6}`;
    const row = button("", () => this.scrubber.goTo(one.at), { class: `play${own}${one.irregular ? " is-irregular" : ""}` });
    row.append(make("span", { class: "about" }, lengthOf(one.t_ms)), one.pips ? tileIcon(one.pips) : make("span", { class: "no-tile" }));
    row.append(" ", foreign(sentence(one.text, this.told.players), { class: "what" }));
    if (points !== null) row.append(" ", points);
    return make("li", { "data-at": one.at }, row);
  }
}

function playerOf(player, match) {
  const won = match.winner === player.seat ? winnerStar() : null;
  const turn = player.turn ? make("span", { class: "about" }, say("turn")) : null;
  const name = make("span", { class: "name" }, won, foreign(player.name));
  return make("li", { class: `seat-${player.seat % 6}${player.turn ? " has-turn" : ""}` }, name, " ", turn, " ", make("span", { class: "total" }, ...totalOf(player.total, player.provisional ? say("provisional") : null)));
}
