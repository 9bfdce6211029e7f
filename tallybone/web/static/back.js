// Works out what takes an action back, from what the table showed before and after it; nothing is lost by a wrong tap.

// Of these the button itself is what came last, whatever the rules said about it.
const UNDONE = ["next", "hand_end", "redeal"];
const PRESSED = { knock: "knock", draw: "draw", call: "call", decline: "done" };

/**
 * Return the action that takes another back, null where there is none.
 *
 * @param action What was done.
 * @param before The snapshot in which it was asked for.
 * @param after The snapshot that shows what became of it.
 */
export function backOf(action, before, after) {
  switch (action.type) {
    case "press":
      return action.button === "undo" ? redone(before, after) : pressBack(action.button, before, after);
    case "amend":
      return amendBack(action, before);
    case "remove":
      return insertBack(before.plays.find((play) => play.seq === action.seq), before, after);
    case "stands":
      return notAccepted(before.plays.find((play) => play.seq === action.seq));
    default:
      return newcomerBack(before, after);
  }
}

function pressBack(button, before, after) {
  if (UNDONE.includes(button)) return { type: "press", button: "undo", seat: null };
  return newcomerBack(before, after);
}

/** Take out what is new; a place in the log is never used twice, and later ones are larger. */
function newcomerBack(before, after) {
  const newest = Math.max(-1, ...before.plays.map((play) => play.seq));
  const fresh = after.plays.filter((play) => play.seq > newest && play.seat !== null);
  return fresh.length === 1 ? { type: "remove", seq: fresh[0].seq } : null;
}

function amendBack({ seq, ...to }, before) {
  const play = before.plays.find((one) => one.seq === seq);
  const name = ["pips", "seat", "points"].find((one) => one in to);
  return play === undefined || name === undefined ? null : { type: "amend", seq, [name]: play[name] };
}

/** Say the same again of a play: what is said anew is not accepted yet. */
function notAccepted(play) {
  return play === undefined || play.seat === null ? null : { type: "amend", seq: play.seq, seat: play.seat };
}

/** Do again what was undone: the one play that is gone. */
function redone(before, after) {
  const kept = new Set(after.plays.map((play) => play.seq));
  const gone = before.plays.filter((play) => !kept.has(play.seq));
  if (gone.length !== 1) return null;
  const [play] = gone;
  if (play.kind in PRESSED) return { type: "press", button: PRESSED[play.kind], seat: play.seat };
  return insertBack(play, before, after);
}

/** Put a play in again where it was. */
function insertBack(play, before, after) {
  if (play === undefined || play.seat === null) return null;
  const next = after.plays.find((one) => one.seq > play.seq)?.seq ?? null;
  const { kind, seat, pips } = play;
  if (kind === "knock" || kind === "draw") return { type: "insert", before: next, action: { kind, seat } };
  if (kind !== "play") return null;
  const at = after.layout.tiles.length === 0 ? null : placeOf(play, before, after);
  if (at === undefined) return null;
  return { type: "insert", before: next, action: { kind, seat, pips, at } };
}

/** Return the open end at which a tile lay: of those with its number the nearest; undefined where there is none. */
function placeOf(play, before, after) {
  const tile = before.layout.tiles.find((one) => one.seq === play.seq);
  if (tile === undefined) return undefined;
  const [x, y] = tile.halves_px[0];
  const away = (end) => Math.hypot(end.x - x, end.y - y);
  const [end] = after.layout.ends.filter((one) => play.pips.includes(one.value)).sort((a, b) => away(a) - away(b));
  return end === undefined ? undefined : { seq: end.seq, port: end.port };
}
