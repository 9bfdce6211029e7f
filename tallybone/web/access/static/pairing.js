// Pairing codes: a paired phone shows one to scan, and another phone takes it from the scanned address.

import { read, send } from "./api.js";
import { draw, make } from "./dom.js";
import { say } from "./say.js";
import { openSheet } from "./sheet.js";
import { view } from "./views.js";

// Quiet zone around a QR code, in modules.
const MARGIN = 4;
const KEPT_NAME = "tallybone name";

/** Register the view of a scanned address; the result is shown on *toast*. */
export function registerPairing(toast) {
  view("pair", { title: null, show: (root, code) => comeIn(code, toast), under: "table" });
}

/** Show a code in a sheet, asking for the PIN first if needed. */
export async function showCode() {
  const code = await newCode();
  if (code === null) return;
  if (code.error) {
    openSheet(say("Connect another phone"), make("p", { class: "wrong" }, code.error));
    return;
  }
  const minutes = Math.round(code.lasts_s / 60);
  const about = make("p", { class: "about" }, say("Scan this with the other phone. It works once, within {minutes} minutes.", { minutes }));
  openSheet(say("Connect another phone"), codeOf(code.rows), about);
}

/** Return a code to scan: {address, rows, lasts_s} or {error}, or null if the PIN was not entered. */
async function newCode() {
  const answer = await send("pairing");
  if (answer === null) return null;
  return answer.isDone ? answer.told : { error: answer.told.error };
}

/** Return a code for a television with the PIN entered, or null for any other, without asking for it. */
export async function codeIfIn() {
  const me = await read("me").catch(() => null);
  if (me === null || !me.controls) return null;
  const code = await newCode();
  return code?.rows ? code : null;
}

/** Return the drawing of a code, black on white even in dark mode. */
export function codeOf(rows) {
  const size = rows.length + 2 * MARGIN;
  const dark = rows.flatMap((row, y) => [...row].flatMap((one, x) => (one === "1" ? [`M${x + MARGIN},${y + MARGIN}h1v1h-1z`] : [])));
  const squares = draw("path", { d: dark.join(""), fill: "#000" });
  return draw("svg", { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": say("Code to scan"), "shape-rendering": "crispEdges" }, draw("rect", { width: size, height: size, fill: "#fff" }), squares);
}

async function comeIn(code, toast) {
  // The code is used up; remove it from the browser history.
  location.replace("#");
  if (code === "") return;
  const name = localStorage.getItem(KEPT_NAME);
  const answer = await send("pair", name ? { code, name } : { code });
  if (answer?.isDone) toast.done(say("You can now make corrections."));
  else if (answer !== null) toast.failed(answer.told.error);
}
