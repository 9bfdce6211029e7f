// Drawing and input of the zone editor.

import { draw, keep } from "./dom.js";
import { say } from "./say.js";
import { center, middles, nameOf, pointsOf, withCorner } from "./zones_shape.js";

const HANDLE_PX = 9;
const TOUCH_PX = 22;
const MIDDLE_PX = 5;
const LABEL_PX = 14;
// Approximate width of a letter.
const LETTER_PX = 9;
// Step of a key press in screen pixels; the smaller one with Shift.
const FAR_PX = 8;
const NEAR_PX = 1;
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Polygons over a Sight, which report input to their editor. */
export class ZoneLayer {
  constructor(sight, editor) {
    Object.assign(this, { sight, editor, isDragging: false });
    this.outlines = draw("g", {});
    this.names = draw("g", { "aria-hidden": "true" });
    this.between = draw("g", { "aria-hidden": "true" });
    this.handles = draw("g", { role: "group" });
    this.svg = draw("svg", { class: "zones", role: "application", "aria-label": say("Corners of the zone"), "aria-describedby": "zones-help" },
      this.outlines, this.names, this.between, this.handles);
    sight.root.append(this.svg);
  }

  /** Draw all zones, and the corners of the selected one. */
  draw(zones, picture) {
    this.svg.toggleAttribute("hidden", zones.length === 0);
    if (zones.length === 0) {
      for (const group of this.svg.children) group.replaceChildren();
      return;
    }
    this.svg.setAttribute("viewBox", `0 0 ${picture.width_px} ${picture.height_px}`);
    const scale = this.sight.scale;
    const chosen = zones.find((zone) => zone.isChosen);
    const corners = chosen.corners.map((place, at) => ({ place, at, count: chosen.corners.length, name: chosen.name, scale }));
    keep(this.outlines, zones, (zone) => zone.name, (zone) => this.outline(zone));
    keep(this.names, zones.map(({ name, corners }) => ({ name, corners, scale })), (zone) => zone.name, (zone) => label(zone));
    keep(this.between, middles(chosen.corners).map((place, at) => ({ place, at, scale })), (one) => one.at, (one) => this.middle(one));
    this.moveHandles(corners, picture);
  }

  /** Mark the selected corner. */
  mark(corner) {
    [...this.handles.children].forEach((one, at) => one.classList.toggle("is-chosen", at === corner));
  }

  /** Move the existing handles, so a dragged one stays the same element. */
  moveHandles(corners, { width_px, height_px }) {
    while (this.handles.children.length > corners.length) this.handles.lastElementChild.remove();
    while (this.handles.children.length < corners.length) this.handles.append(this.handle(this.handles.children.length));
    corners.forEach(({ place: [x, y], at, count, name, scale }) => {
      const one = this.handles.children[at];
      one.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
      const values = { name: nameOf(name), corner: at + 1, count, x: Math.round((100 * x) / width_px), y: Math.round((100 * y) / height_px) };
      one.setAttribute("aria-label", say("{name}, corner {corner} of {count}: {x} % from the left, {y} % from the top", values));
    });
  }

  outline(zone) {
    const one = draw("polygon", { class: zone.isChosen ? "outline is-chosen" : "outline", points: pointsOf(zone.corners) });
    one.addEventListener("pointerdown", () => this.editor.choose(zone.name));
    return one;
  }

  handle(at) {
    const one = draw("g", { class: "handle", tabindex: 0, role: "button" }, draw("circle", { class: "reach", r: TOUCH_PX }), draw("circle", { class: "knob", r: HANDLE_PX }));
    one.addEventListener("focus", () => this.editor.at(at));
    one.addEventListener("keydown", (event) => this.press(event, at));
    one.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      one.focus();
      this.drag(event, at);
    });
    return one;
  }

  middle({ place: [x, y], at, scale }) {
    const one = draw("g", { class: "between", transform: `translate(${x} ${y}) scale(${scale})` },
      draw("circle", { class: "reach", r: TOUCH_PX * 0.7 }), draw("circle", { class: "knob", r: MIDDLE_PX + 2 }), draw("path", { d: `M${-MIDDLE_PX} 0H${MIDDLE_PX}M0 ${-MIDDLE_PX}V${MIDDLE_PX}` }));
    one.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.editor.change(withCorner(this.editor.corners, at), at + 1);
      this.drag(event, at + 1);
    });
    return one;
  }

  /** Drag a corner with the pointer. */
  drag(event, at) {
    const gone = new AbortController();
    const { pointerId } = event;
    this.isDragging = true;
    this.svg.setPointerCapture(pointerId);
    const listen = (name, does) => this.svg.addEventListener(name, (one) => one.pointerId === pointerId && does(one), { signal: gone.signal });
    const end = () => {
      gone.abort();
      this.isDragging = false;
      this.editor.settle();
    };
    listen("pointermove", (one) => this.editor.moveCorner(at, this.placeOf(one)));
    listen("pointerup", end);
    listen("pointercancel", end);
  }

  press(event, at) {
    const way = WAYS[event.key];
    if (way !== undefined) {
      const far = (event.shiftKey ? NEAR_PX : FAR_PX) * this.sight.scale;
      const [x, y] = this.editor.corners[at];
      this.editor.moveCorner(at, [x + way[0] * far, y + way[1] * far]);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      this.editor.removeCorner();
      this.handles.children[this.editor.corner]?.focus();
    } else if (event.key === "Insert" || event.key === "+") {
      this.editor.change(withCorner(this.editor.corners, at), at + 1);
      this.handles.children[at + 1]?.focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  placeOf(event) {
    const box = this.svg.getBoundingClientRect();
    const { width_px, height_px } = this.editor.picture;
    return [((event.clientX - box.left) / box.width) * width_px, ((event.clientY - box.top) / box.height) * height_px];
  }
}

/** Return the label of a zone, rotated in narrow zones so labels do not overlap. */
function label({ name, corners, scale }) {
  const [x, y] = center(corners);
  const [wide, high] = [0, 1].map((axis) => Math.max(...corners.map((one) => one[axis])) - Math.min(...corners.map((one) => one[axis])));
  const words = nameOf(name);
  const isUpright = wide < LETTER_PX * words.length * scale && high > wide;
  return draw("text", { class: "label", x, y, "font-size": LABEL_PX * scale, transform: isUpright ? `rotate(-90 ${x} ${y})` : null }, words);
}
