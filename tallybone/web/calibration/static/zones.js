// Zone editor: polygons over the camera image, edited by dragging or with the arrow keys.

import { send } from "./api.js";
import { button, keep, make, write } from "./dom.js";
import { say } from "./say.js";
import { ZoneLayer } from "./zones_layer.js";
import { MIN_CORNERS, MAX_CORNERS, moved, nameOf, withCorner, withoutCorner } from "./zones_shape.js";

// Key presses within this time are one change.
const SETTLES_MS = 400;

/** Zone editor on a Sight; *onKept* is called when the table has saved a change. */
export class ZoneEditor {
  constructor(sight, toast, onKept) {
    Object.assign(this, { toast, onKept, picture: null, known: [], drafts: new Map(), name: null, corner: 0, timer: 0, sending: null });
    this.layer = new ZoneLayer(sight, this);
    this.list = make("div", { class: "row", role: "group", "aria-label": say("Zones") });
    this.add = button(say("Add a corner"), () => this.change(withCorner(this.corners, this.corner), this.corner + 1));
    this.remove = button(say("Remove the corner"), () => this.removeCorner());
    this.back = button(say("Reset"), () => this.forget());
    this.root = make("div", { class: "zone-tools", hidden: true }, this.list,
      make("p", { class: "about" }, say("Choose a zone and drag its corners. Tap a plus sign to add a corner.")),
      make("p", { id: "zones-help", class: "about keys" },
        say("Keyboard: arrow keys move a corner (with Shift in small steps), Delete removes it, Insert adds one after it.")),
      make("div", { class: "row" }, this.add, this.remove, this.back));
  }

  /** Corners of the selected zone. */
  get corners() {
    return this.drafts.get(this.name) ?? this.known.find((zone) => zone.name === this.name)?.corners ?? [];
  }

  /** Update from the table's state. */
  show(shown) {
    this.root.hidden = shown.zones.length === 0;
    const isOpen = !this.root.hidden && shown.picture !== null;
    if (!isOpen) {
      this.drafts.clear();
      clearTimeout(this.timer);
      this.timer = 0;
    }
    this.picture = shown.picture;
    this.known = isOpen ? shown.zones.filter((zone) => zone.corners.length >= MIN_CORNERS) : [];
    if (!this.known.some((zone) => zone.name === this.name)) this.choose(this.known[0]?.name ?? null);
    else this.draw();
  }

  choose(name) {
    this.name = name;
    this.corner = 0;
    this.draw();
  }

  /** Select a corner for buttons and keys. */
  at(corner) {
    this.corner = corner;
    this.tell();
  }

  moveCorner(at, place) {
    this.change(moved(this.corners, at, place, this.picture), at);
  }

  removeCorner() {
    if (this.corners.length > MIN_CORNERS) this.change(withoutCorner(this.corners, this.corner), Math.max(0, this.corner - 1));
  }

  /** Set the polygon of the zone; it is sent after a pause. */
  change(corners, corner) {
    if (corners.length > MAX_CORNERS) return;
    this.drafts.set(this.name, corners);
    this.corner = corner;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(), SETTLES_MS);
    this.draw();
  }

  /** Discard unsaved changes. */
  forget() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.drafts.clear();
    this.draw();
  }

  /** Send all pending changes, and wait for completion. */
  async settle() {
    if (this.layer.isDragging) return;
    if (this.timer !== 0) {
      clearTimeout(this.timer);
      this.timer = 0;
      this.sending = this.send();
    }
    await this.sending;
  }

  async send() {
    const sent = new Map(this.drafts);
    const zones = [...sent].map(([name, corners]) => ({ name, corners }));
    const answer = await send("calibration/zones", { zones }, { method: "PUT" });
    if (answer === null) return this.forget();
    if (!answer.isDone) {
      this.toast.failed(answer.told.error);
      return this.draw();
    }
    this.onKept();
    // Changes made meanwhile are sent separately.
    for (const [name, corners] of sent) if (this.drafts.get(name) === corners) this.drafts.delete(name);
    return null;
  }

  draw() {
    const zones = this.known.map(({ name, corners }) => ({ name, corners: this.drafts.get(name) ?? corners, isChosen: name === this.name }));
    const buttons = zones.map(({ name, isChosen }) => ({ name, isChosen }));
    keep(this.list, buttons, (one) => one.name, (one) => button(nameOf(one.name), () => this.choose(one.name), { "aria-pressed": String(one.isChosen) }));
    this.layer.draw(zones, this.picture);
    this.tell();
  }

  tell() {
    const [count, corner] = [this.corners.length, this.corner + 1];
    this.remove.disabled = count <= MIN_CORNERS;
    this.add.disabled = count >= MAX_CORNERS;
    this.back.hidden = this.drafts.size === 0;
    write(this.remove, this.remove.disabled ? say("A zone has at least {number} corners", { number: MIN_CORNERS }) : say("Remove corner {corner}", { corner }));
    write(this.add, this.add.disabled ? say("A zone has at most {number} corners", { number: MAX_CORNERS }) : say("Add a corner after {corner}", { corner }));
    this.layer.mark(this.corner);
  }
}
