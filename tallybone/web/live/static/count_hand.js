// Sheets that count a hand: choose the player, read the tiles from a photo or the table, correct and enter them.

import { read, send } from "./api.js";
import { button, foreign, make, write } from "./dom.js";
import { countedPips, foundTiles, handOf, holders, sumOf, withTile, written } from "./hand_count.js";
import { login } from "./login.js";
import { pipsPad, seatsPad } from "./play_sheet.js";
import { plural, say, sentence } from "./say.js";
import { closeSheet, openSheet, part } from "./sheet.js";
import { tileIcon } from "./tile.js";

// The reader uses at most 1280 px, so larger photos only take longer to send.
const MAX_PX = 2560;
const QUALITY = 0.92;
const MAX_BYTES = 16 * 2 ** 20;

/** Count the hands that are left, starting with a player's, or the first that has not been counted. A closed count goes on. */
export async function countHand(desk, seat = null) {
  const me = await read("me").catch(() => null);
  if (me?.controls === false && !(await login())) return;
  const [players, begun] = [holders(desk.shown()), desk.counting];
  const player = players.find((one) => one.seat === seat) ?? players[0];
  if (desk.shown().match.phase !== "reveal" || player === undefined) return;
  if (begun?.player.seat === player.seat && begun.hand === handOf(desk.shown())) begun.show();
  else new Count(desk, player).open();
}

/** Count of one hand. */
class Count {
  constructor(desk, player) {
    Object.assign(this, { desk, player, hand: handOf(desk.shown()), tiles: [], asked: 0 });
    this.status = make("p", { role: "status", class: "about" });
    this.wrong = make("p", { role: "alert", class: "wrong" });
    this.doubts = make("ul", { class: "doubts" });
  }

  get title() {
    return say("Count a hand: {name}", { name: this.player.name });
  }

  /** Open the sheet that chooses the player and the picture, with a message. */
  open(said = "") {
    this.desk.counting = null;
    const players = holders(this.desk.shown());
    const others = players.length < 2 ? null : part(say("Whose tiles are these?"), seatsPad(players, this.player.seat, (seat) => countHand(this.desk, seat)));
    const about = this.player.isCounted ? say("This hand has already been counted. Another count replaces it.") : say("Lay all tiles face up, without overlap, and take the photo from above.");
    write(this.status, said);
    write(this.wrong, "");
    openSheet(this.title, others, make("p", { class: "about" }, about), this.sources(), this.status, this.wrong);
  }

  /** Return the buttons for a photo and for the table's camera. */
  sources() {
    const file = make("input", { type: "file", accept: "image/*", capture: "environment", hidden: true });
    file.addEventListener("change", () => file.files.length > 0 && this.fetch(() => this.photo(file.files[0])));
    const table = button(say("Use the table's camera"), () => this.fetch(() => read(`hands/${this.player.seat}/table`)));
    return make("div", { class: "row" }, button(say("Take a photo"), () => file.click(), { class: "primary" }), file, table);
  }

  /** Return the tiles in a photo. Throws an Error with a message for people. */
  async photo(file) {
    const photo = await shrunk(file);
    if (photo.size > MAX_BYTES) throw new Error(say("This file is too large: choose one with at most 16 MB."));
    const answer = await send(`hands/${this.player.seat}/photo`, photo);
    if (answer?.isDone) return answer.told;
    throw new Error(answer?.told.error ?? "");
  }

  /** Show the tiles from *source*, or its error and a button to repeat it. */
  async fetch(source) {
    const asked = (this.asked += 1);
    write(this.wrong, "");
    write(this.status, say("Reading the tiles. This can take several seconds."));
    try {
      const tiles = await source();
      if (asked !== this.asked || !this.status.isConnected) return;
      this.tiles = foundTiles(tiles);
      this.desk.counting = this;
      this.show(tiles.length > 0 ? "" : say("No tiles found. Take the photo from closer and without glare, or add the tiles by hand."));
    } catch (error) {
      if (asked !== this.asked) return;
      write(this.status, "");
      this.wrong.replaceChildren(foreign(sentence(error.message, [])), " ", button(say("Try again"), () => this.fetch(source)));
    }
  }

  /** Open the sheet of the tiles. */
  show(wrong = "") {
    const pairs = countedPips(this.tiles);
    const isUnsure = this.tiles.some((tile) => tile.pips !== null && tile.sure.includes(false));
    const rows = this.tiles.map((tile, at) => make("li", {}, this.row(tile, at)));
    const sum = plural("1 pip", "{number} pips", { number: sumOf(pairs) });
    const enter = button(say("Enter {sum} for {name}", { sum, name: this.player.name }), () => this.enter(pairs), { class: "primary" });
    write(this.wrong, wrong);
    this.doubts.replaceChildren();
    openSheet(
      this.title,
      make("ul", { class: "hand-tiles" }, ...rows),
      isUnsure ? make("p", { class: "about" }, say("Check the tiles with a question mark. Tap a tile to correct it.")) : null,
      this.doubts,
      this.wrong,
      make("div", { class: "row" }, pairs.length > 0 ? enter : null, button(say("Add a tile"), () => this.edit(this.tiles.length)), button(say("Another photo"), () => this.open())),
    );
    if (pairs.length > 0) this.doubt(pairs);
  }

  row(tile, at) {
    const picture = tile.picture === null ? null : make("img", { class: "crop", src: tile.picture, alt: "" });
    const about = tile.pips === null ? say("Is this a tile? It does not count yet.") : plural("1 pip", "{number} pips", { number: sumOf([tile.pips]) });
    const state = tile.pips === null || tile.sure.includes(false) ? " is-unsure" : "";
    return button(picture, () => this.edit(at), { class: `hand-tile${state}` }, tileIcon(tile.pips), make("strong", {}, written(tile)), " ", make("span", { class: "about" }, about));
  }

  /** Ask the table for reasons against these tiles. */
  async doubt(pairs) {
    const [asked, query] = [(this.asked += 1), pairs.flat().map((number) => `pips=${number}`).join("&")];
    const doubts = await read(`hands/${this.player.seat}/doubts?${query}`).catch((error) => [error.message]);
    if (asked === this.asked) this.doubts.replaceChildren(...doubts.map((words) => make("li", { class: "wrong" }, foreign(sentence(words, [this.player.name])))));
  }

  /** Open the sheet that corrects a tile, or adds one. A number corrects a tile that was read at once. */
  edit(at, pips = this.tiles[at]?.pips ?? null) {
    const tile = this.tiles[at] ?? { picture: null, pips: null };
    const set = (to) => ((this.tiles = withTile(this.tiles, at, to)), this.show());
    const wanted = pips ?? [0, 0];
    const add = tile.pips === null ? button(say("Add"), () => set(wanted), { class: "primary" }) : null;
    const remove = at < this.tiles.length ? button(say("Not a tile of this hand"), () => set(null), { class: "danger" }) : null;
    openSheet(
      this.title,
      tile.picture === null ? null : make("img", { class: "crop", src: tile.picture, alt: say("The tile in the camera picture") }),
      part(say("Which tile is it?"), pipsPad(wanted, this.desk.shown(), (to) => (tile.pips === null ? this.edit(at, to) : set(to)))),
      make("div", { class: "row" }, add, remove, button(say("Back"), () => this.show())),
    );
  }

  /** Enter the hand, and go on with the next one. If that fails, the tiles stay. */
  async enter(pairs) {
    const { seat, name } = this.player;
    const said = say("{name}: {pips} pips left.", { name, pips: sumOf(pairs) });
    const answer = await this.desk.act({ type: "reveal", seat, tiles: pairs }, said);
    if (!answer?.isDone) {
      write(this.wrong, answer?.told.error ?? "");
      return;
    }
    this.desk.counting = null;
    closeSheet();
    const next = holders(this.desk.shown()).find((one) => !one.isCounted && one.seat !== seat);
    if (next !== undefined) new Count(this.desk, next).open(said);
  }
}

/** Return a photo as a JPEG of at most MAX_PX, or unchanged if it is small or this browser cannot decode it. */
async function shrunk(file) {
  try {
    const image = await createImageBitmap(file, { imageOrientation: "from-image" });
    const scale = MAX_PX / Math.max(image.width, image.height);
    if (scale >= 1) return file;
    const canvas = make("canvas", { width: Math.round(image.width * scale), height: Math.round(image.height * scale) });
    const pen = canvas.getContext("2d");
    pen.imageSmoothingQuality = "high";
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? file), "image/jpeg", QUALITY));
  } catch {
    return file; // the table knows other formats
  }
}
