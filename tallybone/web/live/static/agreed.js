// Settings of a new match: game, players and options, validated by the table.

import { read } from "./api.js";
import { say } from "./say.js";

/** Settings of a match that is being set up, and their validation. */
export class Agreed {
  /** *shown* lists the available games and options; *usual* holds the settings of the last match, or null. */
  constructor(shown, usual) {
    Object.assign(this, { shown, faults: [], checked: null, asked: 0 });
    const first = [1, 2].map((number) => nameOf(number));
    this.said = usual ?? { game: shown.games[0].game, options: {}, players: first, set: "auto" };
  }

  get game() {
    return this.shown.games.find((one) => one.game === this.said.game) ?? this.shown.games[0];
  }

  /** Options that apply to this game. */
  get options() {
    const matters = new Set((this.checked ?? this.game).values.filter((one) => one.matters).map((one) => one.key));
    return this.shown.options.filter((one) => matters.has(one.key));
  }

  /** Minimum and maximum number of players. */
  get range() {
    const counts = this.checked?.seats.length ? this.checked.seats : this.game.seats;
    return { least: counts[0], most: counts.at(-1) };
  }

  /** Change a setting, and discard the previous validation. */
  change(changes) {
    this.said = { ...this.said, ...changes };
    this.asked += 1;
  }

  /** Choose a game, and reset all options. */
  choose(game) {
    const { seats } = this.shown.games.find((one) => one.game === game);
    const players = this.said.players.slice(0, seats.at(-1));
    while (players.length < seats[0]) players.push(nameOf(players.length + 1));
    this.checked = null;
    this.change({ game, players, options: {} });
  }

  /** Validate with the table; false if there is no answer, or the settings changed meanwhile. */
  async check() {
    const query = new URLSearchParams({ players: this.said.players.length });
    for (const [key, text] of Object.entries(this.said.options)) query.append("option", `${key}=${text}`);
    const asked = (this.asked += 1);
    const checked = await read(`games/${encodeURIComponent(this.said.game)}?${query}`).catch(() => null);
    if (checked === null || asked !== this.asked) return false;
    this.faults = checked.faults;
    if (checked.values.length > 0) {
      this.checked = checked;
      this.said.options = Object.fromEntries(checked.changed);
    }
    return true;
  }

  /** Store the reason why the match was not started. */
  refuse({ faults, error }) {
    this.faults = faults ?? [{ field: "", text: error }];
  }

  valueOf(key) {
    return this.said.options[key] ?? (this.checked ?? this.game).values.find((one) => one.key === key)?.value ?? "";
  }

  usualOf(key) {
    return this.game.values.find((one) => one.key === key)?.value ?? "";
  }

  faultOf(key) {
    const words = this.faults.filter((one) => one.field === key).map((one) => one.text);
    return words.length === 0 ? null : words.join(" ");
  }
}

function nameOf(number) {
  return say("Player {number}", { number });
}
