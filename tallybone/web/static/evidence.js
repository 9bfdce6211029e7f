// The crop of the picture from which a play or a question was read, with the sum and the rule that pays it.

import { foreign, make } from "./dom.js";
import { say } from "./say.js";

/**
 * Return the crop of a play.
 *
 * @param path Where it is, below the API.
 * @param play Its sum, points and rule are the caption.
 * @param more Further lines of the caption; null ones are left out.
 */
export function evidenceOf(path, { sum, points, rule }, ...more) {
  const missing = make("p", { class: "about", hidden: true }, say("No picture of this play is kept."));
  const picture = cropAt(path, () => (missing.hidden = false));
  const count = sum ? make("strong", {}, points ? `${sum} · ${say("+{points}", { points })}` : sum) : null;
  const lines = [count, rule ? foreign(say("Rule: {rule}", { rule })) : null, ...more].filter((line) => line !== null);
  return make("figure", { class: "reading" }, picture, missing, make("figcaption", {}, ...lines.map((line) => make("div", {}, line))));
}

/** Return the picture at *path* below the API; where there is none it goes away, and *onMissing* is called. */
export function cropAt(path, onMissing = () => {}) {
  const picture = make("img", { class: "crop", src: `/api/v1/${path}`, alt: say("The tile in the camera's picture") });
  picture.addEventListener("error", () => (picture.remove(), onMissing()));
  return picture;
}
