// Corrects misread tiles of the user's set, selected by a tap in the image or by number.

import { send } from "./api.js";
import { make, write } from "./dom.js";
import { say } from "./say.js";

const MAX_PIPS = 18;

/** Lets people correct a tile on a Sight; *onTaken* is called once the table has accepted it. */
export class TileEditor {
  constructor(sight, toast, onTaken) {
    Object.assign(this, { sight, toast, onTaken, tiles: [], isBusy: false });
    this.number = this.field(say("Number of the tile in the picture"), "tile-number", 1);
    this.first = this.field(say("Pips on one half"), "tile-first", 0);
    this.second = this.field(say("Pips on the other half"), "tile-second", 0);
    this.taken = make("p", { class: "about", "aria-live": "polite" });
    this.root = make("form", { id: "calibrate-tiles", class: "tile-tools", hidden: true, novalidate: true },
      make("p", { class: "about" }, say("If a tile is labelled wrongly, tap it or enter its number, then enter its pips.")),
      make("div", { class: "row" }, ...[this.number, this.first, this.second].map((field) => field.parentElement)),
      this.taken,
      make("button", { type: "submit" }, say("Correct this tile")));
    this.root.addEventListener("submit", (event) => this.submit(event));
    this.number.addEventListener("input", () => this.tell());
    sight.over.addEventListener("click", (event) => this.tap(event.clientX, event.clientY));
  }

  field(words, id, min) {
    const input = make("input", { type: "number", id, min, max: min === 1 ? null : MAX_PIPS, step: 1, inputmode: "numeric", class: "number" });
    make("div", { class: "field" }, make("label", { for: id }, words), input);
    return input;
  }

  /** Update from the table's state; the first doubtful tile is selected first. */
  show(shown) {
    const isNew = this.root.hidden || this.tiles.length !== shown.tiles.length;
    this.tiles = shown.tiles;
    this.root.hidden = this.tiles.length === 0;
    this.sight.root.classList.toggle("has-tiles", !this.root.hidden);
    if (!this.root.hidden && isNew) this.choose(this.tiles.find((tile) => tile.doubtful) ?? this.tiles[0]);
    else this.mark();
  }

  choose(tile) {
    this.number.value = tile.number;
    this.tell();
  }

  tap(x, y) {
    // Shapes are redrawn often, even between pressing and releasing.
    const target = document.elementsFromPoint(x, y).find((one) => one.matches(".is-tile"));
    const tile = this.tiles[this.shapes.indexOf(target)];
    if (tile !== undefined) this.choose(tile);
  }

  get shapes() {
    return [...this.sight.over.querySelectorAll(".is-tile")];
  }

  get tile() {
    return this.tiles.find((tile) => tile.number === this.number.valueAsNumber);
  }

  /** Show the reading of the tile with a number, and mark it in the image. */
  tell() {
    const { tile } = this;
    write(this.taken, tile === undefined ? "" : say("Tile {number} was read as {tile}.", { number: tile.number, tile: tile.pips.join("-") }));
    if (tile !== undefined) [this.first.value, this.second.value] = tile.pips;
    this.mark();
  }

  mark() {
    this.shapes.forEach((shape, at) => shape.classList.toggle("is-chosen", this.tiles[at] !== undefined && this.tiles[at] === this.tile));
  }

  async submit(event) {
    event.preventDefault();
    const pips = [this.first.valueAsNumber, this.second.valueAsNumber];
    if (this.isBusy || this.tile === undefined || pips.some(Number.isNaN)) return;
    this.isBusy = true;
    const answer = await send("calibration/tile", { number: this.tile.number, pips }, { method: "PUT" });
    this.isBusy = false;
    if (answer !== null && !answer.isDone) this.toast.failed(answer.told.error);
    this.onTaken();
  }
}
