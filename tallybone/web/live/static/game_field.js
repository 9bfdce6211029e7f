// Choice of the game, with alternative names and descriptions.

import { make } from "./dom.js";
import { gameName, properName } from "./games.js";
import { say } from "./say.js";

/** Return the list of games; *choose* is called with the selected one. */
export function gameField(games, chosen, choose) {
  const rows = games.map(({ game, elsewhere, what }) => {
    const box = make("input", { type: "radio", name: "game", value: game, checked: game === chosen, id: `game-${game}` });
    box.addEventListener("change", () => choose(game));
    const name = gameName(game);
    const others = elsewhere === properName(game) ? " " : ` (${elsewhere}) `;
    const words = make("span", {}, make("strong", {}, name), others, make("small", { class: "about" }, say(what)));
    return make("label", { class: "game", for: `game-${game}` }, box, words);
  });
  return make("fieldset", { class: "part games" }, make("legend", {}, say("Game")), ...rows);
}
