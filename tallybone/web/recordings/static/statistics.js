// Statistics view: plots of one game, and over all games a table of all players and the figures of one or two.

import { read } from "./api.js";
import { button, foreign, make } from "./dom.js";
import { gameName } from "./games.js";
import { dateOf, lengthOf, numberOf } from "./measures.js";
import { asTable, barPlot, linePlot } from "./plots.js";
import { plural, say } from "./say.js";
import { goTo } from "./views.js";

const AGAIN_MS = 500;
const MAX_GAMES = 200;
// Some browsers read the file only after the click.
const SAVED_MS = 10_000;

/** The statistics view. */
export class Statistics {
  constructor() {
    Object.assign(this, { asked: 0, timer: 0, compared: [] });
  }

  hide() {
    this.asked += 1;
    clearTimeout(this.timer);
  }

  async show(root, name) {
    this.hide();
    const asked = this.asked;
    const title = make("h2", {}, say("Statistics"));
    const [choice, game, everybody] = [make("div"), make("div", { class: "plots" }), make("div", { class: "people", "aria-live": "polite" })];
    root.replaceChildren(title, choice, game, everybody);
    game.append(make("p", { class: "about" }, say("Loading")));
    try {
      const { recordings } = await read("recordings");
      if (asked !== this.asked) return;
      const chosen = recordings.find((one) => one.name === name) ?? recordings[0];
      if (chosen === undefined) return game.replaceChildren(make("p", {}, say("No recordings yet.")));
      choice.append(choiceOf(recordings.slice(0, MAX_GAMES), chosen));
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
    root.replaceChildren(everybodyOf(told), ...(told.left > 0 ? [] : [profileOf(told, this.compared)]));
    if (told.left > 0) this.timer = setTimeout(() => this.showEverybody(root, asked).catch(() => {}), AGAIN_MS);
  }
}

function choiceOf(recordings, chosen) {
  const options = recordings.map((one) => {
    const when = one.started_at === null ? one.name : dateOf(one.started_at);
    return make("option", { value: one.name, selected: one === chosen }, `${when} · ${one.game === null ? "?" : gameName(one.game)} · ${one.players.join(", ")}`);
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
  const heads = [say("Player"), say("Games"), say("Won"), say("Rating"), say("Points per hand"), say("Points per play"), say("Knocks per hand"), say("Best play")];
  const rows = players.map((one) => [one.name, one.games, one.won, ratingOf(one), one.points_per_hand, one.points_per_play, one.knocks_per_hand, one.best]);
  const table = asTable(say("All players, all games"), heads, rows);
  table.open = true;
  const about = left > 0 ? say("{count} games counted, {left} remaining", { count: numberOf(games), left }) : plural("{number} game", "{number} games", { number: games });
  const saving = button(say("Save as CSV"), () => save("statistics", [saved(heads), ...players.map(savedOf)]));
  return make("section", { class: "card" }, make("h3", {}, say("All players, all games")), make("p", { class: "about" }, about), table, saving);
}

/** Return the head of the file of all players: that of the table, with more columns. */
function saved([player, games, won, rating, ...others]) {
  return [player, games, won, rating, say("Rating deviation"), say("Streak"), say("Longest winning streak"), ...others];
}

function savedOf(one) {
  return [one.name, one.games, one.won, one.rating, one.deviation, one.streak, one.longest_streak, one.points_per_hand, one.points_per_play, one.knocks_per_hand, one.best];
}

function ratingOf({ rating, deviation }) {
  return rating === null ? "–" : `${numberOf(rating)}\u00a0±\u00a0${numberOf(deviation)}`;
}

function streakOf({ streak }) {
  if (streak === 0) return "–";
  return streak > 0 ? plural("{number} win", "{number} wins", { number: streak }) : plural("{number} loss", "{number} losses", { number: -streak });
}

/** Return the figures of a player, beside those of another if chosen; *compared* keeps their names. */
function profileOf({ players, pairs }, compared) {
  const names = players.map((one) => one.name);
  const card = make("section", { class: "card" }, make("h3", {}, say("One player, or two")));
  if (players.length === 0) return card;
  const figures = make("div");
  const draw = () => {
    const shown = [...new Set(compared)].map((name) => players.find((one) => one.name === name)).filter((one) => one !== undefined);
    const table = asTable(say("One player, or two"), [say("Player"), ...shown.map((one) => one.name)], rowsOf(shown, pairs));
    table.open = true;
    figures.replaceChildren(table);
  };
  if (!names.includes(compared[0])) compared[0] = names[0];
  const chooser = (at, label, offered) => {
    const options = offered.map((name) => make("option", { value: name, selected: name === (compared[at] ?? "") }, name));
    const select = make("select", { id: `profile-${at}` }, ...options);
    select.addEventListener("change", () => ((compared[at] = select.value), draw()));
    return make("label", { class: "column" }, label, select);
  };
  draw();
  const heads = [say("Player"), say("Against"), say("Matches"), say("Finished ahead"), say("Finished behind")];
  const rows = pairs.map((one) => [one.player, one.other, one.games, one.ahead, one.behind]);
  const saving = button(say("Save all pairs as CSV"), () => save("pairs", [heads, ...rows]));
  card.append(make("div", { class: "compared" }, chooser(0, say("Player"), names), chooser(1, say("Compare with"), ["", ...names])), figures, saving);
  return card;
}

function rowsOf(shown, pairs) {
  const row = (head, of) => [head, ...shown.map(of)];
  const [one, other] = shown.map((player) => player.name);
  const met = pairs.find((pair) => pair.player === one && pair.other === other);
  const against = met === undefined ? [] : [[say("Matches against each other"), met.games, met.games], [say("Finished ahead"), met.ahead, met.behind]];
  return [
    row(say("Games"), (player) => player.games),
    row(say("Won"), (player) => player.won),
    ...against,
    row(say("Rating"), ratingOf),
    row(say("Streak"), streakOf),
    row(say("Longest winning streak"), (player) => player.longest_streak),
    row(say("Points per hand"), (player) => player.points_per_hand),
    row(say("Best play"), (player) => (player.best_tile === null ? "–" : `${player.best_tile}\u00a0+${player.best}`)),
  ];
}

/** Return rows as CSV. A text that a spreadsheet would take for a formula gets an apostrophe in front. */
function csvOf(rows) {
  const cell = (worth) => (typeof worth === "number" ? String(worth) : `"${String(worth ?? "").replace(/^\s*[=+\-@＝＋－＠]/, "'$&").replaceAll('"', '""')}"`);
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function save(name, rows) {
  // With the mark, spreadsheets read UTF-8.
  const url = URL.createObjectURL(new Blob(["\ufeff", csvOf(rows)], { type: "text/csv" }));
  make("a", { href: url, download: `tallybone-${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(url), SAVED_MS);
}
