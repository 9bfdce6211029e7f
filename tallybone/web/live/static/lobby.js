// Page between two matches: a link to start the next one, and the camera image.

import { byId } from "./dom.js";

const LOBBY = "lobby";

/** Show the lobby if no match is played; before the first match, open the camera view. */
export function showLobby({ match, players }) {
  const isLobby = match.phase === LOBBY;
  const begins = isLobby && document.documentElement.dataset.phase !== LOBBY;
  document.documentElement.dataset.phase = match.phase;
  byId("lobby").hidden = !isLobby;
  byId("players").hidden = players.length === 0;
  if (begins && players.length === 0) byId("camera-tab").click();
}
