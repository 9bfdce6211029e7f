// Marks the page where letters are large for its width, so that it lies below one another what else lies side by side.

import { make } from "./dom.js";

// A phone of 320 pixels with letters as they are has 20.
const FEW_REM = 15;

/** Look again and again whether few letters fit the width: both can change. */
export function watchLetters() {
  const probe = make("div", { class: "one-rem", "aria-hidden": "true" });
  document.body.append(probe);
  const look = () => document.documentElement.toggleAttribute("data-large", window.innerWidth < FEW_REM * probe.offsetWidth);
  new ResizeObserver(look).observe(probe); // it looks for the first time before anything is painted
  window.addEventListener("resize", look);
}
