// Receives snapshots over a WebSocket, reconnects automatically, and reports if the page is live.

import { language } from "./say.js";

const SILENT_MS = 8000;
const ANSWER_MS = 4000;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8000;

/** State of the connection to the table. */
export const Link = Object.freeze({ OPENING: "opening", LIVE: "live", LOST: "lost" });

/**
 * Start receiving snapshots.
 *
 * @param onSnapshot Called with every new snapshot.
 * @param onLink Called with a Link whenever it changes.
 */
export function follow(onSnapshot, onLink) {
  new Follower(onSnapshot, onLink).begin();
}

class Follower {
  constructor(onSnapshot, onLink) {
    Object.assign(this, { onSnapshot, onLink, socket: null, timer: 0, taken: "" });
    Object.assign(this, { wait: FIRST_WAIT_MS, link: Link.OPENING });
    window.addEventListener("online", () => this.again());
    // Timers do not run while a phone sleeps.
    document.addEventListener("visibilitychange", () => document.hidden || this.link === Link.OPENING || this.check());
  }

  /** Show the snapshot embedded in the page, which is not live. */
  begin() {
    const first = document.getElementById("first");
    this.open();
    if (first !== null) this.take(first.textContent);
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/api/v1/live?lang=${language}`);
    this.socket = socket;
    this.listen();
    socket.addEventListener("message", (event) => this.socket === socket && this.came(event.data));
    socket.addEventListener("close", () => this.socket === socket && this.lost());
  }

  came(text) {
    this.wait = FIRST_WAIT_MS;
    this.listen();
    this.turn(Link.LIVE);
    this.take(text);
  }

  /** Show a snapshot unless it is already shown, because drawing takes a slow phone a tenth of a second. */
  take(text) {
    if (text === this.taken) return;
    this.taken = text;
    const message = JSON.parse(text);
    if (message.type === "snapshot") this.onSnapshot(message);
  }

  /** Wait some seconds for a message, then send a ping. */
  listen() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), SILENT_MS);
  }

  /** Ping over the WebSocket itself, because a broken connection looks idle while HTTP still works. */
  check() {
    if (this.socket === null) return void this.again();
    if (this.socket.readyState !== WebSocket.OPEN) return void this.lost();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.lost(), ANSWER_MS);
    this.socket.send("ping");
  }

  lost() {
    clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.turn(Link.LOST);
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(MAX_WAIT_MS, this.wait * 1.7);
  }

  again() {
    if (this.socket !== null) return;
    clearTimeout(this.timer);
    this.open();
  }

  turn(link) {
    if (link === this.link) return;
    this.link = link;
    this.onLink(link);
  }
}
