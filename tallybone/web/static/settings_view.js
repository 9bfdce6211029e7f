// The view of settings: what leads to health and to the test of the parts.

import { make } from "./dom.js";
import { say } from "./say.js";
import { addressOf, view } from "./views.js";

/** Register the view. */
export function registerSettingsView() {
  view("settings", { title: () => say("Settings"), show: (root) => root.childElementCount === 0 && build(root) });
}

function build(root) {
  const ways = [["health", say("Health"), say("Camera, parts, room for recordings, heat and power")]];
  const links = ways.map(([name, title, about]) =>
    make("li", {}, make("a", { class: "way card", href: addressOf(name) }, make("strong", {}, title), make("small", { class: "about" }, about))),
  );
  root.append(make("h2", {}, say("Settings")), make("ul", { class: "ways" }, ...links));
}
