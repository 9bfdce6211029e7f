// Settings view: links to health and pairing, and the owner's settings.

import { read, send } from "./api.js";
import { button, make, write } from "./dom.js";
import { gameName } from "./games.js";
import { field, select } from "./option_fields.js";
import { enterAsOwner } from "./owner.js";
import { showCode } from "./pairing.js";
import { LANGUAGES, say } from "./say.js";
import { addressOf } from "./views.js";

/** The recordings view; results are shown on *toast*. */
export class SettingsView {
  constructor(toast) {
    this.toast = toast;
  }

  show(root) {
    show(root, this.toast);
  }
}

async function show(root, toast) {
  if (root.childElementCount === 0) root.append(make("h2", {}, say("Settings")), ways(), make("div", { class: "own" }));
  const own = root.querySelector(".own");
  try {
    const [settings, { usual }] = await Promise.all([read("settings"), read("match")]);
    own.replaceChildren(houseForm(settings, usual, toast));
  } catch (error) {
    own.replaceChildren(make("p", { class: "wrong", role: "alert" }, error.message));
  }
}

function ways() {
  const links = [
    ["health", say("Health"), say("Camera, parts, disk space, temperature and power")],
    ["calibrate", say("Calibration"), say("Lens, table, zones, light and knocks")],
    ["parts", say("Parts"), say("Test LEDs, buttons, knock and displays")],
  ].map(([name, title, about]) => make("a", { class: "way card", href: addressOf(name) }, ...labelled(title, about)));
  const pairing = button("", showCode, { class: "way card", id: "pairing" }, ...labelled(say("Connect another phone"), say("A code to scan, instead of the PIN")));
  return make("ul", { class: "ways" }, ...[...links, pairing].map((way) => make("li", {}, way)));
}

function labelled(title, about) {
  return [make("strong", {}, title), make("small", { class: "about" }, about)];
}

function houseForm(settings, usual, toast) {
  const keep = make("input", { type: "number", id: "keep", min: 1, max: 1000000, step: 1, value: settings.keep_gb ?? "", inputmode: "numeric" });
  const languages = [["", say("each browser's own")], ...Object.entries(LANGUAGES)];
  const language = select(languages, settings.language ?? "", () => {});
  language.id = "language";
  const isFixed = make("input", { type: "checkbox", id: "usual", checked: settings.usual !== null, disabled: usual === null });
  const wrong = make("p", { class: "wrong", role: "alert" });
  const form = make(
    "form",
    { class: "card", "aria-labelledby": "house-title" },
    make("h3", { id: "house-title" }, say("Table settings")),
    settings.has_password ? make("p", { class: "about" }, say("The owner's password is needed to change it.")) : null,
    field({ control: keep, label: say("Disk space for recordings (GB)"), hint: say("empty: 20; the oldest are deleted first") }),
    field({ control: language, label: say("Language for viewers who have not chosen one") }),
    field(
      usual === null
        ? { control: isFixed, label: say("Default match"), hint: say("After you play a match, you can make it the default.") }
        : { control: isFixed, label: say("Always suggest this match: {match}", { match: `${gameName(usual.game)}, ${usual.players.join(", ")}` }) },
    ),
    wrong,
    settings.has_password
      ? make("button", { type: "submit", id: "keep-settings", class: "primary" }, say("Save"))
      : make("p", { class: "about" }, say("To change these settings, first set a password on the table's computer: tallybone serve --set-password")),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const said = { keep_gb: keep.value === "" ? null : keep.valueAsNumber, language: language.value || null, usual: isFixed.checked ? usual : null };
    const answer = await send("settings", said, { method: "PUT", enter: enterAsOwner });
    write(wrong, answer !== null && !answer.isDone ? answer.told.error : "");
    if (answer?.isDone) toast.done(say("Saved."));
  });
  return form;
}
