// Page of all tables: stores the hub's state, and shows matching tables and the standings.

import { byId, keep, make, write } from "./dom.js";
import { folded, tableCard } from "./hub_table.js";
import { showStandings } from "./hub_standings.js";
import { showLanguages } from "./languages.js";
import { Link, follow } from "./link.js";
import { fillIn, later, locale, plural, say } from "./say.js";

const LINKS = { [Link.OPENING]: later("Connecting"), [Link.LIVE]: later("Live"), [Link.LOST]: later("Not connected") };
const ALL = "";
const MAX_ON_DISPLAY = 40;

class HubPage {
  constructor() {
    this.isDisplay = new URLSearchParams(location.search).has("display");
    document.documentElement.dataset.mode = this.isDisplay ? "display" : "page";
    document.documentElement.dataset.link = Link.OPENING;
    fillIn(document);
    Object.assign(this, { tables: new Map(), standings: [], line: null, link: Link.OPENING, drawn: 0, lostAt: "" });
    for (const id of ["find", "tournament"]) byId(id).addEventListener("input", () => this.later());
    if (!this.isDisplay) showLanguages();
    follow((said) => this.take(said), (link) => this.turn(link));
  }

  /** Update all tables, or the changed ones. */
  take(said) {
    if (said.whole) this.tables.clear();
    for (const id of said.gone) this.tables.delete(id);
    for (const table of said.tables) this.tables.set(table.id, table);
    if (said.standings !== null) this.standings = said.standings;
    this.line = said.line;
    this.later();
  }

  /** Draw in the next animation frame, to combine updates. */
  later() {
    if (this.drawn !== 0) return;
    this.drawn = requestAnimationFrame(() => {
      this.drawn = 0;
      this.draw();
    });
  }

  draw() {
    this.offerTournaments();
    const all = [...this.tables.values()];
    const chosen = byId("tournament").value;
    const key = folded(byId("find").value.trim());
    const found = all.filter((one) => (chosen === ALL || one.tournament === chosen) && isFound(one, key));
    found.sort(this.isDisplay ? byNews : byName);
    // The search text is part of the key, so unchanged cards are kept.
    const items = (this.isDisplay ? found.slice(0, MAX_ON_DISPLAY) : found).map((table) => ({ table, key }));
    keep(byId("tables"), items, (item) => item.table.id, (item) => tableCard(item.table, item.key));
    write(byId("summary"), summaryOf(all));
    byId("none").hidden = found.length > 0;
    write(byId("none"), all.length === 0 ? say("No table has reported yet.") : say("No table matches."));
    const shown = this.standings.filter((one) => chosen === ALL || one.name === chosen);
    showStandings(byId("standings"), byId("standing-tables"), shown);
    this.showLost();
    if (this.isDisplay) hideWhatIsCut(); // last, because everything above moves the cards
  }

  offerTournaments() {
    const names = [...[...this.tables.values()].map((one) => one.tournament), ...this.standings.map((one) => one.name)];
    const known = [...new Set(names.filter((name) => name !== null))].sort((one, other) => one.localeCompare(other));
    byId("tournament-label").hidden = known.length < 2;
    const offered = [{ name: ALL, text: say("All tournaments") }, ...known.map((name) => ({ name, text: name }))];
    const chosen = byId("tournament").value;
    keep(byId("tournament"), offered, (one) => one.name, (one) => make("option", { value: one.name }, one.text));
    byId("tournament").value = known.includes(chosen) && known.length > 1 ? chosen : ALL;
  }

  turn(link) {
    this.link = link;
    document.documentElement.dataset.link = link;
    write(byId("link"), say(LINKS[link]));
    if (link === Link.LOST) this.lostAt = new Date().toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
    this.showLost();
  }

  /** Show a warning if data may be outdated: no connection to the hub, or from the hub to the tables. */
  showLost() {
    const isLost = this.link === Link.LOST;
    byId("lost").hidden = !isLost && this.line === null;
    const words = isLost
      ? say("No connection to the hub since {time}. This page may be out of date. Reconnecting.", { time: this.lostAt })
      : say("The hub has lost its connection to the tables. This page may be out of date.");
    write(byId("lost"), byId("lost").hidden ? "" : words);
  }
}

/** A television cannot scroll, so hide cards that do not fit completely. */
function hideWhatIsCut() {
  for (const card of byId("tables").children) {
    card.classList.toggle("is-cut", card.getBoundingClientRect().bottom > window.innerHeight);
  }
}

function isFound(table, key) {
  const words = [table.name, table.id, table.tournament ?? "", ...table.players.map((player) => player.name)];
  return key === "" || words.some((text) => folded(text).includes(key));
}

function byName(one, other) {
  return one.name.localeCompare(other.name, undefined, { numeric: true }) || one.id.localeCompare(other.id);
}

/** Return the most recently changed tables, for a television with limited room. */
function byNews(one, other) {
  return Number(other.online) - Number(one.online) || (other.changed ?? "").localeCompare(one.changed ?? "") || byName(one, other);
}

function summaryOf(all) {
  const playing = all.filter((one) => one.online && one.playing).length;
  const offline = all.filter((one) => !one.online).length;
  const parts = [plural("{number} table", "{number} tables", { number: all.length }), plural("{number} playing", "{number} playing", { number: playing })];
  if (offline > 0) parts.push(plural("{number} offline", "{number} offline", { number: offline }));
  return parts.join(" · ");
}

new HubPage();
