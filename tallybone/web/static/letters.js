// Marks the page as narrow if its text is large relative to its width, so columns are stacked.

import { make } from "./dom.js";

// A phone with 320 pixels at the default text size has 20.
const FEW_REM = 15;

/** Observe the number of letters per line, which changes with window and text size. */
export function watchLetters() {
  const probe = make("div", { class: "one-rem", "aria-hidden": "true" });
  document.body.append(probe);
  const look = () => document.documentElement.toggleAttribute("data-large", window.innerWidth < FEW_REM * probe.offsetWidth);
  new ResizeObserver(look).observe(probe); // the first call comes before the first paint
  window.addEventListener("resize", look);
}
