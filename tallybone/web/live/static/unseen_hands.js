// Fields for the pips left in hands that nobody saw.

import { byId, foreign, keep, make } from "./dom.js";
import { say } from "./say.js";
import { numberForm } from "./sheet.js";

/** Ask for the pips left in each hand that the camera did not see. They are optional: the table goes on with an estimate. */
export function showUnseenHands({ unseen_hands: unseen, players }, desk) {
  const hands = unseen.map(({ seq, seat }) => ({ seq, name: players.find((one) => one.seat === seat)?.name ?? "" }));
  keep(byId("unseen-hands"), hands, (one) => one.seq, (one) => drawUnseenHand(one, desk));
}

function drawUnseenHand({ seq, name }, desk) {
  const label = say("{name}'s tiles were not seen. Pips left:", { name });
  const save = (points) => desk.act({ type: "amend", seq, points }, say("{name}: {pips} pips left.", { name, pips: points }));
  return make("li", { class: "column" }, foreign(label), numberForm({ label, value: "", min: 0 }, say("Save"), save));
}
