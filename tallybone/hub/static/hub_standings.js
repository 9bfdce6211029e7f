// Standings: a table of wins for each tournament.

import { foreign, keep, make } from "./dom.js";
import { plural, say } from "./say.js";

/** Show the best players of each tournament; empty before the first match is over. */
export function showStandings(section, parent, tournaments) {
  section.hidden = tournaments.length === 0;
  keep(parent, tournaments, (one) => one.name ?? "", standingTable);
}

function standingTable(tournament) {
  const heads = [say("Rank"), say("Player"), say("Played"), say("Won"), say("Points")];
  const head = make("thead", {}, make("tr", {}, ...heads.map((words) => make("th", { scope: "col" }, words))));
  const rows = tournament.standings.map((one) =>
    make(
      "tr",
      {},
      make("td", {}, String(one.rank)),
      make("th", { scope: "row" }, foreign(one.player)),
      ...[one.played, one.wins, one.points].map((number) => make("td", {}, String(number))),
    ),
  );
  const left = tournament.players - tournament.standings.length;
  const name = tournament.name === null ? make("span", {}, say("No tournament")) : foreign(tournament.name);
  const caption = make("caption", {}, name);
  return make(
    "div",
    { class: "standing" },
    make("table", {}, caption, head, make("tbody", {}, ...rows)),
    left > 0 ? make("p", { class: "about" }, plural("and {number} more", "and {number} more", { number: left })) : null,
  );
}
