// Proper names of the games, by which people know them.

import { later, say } from "./say.js";

const NAMES = {
  bones: later("Bones"),
  draw: later("Draw dominoes"),
  allfives: later("All Fives"),
  block: later("Block dominoes"),
  super: later("Super Dominoes"),
  twoset: later("Two-set fives"),
  cutthroat: later("Cutthroat"),
};

/** Return the name of a game in the language of the page. */
export function gameName(game) {
  return Object.hasOwn(NAMES, game) ? say(NAMES[game]) : game;
}

/** Return the English name of a game; an unknown one is returned unchanged. */
export function properName(game) {
  return Object.hasOwn(NAMES, game) ? NAMES[game] : game;
}
