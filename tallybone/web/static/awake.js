// Keeps the screen on where the browser can: on a television always, on another device while a match runs, if switched on.

import { byId } from "./dom.js";

const KEPT = "tallybone awake";

export class Awake {
  constructor(isDisplay) {
    Object.assign(this, { isDisplay, isRunning: isDisplay, lock: null });
    this.switch = byId("awake");
    // Only secure contexts have wake locks.
    byId("awake-label").hidden = isDisplay || !("wakeLock" in navigator);
    this.switch.checked = localStorage.getItem(KEPT) === "on";
    this.switch.addEventListener("change", () => {
      localStorage.setItem(KEPT, this.switch.checked ? "on" : "off");
      this.hold();
    });
    // The browser releases the lock of a hidden page.
    document.addEventListener("visibilitychange", () => this.hold());
    if (isDisplay) document.addEventListener("click", () => document.documentElement.requestFullscreen?.().catch(() => {}));
    this.hold();
  }

  /** Follow a snapshot: only a match keeps the screen of a phone on. */
  show({ match }) {
    const isRunning = this.isDisplay || (match.phase !== "lobby" && !match.over);
    if (isRunning === this.isRunning) return;
    this.isRunning = isRunning;
    this.hold();
  }

  async hold() {
    const isWanted = this.isRunning && (this.isDisplay || this.switch.checked) && document.visibilityState === "visible";
    if (!isWanted) {
      this.lock?.release();
      this.lock = null;
    } else if (this.lock === null || this.lock.released) {
      // A battery saver may refuse it.
      this.lock = (await navigator.wakeLock?.request("screen").catch(() => null)) ?? null;
    }
  }
}
