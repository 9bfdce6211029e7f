// Actions on a recording: rescore, export and delete.

import { send } from "./api.js";
import { button, foreign, make } from "./dom.js";
import { plural, say } from "./say.js";
import { closeSheet, openSheet } from "./sheet.js";
import { addressOf, goTo } from "./views.js";

/** Return the actions of a recording; results are shown on *toast*, and *shown* returns the current hand. */
export function aboutRecording(told, toast, shown) {
  const base = `recordings/${encodeURIComponent(told.name)}`;
  return make("div", { class: "replay-desk" }, otherRules(told, base), sharing(base, shown), files(told, base), deleting(told, base, toast));
}

function card(title, ...children) {
  return make("section", { class: "card" }, make("h3", {}, title), ...children);
}

function otherRules(told, base) {
  const same = make("option", { value: "" }, say("Unchanged rules"));
  const games = told.games.map((game) => make("option", { value: game }, game));
  const select = make("select", { name: "rules" }, same, ...games);
  const options = make("input", { name: "options", autocomplete: "off", autocapitalize: "none", spellcheck: "false", placeholder: "target=100" });
  const found = make("div", { class: "column", "aria-live": "polite" });
  const form = make(
    "form",
    { class: "column" },
    make("label", {}, say("Game"), select),
    make("label", {}, say("House rules, as key=value"), options),
    make("button", { type: "submit" }, say("Score again")),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const asked = { rules: select.value || null, options: options.value.split(/\s+/).filter(Boolean) };
    const answer = await send(`${base}/rescore`, asked);
    if (answer !== null) found.replaceChildren(...(answer.isDone ? differences(answer.told) : [wrong(answer.told.error)]));
  });
  return card(say("Score by other rules"), form, found);
}

function wrong(words) {
  return make("p", { class: "wrong" }, foreign(words));
}

function differences({ players, before, now, differences: found, count }) {
  const cell = (points) => make("td", {}, String(points ?? ""));
  const head = make("tr", {}, ...[say("Player"), say("As recorded"), say("By these rules")].map((words) => make("th", { scope: "col" }, words)));
  const rows = players.map((name, seat) => {
    return make("tr", {}, make("th", { scope: "row" }, foreign(name)), cell(before.totals[seat]), cell(now.totals[seat]));
  });
  const words = count === 0 ? say("Every play keeps its points.") : plural("1 play is worth different points", "{number} plays are worth different points", { number: count });
  const list = found.map((sentence) => make("li", {}, foreign(sentence)));
  return [
    make("table", { class: "figures" }, make("thead", {}, head), make("tbody", {}, ...rows)),
    make("p", {}, words),
    make("ul", { class: "differences" }, ...list),
  ];
}

function sharing(base, shown) {
  const pictures = make("input", { type: "checkbox", checked: true });
  const save = () => {
    const link = make("a", { href: `/api/v1/${base}/hand/${shown()}.html?pictures=${pictures.checked ? "with" : "without"}`, download: "" });
    link.click();
  };
  const words = say("A single file to send to a friend; it opens in any browser.");
  const label = make("label", { class: "switch" }, pictures, say("Include pictures"));
  return card(say("Share this hand"), make("p", { class: "about" }, words), label, make("div", {}, button(say("Save this hand"), save)));
}

function files(told, base) {
  const kinds = { dgr: say("Game record"), csv: say("Table of plays (CSV)"), json: say("Everything") };
  const links = Object.entries(kinds).map(([kind, words]) => {
    return make("li", {}, make("a", { href: `/api/v1/${base}/export.${kind}`, download: true }, `.${kind}`), ` ${words}`);
  });
  const video = make("p", { class: "about" }, say("To make a video, run this in a terminal:"), " ");
  video.append(make("code", {}, `tallybone replay ${told.name} --export game.mp4`));
  return card(say("Download"), make("ul", { class: "files" }, ...links), video);
}

function deleting(told, base, toast) {
  if (told.running) return card(say("Delete"), make("p", { class: "about" }, say("Still recording.")));
  const ask = () => {
    const sure = button(say("Delete"), () => (closeSheet(), remove(told, base, toast)), { class: "danger" });
    const keep = button(say("Keep"), closeSheet, { class: "primary" });
    const words = say("You can restore it for a week, unless the disk fills up first.");
    openSheet(say("Delete this recording?"), make("p", {}, foreign(told.name)), make("p", {}, words), make("div", { class: "row" }, keep, sure));
  };
  return card(say("Delete"), make("div", {}, button(say("Delete this recording"), ask, { class: "danger" })));
}

/** Return the star before the name of a winner. */
export function winnerStar() {
  return make("span", { class: "won" }, "★ ", make("span", { class: "unseen" }, say("winner")));
}

/** Return the link back to the list. */
export function backLink() {
  return make("p", {}, make("a", { href: addressOf("recordings"), class: "back" }, say("All recordings")));
}

async function remove(told, base, toast) {
  const answer = await send(base, {}, { method: "DELETE" });
  if (answer === null) return;
  if (!answer.isDone) return toast.failed(answer.told.error);
  goTo("recordings");
  return toast.done(say("Deleted."), async () => {
    const back = await send(`${base}/restore`);
    if (back?.isDone) goTo("recordings", told.name);
    else if (back !== null) toast.failed(back.told.error);
  });
}
