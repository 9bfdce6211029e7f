// Statistics view: plots of one game, and a table of all players over all games.

import { read } from "./api.js";
import { button, foreign, make } from "./dom.js";
import { dateOf, lengthOf, numberOf } from "./measures.js";
import { asTable, barPlot, linePlot } from "./plots.js";
import { plural, say } from "./say.js";
import { goTo } from "./views.js";

const AGAIN_MS = 500;
const MOST_GAMES = 200;
// Some browsers read the file only after the click.
const SAVED_MS = 10_000;

/** The statistics view. */
export class Statistics {
  constructor() {
    Object.assign(this, { asked: 0, timer: 0 });
  }

  hide() {
    this.asked += 1;
    clearTimeout(this.timer);
  }

  async show(root, name) {
    this.hide();
    const asked = this.asked;
    const title = make("h2", {}, say("Statistics"));
    const [choice, game, everybody] = [make("div"), make("div", { class: "plots" }), make("div", { "aria-live": "polite" })];
    root.replaceChildren(title, choice, game, everybody);
    game.append(make("p", { class: "about" }, say("Loading")));
    try {
      const { recordings } = await read("recordings");
      if (asked !== this.asked) return;
      const chosen = recordings.find((one) => one.name === name) ?? recordings[0];
      if (chosen === undefined) return game.replaceChildren(make("p", {}, say("No recordings yet.")));
      choice.append(choiceOf(recordings.slice(0, MOST_GAMES), chosen));
      await this.showGame(game, chosen, asked);
      await this.showEverybody(everybody, asked);
    } catch (error) {
      if (asked === this.asked) game.replaceChildren(make("p", { class: "wrong", role: "alert" }, error.message));
    }
  }

  async showGame(root, chosen, asked) {
    let plots;
    try {
      plots = plotsOf(await read(`recordings/${encodeURIComponent(chosen.name)}/statistics`));
    } catch (error) {
      plots = [make("p", { class: "wrong" }, foreign(error.message))];
    }
    if (asked === this.asked) root.replaceChildren(...plots);
  }

  /** Show all players; request again later while the table is still counting. */
  async showEverybody(root, asked) {
    const told = await read("statistics");
    if (asked !== this.asked) return;
    root.replaceChildren(...everybodyOf(told));
    if (told.left > 0) this.timer = setTimeout(() => this.showEverybody(root, asked).catch(() => {}), AGAIN_MS);
  }
}

function choiceOf(recordings, chosen) {
  const options = recordings.map((one) => {
    const when = one.started_at === null ? one.name : dateOf(one.started_at);
    return make("option", { value: one.name, selected: one === chosen }, `${when} · ${one.game ?? "?"} · ${one.players.join(", ")}`);
  });
  const select = make("select", { id: "statistics-of" }, ...options);
  select.addEventListener("change", () => goTo("statistics", select.value));
  return make("label", { class: "column" }, say("Game"), select);
}

function plotsOf({ players, hands, paid, best }) {
  const names = hands.map((hand) => String(hand.number));
  const by = (key) => players.map((name, seat) => ({ name, worths: hands.map((hand) => hand[key][seat]) }));
  const lines = players.map((name, seat) => ({ name, points: [[0, 0], ...paid.map((one) => [one.t_ms, one.totals[seat]])] }));
  const knocks = by("knocks").some((one) => one.worths.some((worth) => worth > 0));
  return [
    linePlot(say("Points over time"), lines, lengthOf, afterHands(players, hands)),
    barPlot(say("Points per hand"), by("points"), names),
    bestOf(best, players),
    knocks ? barPlot(say("Knocks per hand"), by("knocks"), names) : make("p", { class: "card" }, say("No knocks yet.")),
  ];
}

/** Return a table of the totals after each hand. */
function afterHands(players, hands) {
  const totals = players.map(() => 0);
  const rows = hands.map((hand) => {
    players.forEach((_, seat) => (totals[seat] += hand.points[seat]));
    return [String(hand.number), ...totals];
  });
  return { heads: [say("After hand"), ...players], rows };
}

function bestOf(best, players) {
  const rows = best.map((one) => {
    const about = say("hand {hand}, {time}", { hand: one.hand, time: lengthOf(one.t_ms) });
    const words = make("span", { class: "what" }, foreign(players[one.seat]), ` ${one.tile} `, make("span", { class: "about" }, about));
    return make("li", { class: `seat-${one.seat % 6}` }, words, make("span", { class: "points" }, `+${one.points}`));
  });
  const list = rows.length > 0 ? make("ol", { class: "best" }, ...rows) : make("p", {}, say("No play has scored yet."));
  return make("section", { class: "card" }, make("h3", {}, say("Best plays")), list);
}

function everybodyOf({ players, games, left }) {
  const heads = [say("Player"), say("Games"), say("Won"), say("Points per hand"), say("Points per play"), say("Knocks per hand"), say("Best play")];
  const rows = players.map((one) => {
    return [one.name, one.games, one.won, one.points_per_hand, one.points_per_play, one.knocks_per_hand, one.best];
  });
  const table = asTable(say("All players, all games"), heads, rows);
  table.open = true;
  const about = left > 0 ? say("{count} games counted, {left} remaining", { count: numberOf(games), left }) : plural("{number} game", "{number} games", { number: games });
  return [make("section", { class: "card" }, make("h3", {}, say("All players, all games")), make("p", { class: "about" }, about), table, button(say("Save as CSV"), () => save(csvOf([heads, ...rows]))))];
}

/** Return rows as CSV. A text that a spreadsheet would take for a formula gets an apostrophe in front. */
function csvOf(rows) {
  const cell = (worth) => (typeof worth === "number" ? String(worth) : `"${String(worth ?? "").replace(/^\s*[=+\-@＝＋－＠]/, "'$&").replaceAll('"', '""')}"`);
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function save(text) {
  // With the mark, spreadsheets read UTF-8.
  const url = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  make("a", { href: url, download: "tallybone-statistics.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(url), SAVED_MS);
}
