// Form for a new match: game, players, target and options.

import { Agreed } from "./agreed.js";
import { send } from "./api.js";
import { make, write } from "./dom.js";
import { gameField } from "./game_field.js";
import { agreedField, optionField, setField } from "./option_fields.js";
import { say } from "./say.js";
import { focusSeat, seatsField } from "./seats_field.js";

const TYPED_MS = 600;
// These have their own fields in the form, or follow from the players.
const OWN_PLACE = ["target", "players"];

/** Form for a new match. */
export class MatchForm {
  /**
   * @param shown Available games and options.
   * @param usual Settings of the last match, or null.
   * @param onBegun Called when the match has started.
   */
  constructor(shown, usual, onBegun) {
    Object.assign(this, { agreed: new Agreed(shown, usual), onBegun, isBusy: false, timer: 0, open: new Set() });
    this.root = make("form", { class: "card match-form", novalidate: true, "aria-labelledby": "new-match-title" });
    this.root.addEventListener("submit", (event) => (event.preventDefault(), this.begin()));
    // Pressing commits pending input and redraws the form, so the button must be kept.
    this.button = make("button", { type: "submit", id: "begin", class: "primary" });
    this.fields = make("div", { class: "fields" });
    this.root.append(this.fields, this.button);
    this.draw();
    this.check();
  }

  /** Change a setting, and validate it with the table. */
  change(changes, focus = null) {
    this.agreed.change(changes);
    this.draw(focus);
    return this.check();
  }

  /** Commit typed input. The form is redrawn a moment after the last key, never during typing or pressing. */
  typed(changes) {
    this.agreed.change(changes);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), TYPED_MS);
  }

  choose(game) {
    this.agreed.choose(game);
    this.draw();
    return this.check();
  }

  async check() {
    if (await this.agreed.check()) this.draw();
  }

  async begin() {
    if (this.isBusy) return;
    this.isBusy = true;
    this.draw();
    const answer = await send("match", this.agreed.said);
    this.isBusy = false;
    if (answer?.isDone) return this.onBegun();
    if (answer !== null) this.agreed.refuse(answer.told);
    this.draw();
    this.root.querySelector("[aria-invalid]")?.focus();
  }

  /** Draw the form; keep the focus, or move it to a seat. */
  draw(focus = null) {
    const held = this.root.contains(document.activeElement) ? document.activeElement : null;
    for (const one of this.root.querySelectorAll("details")) {
      this.open[one.open ? "add" : "delete"](one.dataset.group);
    }
    const [id, seat, marked] = [held?.id, held?.dataset.seat, [held?.selectionStart ?? null, held?.selectionEnd ?? null]];
    this.fields.replaceChildren(...this.parts());
    this.button.disabled = this.isBusy;
    write(this.button, this.isBusy ? say("Starting") : say("Start the match"));
    if (focus !== null) focusSeat(this.root, focus);
    else if (seat !== undefined) goOnAt(this.root.querySelector(`[data-seat="${seat}"]`), marked);
    else if (id) goOnAt(this.root.querySelector(`#${CSS.escape(id)}`), marked);
  }

  parts() {
    const { agreed } = this;
    const general = agreed.faults.filter((one) => this.isGeneral(one.field)).map((one) => (one.field ? `${one.field}: ${one.text}` : one.text));
    const target = agreed.shown.options.find((one) => one.key === "target");
    const others = agreed.options.filter((one) => !OWN_PLACE.includes(one.key));
    return [
      make("h3", { id: "new-match-title" }, say("New match")),
      gameField(agreed.shown.games, agreed.said.game, (game) => this.choose(game)),
      seatsField(() => agreed.said.players, agreed.range, agreed.faultOf("players"), {
        typed: (players) => this.typed({ players }),
        change: (players, focus) => this.change({ players }, focus),
      }),
      optionField(target, this.at()),
      setField(agreed.said.set, agreed.valueOf("set"), agreed.faultOf("set"), (set) => this.change({ set })),
      agreedField(others, agreed.game.variations, this.at(), this.open),
      make("p", { class: "wrong", role: "alert" }, general.join(" ")),
    ];
  }

  at() {
    const { agreed } = this;
    const optionsWith = (key, text) => ({ options: { ...agreed.said.options, [key]: text } });
    return {
      valueOf: (key) => agreed.valueOf(key),
      usualOf: (key) => agreed.usualOf(key),
      faultOf: (key) => agreed.faultOf(key),
      change: (key, text) => this.change(optionsWith(key, text)),
      typed: (key, text) => this.typed(optionsWith(key, text)),
    };
  }

  isGeneral(key) {
    return key === "" || (key !== "players" && this.root.querySelector(`#option-${CSS.escape(key)}, #${CSS.escape(key)}`) === null);
  }
}

/** Restore the focus and the text selection. */
function goOnAt(field, [start, end]) {
  field?.focus();
  if (start !== null) field?.setSelectionRange?.(start, end);
}
