// The form of a new match: which game, who plays, to how many points, and what is agreed otherwise.

import { read, send } from "./api.js";
import { make, write } from "./dom.js";
import { gameField } from "./game_field.js";
import { agreedField, optionField, setField } from "./option_fields.js";
import { say } from "./say.js";
import { focusSeat, seatsField } from "./seats_field.js";

const TYPED_MS = 600;
// These have places of their own in the form, or are said by who sits there.
const OWN_PLACE = ["target", "players"];

/** A match that is being set up. */
export class MatchForm {
  /**
   * @param shown The games and options that there are.
   * @param usual How the last one was begun; null for none.
   * @param onBegun Called when it has begun.
   */
  constructor(shown, usual, onBegun) {
    Object.assign(this, { shown, onBegun, faults: [], checked: null, isBusy: false, timer: 0, open: new Set(), asked: 0 });
    this.root = make("form", { class: "card match-form", novalidate: true, "aria-labelledby": "new-match-title" });
    this.root.addEventListener("submit", (event) => (event.preventDefault(), this.begin()));
    // What is typed last is taken when this is pressed, and the form drawn anew: it must be the same button still.
    this.button = make("button", { type: "submit", id: "begin", class: "primary" });
    this.fields = make("div", { class: "fields" });
    this.root.append(this.fields, this.button);
    const first = [1, 2].map((number) => say("Player {number}", { number }));
    this.said = usual ?? { game: shown.games[0].game, options: {}, players: first, set: "auto" };
    this.draw();
    this.check();
  }

  get game() {
    return this.shown.games.find((one) => one.game === this.said.game) ?? this.shown.games[0];
  }

  /** Change something, and ask the table what holds then. */
  change(changes, focus = null) {
    this.said = { ...this.said, ...changes };
    this.draw(focus);
    return this.check();
  }

  /** Take what is typed: all is drawn anew a moment after the last key, and not while somebody types or presses. */
  typed(changes) {
    this.said = { ...this.said, ...changes };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), TYPED_MS);
  }

  /** Choose a game: what was agreed otherwise belongs to the one before. */
  choose(game) {
    const { seats } = this.shown.games.find((one) => one.game === game);
    const players = this.said.players.slice(0, seats.at(-1));
    while (players.length < seats[0]) players.push(say("Player {number}", { number: players.length + 1 }));
    this.checked = null;
    return this.change({ game, players, options: {} });
  }

  async check() {
    const query = new URLSearchParams({ players: this.said.players.length });
    for (const [key, text] of Object.entries(this.said.options)) query.append("option", `${key}=${text}`);
    const asked = (this.asked += 1);
    const checked = await read(`games/${encodeURIComponent(this.said.game)}?${query}`).catch(() => null);
    if (checked === null || asked !== this.asked) return;
    this.faults = checked.faults;
    if (checked.values.length > 0) {
      this.checked = checked;
      this.said.options = Object.fromEntries(checked.changed);
    }
    this.draw();
  }

  async begin() {
    if (this.isBusy) return;
    this.isBusy = true;
    this.draw();
    const answer = await send("match", this.said);
    this.isBusy = false;
    if (answer?.isDone) return this.onBegun();
    if (answer !== null) this.faults = answer.told.faults ?? [{ field: "", words: answer.told.error }];
    this.draw();
    this.root.querySelector("[aria-invalid]")?.focus();
  }

  /** Draw the form; the focus stays where it is, or goes to a seat. */
  draw(focus = null) {
    const held = this.root.contains(document.activeElement) ? document.activeElement : null;
    for (const one of this.root.querySelectorAll("details")) {
      this.open[one.open ? "add" : "delete"](one.dataset.group);
    }
    const [id, seat, marked] = [held?.id, held?.dataset.seat, [held?.selectionStart ?? null, held?.selectionEnd ?? null]];
    this.fields.replaceChildren(...this.parts());
    this.button.disabled = this.isBusy;
    write(this.button, this.isBusy ? say("It begins") : say("Begin the match"));
    if (focus !== null) focusSeat(this.root, focus);
    else if (seat !== undefined) goOnAt(this.root.querySelector(`[data-seat="${seat}"]`), marked);
    else if (id) goOnAt(this.root.querySelector(`#${CSS.escape(id)}`), marked);
  }

  parts() {
    const counts = this.checked?.seats.length ? this.checked.seats : this.game.seats;
    const range = { least: counts[0], most: counts.at(-1) };
    const general = this.faults.filter((one) => this.isGeneral(one.field)).map((one) => (one.field ? `${one.field}: ${one.words}` : one.words));
    return [
      make("h3", { id: "new-match-title" }, say("New match")),
      gameField(this.shown.games, this.said.game, (game) => this.choose(game)),
      seatsField(() => this.said.players, range, this.faultOf("players"), {
        typed: (players) => this.typed({ players }),
        change: (players, focus) => this.change({ players }, focus),
      }),
      this.target(),
      setField(this.said.set, this.valueOf("set"), this.faultOf("set"), (set) => this.change({ set })),
      this.others(),
      make("p", { class: "wrong", role: "alert" }, general.join(" ")),
    ];
  }

  target() {
    const option = this.shown.options.find((one) => one.key === "target");
    return optionField(option, this.at());
  }

  others() {
    const matters = new Set((this.checked ?? this.game).values.filter((one) => one.matters).map((one) => one.key));
    const options = this.shown.options.filter((one) => !OWN_PLACE.includes(one.key) && matters.has(one.key));
    return agreedField(options, this.game.variations, this.at(), this.open);
  }

  at() {
    return {
      valueOf: (key) => this.valueOf(key),
      usualOf: (key) => this.game.values.find((one) => one.key === key)?.value ?? "",
      faultOf: (key) => this.faultOf(key),
      change: (key, text) => this.change({ options: { ...this.said.options, [key]: text } }),
      typed: (key, text) => this.typed({ options: { ...this.said.options, [key]: text } }),
    };
  }

  valueOf(key) {
    return this.said.options[key] ?? (this.checked ?? this.game).values.find((one) => one.key === key)?.value ?? "";
  }

  faultOf(key) {
    const words = this.faults.filter((one) => one.field === key).map((one) => one.words);
    return words.length === 0 ? null : words.join(" ");
  }

  isGeneral(key) {
    return key === "" || (key !== "players" && this.root.querySelector(`#option-${CSS.escape(key)}, #${CSS.escape(key)}`) === null);
  }
}

/** Put the focus, and what is typed next or marked, where it was. */
function goOnAt(field, [start, end]) {
  field?.focus();
  if (start !== null) field?.setSelectionRange?.(start, end);
}
