// Camera view with the readings drawn over it; images are fetched only while it is visible.

import { byId, draw, keep, write } from "./dom.js";
import { agoOf } from "./measures.js";
import { say, sentence } from "./say.js";
import { poseOf } from "./tile.js";

// Delay between receiving an image and requesting the next one.
const PAUSE_MS = 350;
const AFTER_FAILURE_MS = 2000;
// Minimum height of a number, and minimum width of a half that also shows its confidence, in screen pixels.
const MIN_TEXT_PX = 11;
const MIN_SURE_PX = 22;
// A picture of this age is no longer live.
const OLD_S = 10;
const WIDTHS = [320, 640, 1280];

/** Camera view; *isLive* returns true while the table can be reached. */
export class CameraView {
  constructor(isLive) {
    this.isLive = isLive;
    this.isOpen = false;
    this.isSeen = true;
    this.snapshot = null;
    this.timer = 0;
    this.url = null;
    this.age_s = 0;
    new IntersectionObserver(([entry]) => this.see(entry.isIntersecting)).observe(byId("camera-view"));
    document.addEventListener("visibilitychange", () => this.begin());
    byId("overlay-on").addEventListener("change", (event) => byId("overlay").toggleAttribute("hidden", !event.target.checked));
  }

  /** Open or close the view. */
  open(isOpen) {
    this.isOpen = isOpen;
    if (isOpen && this.snapshot !== null) this.draw();
    this.begin();
  }

  /** Update from a snapshot. */
  show(snapshot) {
    this.snapshot = snapshot;
    if (this.isOpen) this.draw();
  }

  /** Draw the readings over the image. */
  draw() {
    const { layout } = this.snapshot;
    this.tell();
    if (!layout?.picture_px) return;
    const [width, height] = layout.picture_px;
    byId("overlay").setAttribute("viewBox", `0 0 ${width} ${height}`);
    byId("stage").style.aspectRatio = `${width} / ${height}`;
    const scale = byId("stage").clientWidth / width || 1;
    const seen = [
      ...layout.tiles.map((tile) => ({ ...tile, scale, key: `t${tile.seq}`, state: tile.doubtful ? "doubtful" : "laid" })),
      ...layout.waiting.map((tile, at) => ({ ...tile, key: `w${at}`, state: "waiting" })),
      ...(layout.unsure ?? []).map((tile, at) => ({ ...tile, key: `u${at}`, state: "unsure" })),
    ];
    keep(byId("seen"), seen, (tile) => tile.key, outlineOf);
    const zones = (layout.zones ?? []).map((zone) => ({
      seat: zone.seat,
      corners: zone.corners.map(([x, y]) => [x * width, y * height]),
    }));
    keep(byId("zones"), zones, (zone) => zone.seat ?? "boneyard", zoneOf);
  }

  /** Write what the camera sees, and the age of an old picture. */
  tell() {
    const { reader } = this.snapshot;
    const old = this.age_s < OLD_S ? "" : say("last picture {ago}", { ago: agoOf(this.age_s) });
    const words = [old, reader?.lost ?? reader?.text].filter(Boolean).join("; ");
    // Without a complaint, the words begin with the name of the camera, which keeps its small letter.
    write(byId("eye"), old || reader?.lost ? sentence(words, []) : words);
  }

  see(isSeen) {
    this.isSeen = isSeen;
    this.begin();
  }

  begin() {
    clearTimeout(this.timer);
    if (this.isOpen && this.isSeen && !document.hidden) this.fetch();
  }

  async fetch() {
    let pause = PAUSE_MS;
    try {
      if (this.isLive()) await this.fetchOne();
    } catch {
      byId("no-picture").hidden = false;
      pause = AFTER_FAILURE_MS;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.begin(), pause);
  }

  async fetchOne() {
    const answer = await fetch(`/api/v1/picture.jpg?width=${this.width}`, { cache: "no-cache" });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    this.age_s = Number(answer.headers.get("age"));
    const url = URL.createObjectURL(await answer.blob());
    byId("picture").src = url;
    if (this.url !== null) URL.revokeObjectURL(this.url);
    this.url = url;
    byId("no-picture").hidden = true;
    if (this.snapshot !== null) this.tell();
  }

  /** Smallest image width that fills the view, or the minimum if the browser asks to save data. */
  get width() {
    if (navigator.connection?.saveData) return WIDTHS[0];
    const wanted = byId("stage").clientWidth * Math.min(2, window.devicePixelRatio);
    return WIDTHS.find((width) => width >= wanted * 0.8) ?? WIDTHS.at(-1);
  }
}

function zoneOf(zone) {
  return draw("polygon", { class: "zone", points: pointsOf(zone.corners) });
}

function pointsOf(corners) {
  return corners.map((corner) => corner.map((number) => number.toFixed(0)).join(",")).join(" ");
}

function outlineOf(tile) {
  const one = draw("g", { class: `seen is-${tile.state}` }, draw("polygon", { points: pointsOf(tile.corners_px) }));
  if (tile.state === "unsure") {
    const { middle, side } = poseOf(tile);
    one.append(draw("text", { x: middle[0].toFixed(0), y: (middle[1] + 0.3 * side).toFixed(0), "font-size": (0.9 * side).toFixed(0) }, "?"));
  }
  const halves = tile.halves_px ?? [];
  halves.forEach(([x, y], at) => {
    const side = Math.hypot(halves[1][0] - halves[0][0], halves[1][1] - halves[0][1]);
    const size = Math.max(0.62 * side, MIN_TEXT_PX / tile.scale);
    const place = { x: x.toFixed(0), y: (y + size * 0.36).toFixed(0), "font-size": size.toFixed(0) };
    one.append(draw("text", place, String((tile.read ?? tile.pips)?.[at] ?? "?")));
    const sure = tile.confidence?.[at];
    if (sure === undefined || sure === null || side * tile.scale < MIN_SURE_PX) return;
    const below = { class: "sure", x: place.x, y: (y + size * 0.82).toFixed(0), "font-size": (size * 0.42).toFixed(0) };
    one.append(draw("text", below, `${Math.round(100 * sure)}%`));
  });
  return one;
}
