// Counted hand: its tiles, pips and doubtful readings. Pure.

/** Return the tiles found in a picture, as `{pips, sure, picture}`; unreadable objects come last. */
export function foundTiles(tiles) {
  return [...tiles.filter((tile) => tile.pips !== null), ...tiles.filter((tile) => tile.pips === null)];
}

/** Return the tiles with one replaced, added if *at* is their number, or removed if *pips* is null. */
export function withTile(tiles, at, pips) {
  if (pips === null) return tiles.filter((_, other) => other !== at);
  return tiles.toSpliced(at, 1, { picture: null, ...tiles[at], pips, sure: [true, true] });
}

/** Return the numbers of the tiles that count. */
export function countedPips(tiles) {
  return tiles.filter((tile) => tile.pips !== null).map((tile) => tile.pips);
}

/** Return the sum of pips. */
export function sumOf(pairs) {
  return pairs.flat().reduce((sum, pips) => sum + pips, 0);
}

/** Return a tile's numbers as text, with "?" after those to be checked. */
export function written({ pips, sure }) {
  return pips === null ? "?" : pips.map((number, half) => `${number}${sure[half] ? "" : "?"}`).join("-");
}

/** Return a name of the current hand: its plays, which no other hand shares. */
export function handOf({ plays }) {
  return plays.filter((play) => play.kind === "play").map((play) => `${play.seq}:${play.pips}`).join(" ");
}

/** Return the players with tiles to be counted, those not counted yet first. */
export function holders({ players, plays }) {
  const seatsOf = (...kinds) => new Set(plays.filter((play) => kinds.includes(play.kind)).map((play) => play.seat));
  const [out, counted] = [seatsOf("domino"), seatsOf("reveal", "reveal_pips")];
  const holding = players.filter((player) => player.tiles !== 0 && !out.has(player.seat)).map((player) => ({ ...player, isCounted: counted.has(player.seat) }));
  return [...holding.filter((player) => !player.isCounted), ...holding.filter((player) => player.isCounted)];
}
