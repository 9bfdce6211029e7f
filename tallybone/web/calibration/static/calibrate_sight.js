// Camera image during calibration with detected shapes drawn over it, both from the same moment.

import { draw, make } from "./dom.js";
import { say } from "./say.js";
import { nameOf } from "./zones_shape.js";

const WIDTHS = [320, 640, 1280];
const LABEL_PX = 14;

/** An image with an overlay. */
export class Sight {
  constructor() {
    this.image = make("img", { alt: say("Camera view") });
    this.over = draw("svg", { "aria-hidden": "true" });
    this.root = make("div", { class: "sight", hidden: true }, this.image, this.over);
    this.wanted = 0;
    this.next = null;
    this.image.addEventListener("load", () => this.came());
    // The image may have expired; the next one follows soon.
    this.image.addEventListener("error", () => this.came());
  }

  /** Image pixels per screen pixel. */
  get scale() {
    const width = this.over.viewBox.baseVal.width;
    return width > 0 ? width / (this.root.clientWidth || width) : 1;
  }

  /** Show an image and the shapes detected in it. */
  show(shown) {
    if (shown.picture === null || this.root.hidden) return;
    if (shown.picture.number === this.wanted) {
      if (this.next === null) this.draw(shown);
      else this.next = shown;
      return;
    }
    if (this.next !== null) return; // a request is pending
    this.wanted = shown.picture.number;
    this.next = shown;
    this.image.src = `/api/v1/calibration/picture.jpg?number=${this.wanted}&width=${this.width}`;
  }

  came() {
    if (this.next !== null) this.draw(this.next);
    this.next = null;
  }

  draw({ picture, drawn, zones }) {
    this.over.setAttribute("viewBox", `0 0 ${picture.width_px} ${picture.height_px}`);
    this.root.style.setProperty("--shape", `${picture.width_px / picture.height_px}`);
    // The zone editor draws editable zones itself.
    const shapes = zones.length > 0 ? drawn.filter((one) => one.kind !== "zone") : drawn;
    this.over.replaceChildren(...shapes.flatMap((one) => this.shapes(one)));
  }

  shapes(one) {
    const state = `shape is-${one.kind} ${one.good ? "is-good" : "is-bad"}`;
    if (one.kind === "corners") return [draw("path", { class: state, d: one.points.map(([x, y]) => `M${x} ${y}h0`).join("") })];
    const points = one.points.map((point) => point.join(",")).join(" ");
    const shape = draw(one.kind === "line" ? "polyline" : "polygon", { class: state, points });
    return one.kind === "zone" || (one.label !== "" && one.kind !== "cell") ? [shape, this.label(one)] : [shape];
  }

  label({ kind, label, points, good }) {
    const [x, y] = [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
    const words = kind === "zone" ? nameOf(label) : label;
    return draw("text", { class: "label", x, y, "font-size": this.sizeOf({ kind, label, points, good }) }, words);
  }

  /** Size of a label. Labels of correct tiles stay inside the tile, because tiles lie close together. */
  sizeOf({ kind, label, points, good }) {
    const usual = LABEL_PX * this.scale;
    if (kind !== "tile" || !good) return usual;
    const [a, b] = points;
    return Math.min(usual, (1.6 * Math.hypot(b[0] - a[0], b[1] - a[1])) / label.length);
  }

  /** Smallest image width that fills the view, or the minimum if the browser asks to save data. */
  get width() {
    if (navigator.connection?.saveData) return WIDTHS[0];
    const wanted = this.root.clientWidth * Math.min(2, window.devicePixelRatio);
    return WIDTHS.find((width) => width >= wanted * 0.8) ?? WIDTHS.at(-1);
  }
}
