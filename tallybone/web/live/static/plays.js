// Plays of the hand, newest first; a tap opens the sheet for corrections.

import { byId, button, foreign, keep, make } from "./dom.js";
import { tileIcon } from "./tile.js";
import { say, sentence } from "./say.js";

/** Show the plays of a snapshot; *onPlay* is called with the seq of a tapped play, *desk* confirms inferred plays. */
export function showPlays(snapshot, onPlay, desk) {
  const names = new Map(snapshot.players.map((player) => [player.seat, player.name]));
  const plays = snapshot.plays.map((play) => ({ ...play, name: names.get(play.seat) ?? "" })).reverse();
  byId("no-plays").hidden = plays.length > 0;
  keep(byId("play-list"), plays, (play) => play.seq, (play) => rowOf(play, onPlay, desk));
}

function rowOf(play, onPlay, desk) {
  const points = play.points ? make("span", { class: "points" }, say("+{points}", { points: play.points })) : null;
  const wrong = play.irregular ?? "";
  // An action against the rules without a tile is described by the reason alone if its words only repeat it.
  const isSame = !play.pips && wrong !== "" && plainly(play.text).includes(plainly(wrong));
  const about = play.pips ? play.pips.join("-") : isSame ? "" : sentence(play.text, [play.name]);
  const name = play.pips ? foreign(play.name, { class: "name" }) : "";
  const one = button("", () => onPlay(play.seq), { class: `play${play.seat === null ? "" : ` seat-${play.seat % 6}`}${play.irregular ? " is-irregular" : ""}${play.inferred ? " is-inferred" : ""}` });
  one.append(play.pips ? tileIcon(play.pips) : make("span", { class: "no-tile" }), name);
  if (about !== "") one.append(" ", foreign(about, { class: "what" }));
  if (wrong !== "") one.append(" ", foreign(isSame ? sentence(play.text, [play.name]) : wrong, { class: "why" }));
  if (play.inferred) one.append(" ", make("span", { class: "not-seen" }, say("not seen")));
  if (points !== null) one.append(" ", points);
  return make("li", {}, one, play.inferred ? rightKey(play, desk) : null);
}

function plainly(words) {
  return words.toLowerCase().replace(/[.:;,]/g, "");
}

/** Return the button that confirms an inferred play. */
export function rightKey(play, desk, onPress = () => {}) {
  const confirm = () => (onPress(), desk.act({ type: "confirm", seq: play.seq }, say("Confirmed: {what}.", { what: play.text })));
  return button(say("Confirm"), confirm, { "aria-description": play.text });
}
