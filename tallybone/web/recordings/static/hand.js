// Shared hand: steps through its plays in a self-contained file. Also runs without modules.

import { button, foreign, make, totalOf } from "./dom.js";
import { drawFelt, emptyFelt } from "./felt.js";

/** Show the hand in the file, starting at its first step. */
function showHand() {
  const { title, steps, pictures } = JSON.parse(document.getElementById("told").textContent);
  const felt = emptyFelt("Layout");
  const picture = make("img", { alt: "The table as the camera saw it", class: "recorded" });
  const players = make("ul", { class: "players" });
  const says = make("p", { class: "says", role: "status" });
  const count = make("span", { class: "count" });
  const range = make("input", { type: "range", min: 0, max: Math.max(0, steps.length - 1), step: 1, "aria-label": "Step" });
  let at = 0;
  const goTo = (wanted) => {
    at = Math.max(0, Math.min(steps.length - 1, wanted));
    const { step, layout, provisional, players: own } = steps[at];
    drawFelt(felt, layout, null);
    felt.setAttribute("aria-label", `Layout: ${layout.tiles.map((tile) => tile.pips.join("-")).join(", ")}`);
    players.replaceChildren(...own.map((player, seat) => playerRow(player, seat, provisional)));
    says.textContent = step.text;
    count.textContent = `${at + 1} / ${steps.length}`;
    range.value = at;
    range.setAttribute("aria-valuetext", `${at + 1} / ${steps.length}: ${step.text}`);
    picture.hidden = pictures[at] === null;
    if (pictures[at] !== null) picture.src = pictures[at];
  };
  const back = button("◀", () => goTo(at - 1), { "aria-label": "Step back" });
  const on = button("▶", () => goTo(at + 1), { "aria-label": "Step on" });
  range.addEventListener("input", () => goTo(range.valueAsNumber));
  window.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    goTo(at + (event.key === "ArrowLeft" ? -1 : 1));
  });
  const head = make("h1", {}, foreign(title));
  const table = make("div", { class: "felt" }, felt);
  document.getElementById("hand").replaceChildren(head, players, table, make("div", { class: "row" }, back, range, on, count), says, picture);
  goTo(0);
}

function playerRow(player, seat, isProvisional) {
  const name = foreign(player.name, { class: "name" });
  const turn = player.turn ? make("span", { class: "turn" }, "turn") : null;
  return make("li", { class: `seat-${seat % 6}${player.turn ? " has-turn" : ""}` }, name, " ", turn, " ", make("span", { class: "total" }, ...totalOf(player.total, isProvisional ? "provisional" : null)));
}

showHand();
