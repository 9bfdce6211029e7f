// Image region from which a play or question was read, with its count and scoring rule.

import { foreign, make } from "./dom.js";
import { say } from "./say.js";

/**
 * Return the image region of a play.
 *
 * @param path Path below the API.
 * @param play Play whose count, points and rule become the caption.
 * @param more Further lines of the caption; null lines are omitted.
 */
export function evidenceOf(path, { sum, points, rule }, ...more) {
  const missing = make("p", { class: "about", hidden: true }, say("There is no picture of this play."));
  const picture = cropAt(path, () => (missing.hidden = false));
  const count = sum ? make("strong", {}, points ? `${sum} · ${say("+{points}", { points })}` : sum) : null;
  const lines = [count, rule ? foreign(say("Rule: {rule}", { rule })) : null, ...more].filter((line) => line !== null);
  return make("figure", { class: "reading" }, picture, missing, make("figcaption", {}, ...lines.map((line) => make("div", {}, line))));
}

/** Return the image at *path* below the API. If it is missing, it is removed and *onMissing* is called. */
export function cropAt(path, onMissing = () => {}) {
  const picture = make("img", { class: "crop", src: `/api/v1/${path}`, alt: say("The tile in the camera picture") });
  picture.addEventListener("error", () => (picture.remove(), onMissing()));
  return picture;
}
