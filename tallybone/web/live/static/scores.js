// Scoreboard: names, totals, tally marks, turn, status, and the last play with its count.

import { button, byId, foreign, keep, make, totalOf, write, writeLong } from "./dom.js";
import { gameName } from "./games.js";
import { drawMarks } from "./marks.js";
import { plural, say, sentence } from "./say.js";
import { tileIcon } from "./tile.js";

/** Show the scores of a snapshot; *onSeat* is called with a tapped player, or is null if corrections are disabled. */
export function showScores(snapshot, onSeat) {
  const match = snapshot.match;
  write(byId("game"), gameOf(match));
  write(byId("hand"), handOf(match));
  const waits = byId("waits");
  const names = snapshot.players.map((player) => player.name);
  writeLong(waits, sentence(snapshot.waits_for ?? "", names));
  waits.classList.toggle("is-over", match.over);
  const players = byId("players");
  players.dataset.count = snapshot.players.length;
  players.dataset.copies = match.copies;
  // Lengths of the longest name and the longest word, from which the styles derive the font size.
  const star = match.winner === null ? 0 : 2;
  const longest = (texts) => Math.max(...texts.map((text) => [...text].length), 1) + star;
  players.style.setProperty("--count", snapshot.players.length || 1);
  players.style.setProperty("--letters", longest(names));
  players.style.setProperty("--word", longest(names.flatMap((name) => name.split(/[\s-]/))));
  const initials = initialsOf(names);
  const rows = snapshot.players.map((player, at) => ({ ...player, initials: initials[at], provisional: match.provisional }));
  keep(players, rows, (player) => player.seat, (player) => rowOf(player, match, onSeat));
  byId("provisional").hidden = !match.provisional;
  // A television shows the sum of the open ends here, because its felt is for the layout alone.
  showLast(snapshot.last, toldOf(snapshot), names, onSeat === null ? match.count : null);
}

function gameOf(match) {
  if (match.game === "") return "Tallybone";
  const game = gameName(match.game);
  return match.target === null ? game : say("{game} to {target}", { game, target: match.target });
}

function handOf(match) {
  if (match.phase === "lobby") return match.game === "" ? "" : say("Last match");
  const parts = [];
  if (match.hand !== null) parts.push(say("hand {hand}", { hand: match.hand }));
  if (match.boneyard !== null && match.hand !== null) parts.push(say("{boneyard} in the boneyard", { boneyard: match.boneyard }));
  return parts.join(" · ");
}

function rowOf(player, match, onSeat) {
  const name = foreign(player.name, { class: "name" });
  const naming = make("h3", {}, onSeat === null ? name : named(player, name, onSeat));
  const own = `seat-${player.seat % 6}`;
  const tally = make("div", { class: "tally" }, make("p", { class: "about" }, ...(onSeat === null ? briefOf(player) : aboutOf(player))), make("div", { class: "houses" }, ...drawMarks(player.marks, player.seat)));
  const total = make("p", { class: "total" }, ...totalOf(player.total, player.provisional ? say("provisional") : null));
  const isWinner = match.winner === player.seat;
  const row = make("li", { class: `player ${own}${player.turn ? " has-turn" : ""}${isWinner ? " has-won" : ""}` });
  row.append(naming, tally, total);
  return row;
}

function named(player, name, onSeat) {
  const badge = make("span", { class: "badge", "aria-hidden": "true" }, player.initials);
  const one = button(badge, () => onSeat(player.seat), { class: "seat" }, name);
  one.setAttribute("aria-description", say("Act for {name}", { name: player.name }));
  return one;
}

/**
 * Return two letters for each name, different within a table: of its first two words, or of its only one.
 * A name whose letters are taken uses a later letter, or else its seat. Shorter names choose first.
 */
export function initialsOf(names) {
  const initials = names.map(() => "");
  const isFree = (letters) => !initials.some((other) => other.toLowerCase() === letters.toLowerCase());
  const order = names.map((_, seat) => seat).sort((one, other) => names[one].length - names[other].length || one - other);
  for (const seat of order) {
    const words = names[seat].split(/[\s-]+/).filter(Boolean);
    const [first = "", ...later] = words.join("");
    const usual = words.length > 1 ? first + [...words[1]][0] : first + (later[0] ?? "");
    const choices = [usual, ...later.map((letter) => first + letter), `${first}${seat + 1}`];
    initials[seat] = choices.find(isFree) ?? "";
  }
  return initials;
}

function aboutOf(player) {
  const parts = [];
  if (player.team !== null && player.team !== undefined) parts.push(say("team {team}", { team: player.team + 1 }));
  if (player.tiles !== null) {
    parts.push(plural("1 tile", "{number} tiles", { number: player.tiles }));
  }
  const about = parts.join(" · ");
  return player.turn ? [make("span", { class: "on-turn" }, about === "" ? say("turn") : `${say("turn")} · `), about] : [about];
}

/** Return the last message, or null if there is none or it is shown as the question or the turn. After the match, no note replaces its winner. */
function toldOf({ messages, question, match, waits_for: waits }) {
  const newest = messages.find((one) => !match.over || one.kind !== "note") ?? null;
  const isShown = (newest?.kind === "unclear" && question !== null) || newest?.text === waits;
  return isShown ? null : newest;
}

/** Return the team and the number of tiles in hand for a television, where words would be too small. */
function briefOf({ team, tiles }) {
  const number = tiles === null ? [] : [tileIcon(null), make("span", { "aria-hidden": "true" }, String(tiles)), make("span", { class: "unseen" }, plural("1 tile", "{number} tiles", { number: tiles }))];
  return [Number.isInteger(team) ? say("team {team}", { team: team + 1 }) : "", ...number];
}

/** Show the last play, and a different message after it, such as the end of the hand. */
function showLast(last, told, names, count) {
  byId("no-last").hidden = last !== null || told !== null;
  keep(byId("last"), last === null ? [] : [{ ...last, sum: last.sum ?? count }], () => "last", (one) => lastOf(one, names));
  const isMore = told !== null && told.text !== last?.text;
  byId("told").hidden = !isMore;
  writeLong(byId("told"), isMore ? sentence(told.text, names) : "");
}

function lastOf(last, names) {
  const box = make("div", { class: "last" });
  const isScored = last.points !== null && last.points !== 0;
  const points = isScored ? make("strong", { class: "points" }, say("+{points}", { points: last.points })) : null;
  const sum = last.sum ? make("p", { class: "sum" }, make("span", {}, last.sum), points) : null;
  const what = foreign("", { class: "what" });
  writeLong(what, sentence(last.what, names));
  box.append(what);
  if (sum !== null) box.append(sum);
  else if (points !== null) box.append(make("p", { class: "sum" }, points));
  return box;
}
