// The table between two matches: a way to the next one, and the camera's picture where there is nothing else to see.

import { byId } from "./dom.js";

const LOBBY = "lobby";

/** Show whether a match is played; where none ever was, the camera is looked through. */
export function showLobby({ match, players }) {
  const isLobby = match.phase === LOBBY;
  const begins = isLobby && document.documentElement.dataset.phase !== LOBBY;
  document.documentElement.dataset.phase = match.phase;
  byId("lobby").hidden = !isLobby;
  byId("players").hidden = players.length === 0;
  if (begins && players.length === 0) byId("camera-tab").click();
}
