// Health view: camera, parts, disk space, temperature and power, each with advice.

import { read } from "./api.js";
import { foreign, keep, make, write } from "./dom.js";
import { agoOf } from "./measures.js";
import { later, say, sentence } from "./say.js";

const EVERY_MS = 5000;
const GRADES = {
  ok: [later("works"), "✓"],
  warning: [later("needs attention"), "!"],
  problem: [later("not working"), "✕"],
  "not there": [later("not available"), "–"],
};

/** The health view. */
export class HealthView {
  constructor() {
    Object.assign(this, { timer: 0, isShown: false });
  }

  show(root) {
    this.isShown = true;
    if (root.childElementCount === 0) this.build(root);
    this.look();
  }

  hide() {
    this.isShown = false;
    clearTimeout(this.timer);
  }

  build(root) {
    this.about = make("p", { class: "about" }, say("Loading"));
    this.wrong = make("p", { class: "wrong", role: "alert" });
    this.list = make("ul", { class: "findings" });
    this.picture = make("img", { class: "last-picture", alt: say("Live view of the table") });
    this.picture.hidden = true;
    root.append(make("h2", {}, say("Health")), this.about, this.wrong, this.list, this.picture);
  }

  async look() {
    clearTimeout(this.timer);
    try {
      this.draw(await read("health"));
      write(this.wrong, "");
    } catch (error) {
      write(this.wrong, error.message);
    }
    if (this.isShown) this.timer = setTimeout(() => this.look(), EVERY_MS);
  }

  draw({ version, findings, picture_age_s: age }) {
    const pictured = age === null ? say("no picture yet") : say("last picture {ago}", { ago: agoOf(age) });
    write(this.about, `Tallybone ${version} · ${pictured}`);
    const seen = findings.map((one, at) => ({ ...one, key: `${at} ${one.part}` }));
    keep(this.list, seen, (one) => one.key, findingOf);
    this.picture.hidden = age === null;
    if (age !== null) this.picture.src = `/api/v1/picture.jpg?width=640&at=${Date.now()}`;
  }
}

/** Return the list item of a finding. */
export function findingOf({ part, grade, text: words, remedy, commands }) {
  const [, sign] = GRADES[grade];
  const head = make("p", { class: "finding-head" }, make("span", { class: "sign", "aria-hidden": "true" }, sign), make("strong", {}, foreign(sentence(part, []))), make("small", {}, say(GRADES[grade][0])));
  const help = remedy === "" ? null : make("p", {}, foreign(remedy));
  const typed = commands.map((one) => make("code", {}, one));
  return make("li", { class: "card finding", "data-grade": grade }, head, make("p", {}, make("bdi", {}, ...breakable(words))), help, ...typed);
}

/** Return a text whose paths can be broken after each slash. */
function breakable(text) {
  return text.split(/(?<=\/)/).flatMap((part) => [part, make("wbr")]);
}
