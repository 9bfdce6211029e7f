// Before the first match: the camera picture with what is good or wrong about it, and the way to the zones.

import { read } from "./api.js";
import { button, keep, make } from "./dom.js";
import { findingOf } from "./health_view.js";
import { say } from "./say.js";
import { goTo } from "./views.js";

const EVERY_MS = 2000;

/** Card that judges the camera while it is visible. */
export class FirstRun {
  constructor() {
    this.picture = make("img", { class: "last-picture", alt: say("Live view of the table"), hidden: true });
    this.picture.addEventListener("load", () => (this.picture.hidden = false));
    this.list = make("ul", { class: "findings" });
    const about = say("Point the camera at the table until all is well. To see who draws and shows tiles, draw zones for the seats and the boneyard with a finger.");
    const zones = button(say("Measure the table and draw zones"), () => goTo("calibrate"));
    this.root = make("section", { class: "card" }, make("h3", {}, say("Before the first match")), make("p", { class: "about" }, about), this.picture, this.list, make("div", { class: "row" }, zones));
    setTimeout(() => this.look());
  }

  async look() {
    if (!this.root.isConnected) return;
    if (this.root.checkVisibility() && !document.hidden) {
      this.picture.src = `/api/v1/picture.jpg?width=640&at=${Date.now()}`;
      const found = await read("calibration/sight").catch(() => []);
      keep(this.list, found, (one) => one.part, findingOf);
    }
    setTimeout(() => this.look(), EVERY_MS);
  }
}
