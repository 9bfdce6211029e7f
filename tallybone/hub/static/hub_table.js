// Card of a table: game, players, score, turn, and connection state.

import { foreign, make, totalOf } from "./dom.js";
import { gameName } from "./games.js";
import { locale, say } from "./say.js";

/** Normalize a text for searching: lower case without accents. */
export function folded(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Return the card of a table; players matching *key* are highlighted. */
export function tableCard(table, key) {
  const card = make("li", { class: `card table-card is-${stateOf(table)}` });
  const head = make("div", { class: "card-head" }, make("h3", {}, nameOf(table)), make("p", { class: "sign" }, signOf(table)));
  const players = make("ul", { class: "card-players" }, ...table.players.map((player) => rowOf(player, key, table.provisional)));
  card.append(head, players);
  if (table.asks !== null) card.append(make("p", { class: "asks" }, foreign(table.asks)));
  else if (table.last !== null) card.append(make("p", { class: "about card-last" }, foreign(table.last)));
  card.append(make("p", { class: "about card-foot" }, aboutOf(table)));
  return card;
}

/** Return the name of a table, which leads to its page if others can reach that. */
function nameOf({ name, page }) {
  return page === null ? foreign(name) : make("a", { href: page, target: "_blank", rel: "noopener noreferrer" }, foreign(name));
}

function stateOf(table) {
  if (!table.online) return "offline";
  if (table.playing) return "playing";
  return table.over ? "over" : "free";
}

function signOf(table) {
  if (!table.online) return say("Offline");
  if (table.playing) return say("Playing");
  return table.over ? say("Finished") : say("Free");
}

function rowOf(player, key, isProvisional) {
  const isFound = key !== "" && folded(player.name).includes(key);
  const marks = [player.turn ? "has-turn" : "", player.won ? "has-won" : "", isFound ? "is-found" : ""];
  const about = [player.team === null ? "" : say("team {team}", { team: player.team + 1 })];
  if (player.turn) about.unshift(say("turn"));
  if (player.won) about.unshift(say("won"));
  const words = about.filter((one) => one !== "").join(" · ");
  return make(
    "li",
    { class: marks.filter((one) => one !== "").join(" ") },
    make("span", { class: "who-name" }, foreign(player.name), words === "" ? null : make("span", { class: "about" }, words)),
    make("span", { class: "points-so-far" }, ...totalOf(player.total, isProvisional ? say("provisional") : null)),
  );
}

function aboutOf(table) {
  const parts = [];
  if (table.changed !== null) parts.push(say("last heard from at {time}", { time: timeOf(table.changed) }));
  if (table.game !== "") {
    const game = gameName(table.game);
    parts.push(table.target === null ? game : say("{game} to {target}", { game, target: table.target }));
  }
  if (table.hand !== null) parts.push(say("hand {hand}", { hand: table.hand }));
  return parts.join(" · ");
}

/** Return a time of day, with the date if it is not today. */
function timeOf(text) {
  const at = new Date(text);
  const isToday = at.toDateString() === new Date().toDateString();
  const day = isToday ? {} : { day: "numeric", month: "short" };
  return at.toLocaleString(locale, { ...day, hour: "2-digit", minute: "2-digit" });
}
