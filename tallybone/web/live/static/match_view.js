// Match view: the current match, an unfinished one, a rematch, and a new one.

import { read, send } from "./api.js";
import { button, foreign, make, write } from "./dom.js";
import { FirstRun } from "./first_run.js";
import { gameName } from "./games.js";
import { dateOf } from "./measures.js";
import { MatchForm } from "./match_form.js";
import { say } from "./say.js";
import { goTo } from "./views.js";

// While the table searches its recordings for an unfinished match.
const LOOKS_MS = 1500;

/** The match view; results are shown on *toast*, and *shown* returns the current snapshot. */
export class MatchView {
  constructor(toast, shown) {
    Object.assign(this, { toast, shown, root: null, games: null, phase: null, isOver: false, asked: 0 });
  }

  /** Show the current choices. */
  async show(root) {
    this.root = root;
    const match = this.shown()?.match;
    Object.assign(this, { phase: match?.phase ?? null, isOver: match?.over ?? false });
    // Draw only the newer of two answers, to preserve typed input.
    const asked = (this.asked += 1);
    if (root.childElementCount === 0) root.append(make("h2", {}, say("Match")), make("p", { class: "about" }, say("Loading")));
    try {
      this.games ??= await read("games");
      const offered = await read("match");
      if (this.root !== root || asked !== this.asked) return;
      this.draw(offered);
      if (offered.is_looking) setTimeout(() => this.lookAgain(root), LOOKS_MS);
    } catch (error) {
      root.replaceChildren(make("h2", {}, say("Match")), make("p", { class: "wrong", role: "alert" }, error.message));
    }
  }

  /** Add the unfinished match once the table has found it, preserving typed input. */
  async lookAgain(root) {
    if (this.root !== root) return;
    const { playing, left, is_looking: isLooking } = await read("match").catch(() => ({ is_looking: true }));
    if (this.root !== root) return;
    if (isLooking) setTimeout(() => this.lookAgain(root), LOOKS_MS);
    else if (!playing && left !== null && root.querySelector("#go-on") === null) root.querySelector("h2").after(this.left(left));
  }

  hide() {
    this.root = null;
  }

  /** Update from a snapshot: the choices change when a match starts or ends. */
  follow(snapshot) {
    const isNew = (snapshot.match.phase === "lobby") !== (this.phase === "lobby") || snapshot.match.over !== this.isOver;
    Object.assign(this, { isOver: snapshot.match.over });
    if (this.root !== null && isNew) this.show(this.root);
    this.phase = snapshot.match.phase;
  }

  draw({ playing, over, usual, left }) {
    const parts = [make("h2", {}, say("Match"))];
    if (playing) parts.push(this.played(over));
    if (!playing && left !== null) parts.push(this.left(left));
    if (!playing && left === null && usual === null) parts.push(new FirstRun().root);
    if ((!playing || over) && usual !== null) parts.push(this.again(usual));
    if (!playing || over) parts.push(new MatchForm(this.games, usual, () => this.begun()).root);
    this.root.replaceChildren(...parts);
  }

  played(isOver) {
    const { match, players } = this.shown();
    const heading = isOver ? say("This match is over") : say("Match in progress");
    const end = button(say("End this match"), () => this.end(), { id: "end-match", class: "danger" });
    const back = button(say("To the table"), () => goTo("table"));
    const hint = isOver ? null : make("p", { class: "about" }, say("You can resume a match after you end it."));
    return card(heading, scoreOf(match.game, players.map((one) => [one.name, one.total])), hint, make("div", { class: "row" }, back, end));
  }

  left({ game, players, totals, left_at: at }) {
    const when = dateOf(at);
    const go = button(say("Resume"), () => this.goOn(), { id: "go-on", class: "primary" });
    const scores = scoreOf(game, players.map((name, seat) => [name, totals[seat]]));
    return card(say("Unfinished match"), scores, make("p", { class: "about" }, say("Stopped {when}. Put the tiles back as they were, or continue with the next hand.", { when })), make("div", { class: "row" }, go));
  }

  again(usual) {
    const target = usual.options.target;
    const words = target === undefined ? gameName(usual.game) : say("{game} to {target}", { game: gameName(usual.game), target });
    const begin = button(say("Start again"), (event) => this.begin(usual, event.target), { id: "again", class: "primary" });
    const who = make("p", {}, words, ": ", ...usual.players.flatMap((name, seat) => [seat === 0 ? "" : ", ", foreign(name)]));
    return card(say("Usual match"), who, make("p", { class: "wrong", role: "alert" }), make("div", { class: "row" }, begin));
  }

  async begin(usual, pressed) {
    pressed.disabled = true;
    write(pressed, say("Starting"));
    const answer = await send("match", usual);
    pressed.disabled = false;
    write(pressed, say("Start again"));
    if (answer?.isDone) this.begun();
    else if (answer !== null) write(pressed.closest(".card").querySelector(".wrong"), answer.told.error);
  }

  begun() {
    this.toast.done(say("Match started. The table shows the new PIN."));
    goTo("table");
  }

  async goOn() {
    const answer = await send("match/goes_on");
    if (answer?.isDone) {
      this.toast.done(say("Match resumed."));
      goTo("table");
    } else if (answer !== null) this.toast.failed(answer.told.error);
  }

  async end() {
    const answer = await send("match/end");
    if (answer?.isDone) this.toast.done(say("Match ended."), this.isOver ? null : () => this.goOn());
    else if (answer !== null) this.toast.failed(answer.told.error);
  }
}

function card(heading, ...children) {
  return make("section", { class: "card" }, make("h3", {}, heading), ...children);
}

function scoreOf(game, scores) {
  const ones = scores.map(([name, total]) => make("li", {}, foreign(name), " ", make("strong", {}, String(total))));
  return make("div", { class: "row" }, make("strong", { class: "game-name" }, gameName(game)), make("ul", { class: "row scores-in-a-row" }, ...ones));
}
