// Calibration view: the stored calibration, or the one in progress.

import { read, send } from "./api.js";
import { CalibrateCourse } from "./calibrate_course.js";
import { Stored } from "./calibrate_stored.js";
import { button, byId, make, write } from "./dom.js";
import { say } from "./say.js";

const PAUSE_MS = 200;
const STORED_MS = 2000;

/** The calibration view; errors are shown on *toast*. */
export class CalibrateView {
  constructor(toast) {
    // A calibration from the terminal has no stored-calibration view.
    Object.assign(this, { toast, timer: 0, isOpen: false, isFollowing: false, hasStored: true });
    this.course = new CalibrateCourse(toast, () => this.follow());
    this.stored = new Stored(toast, () => this.followFromBegin());
    this.ending = button(say("End calibration"), () => this.end(), { id: "calibrate-end", hidden: true });
    this.wrong = make("p", { id: "calibrate-why", class: "wrong", role: "alert" });
    this.parts = [make("h2", {}, say("Calibration")), this.wrong, this.stored.root, this.course.root, this.ending];
    document.addEventListener("visibilitychange", () => this.isOpen && !document.hidden && this.follow());
  }

  show(root) {
    if (root.childElementCount === 0) root.append(...this.parts);
    this.isOpen = true;
    this.follow();
  }

  hide() {
    this.isOpen = false;
    clearTimeout(this.timer);
  }

  /** Poll the state while the view is visible. */
  async follow() {
    clearTimeout(this.timer);
    if (!this.isOpen || document.hidden) return;
    let pause = STORED_MS;
    try {
      if (this.isFollowing || !this.hasStored) {
        this.turn(true, await read("calibration"));
        pause = PAUSE_MS;
      } else {
        await this.lookAtStored();
        if (this.isFollowing) pause = 0;
      }
      write(this.wrong, "");
    } catch (error) {
      // 404 means the calibration has ended; any other error leaves its state unknown.
      if (error.status === 404 && this.hasStored) this.turn(false);
      else write(this.wrong, error.message);
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.follow(), pause);
  }

  async lookAtStored() {
    try {
      const stored = await read("calibration/stored");
      this.isFollowing = stored.is_running;
      if (!stored.is_running) this.stored.show(stored);
    } catch (error) {
      if (error.status !== 404) throw error;
      this.hasStored = false;
    }
  }

  followFromBegin() {
    this.isFollowing = true;
    this.follow();
  }

  /** Show the calibration in progress (*shown*) or the stored one, and move the focus accordingly. */
  turn(isCourse, shown = null) {
    const leaves = isCourse ? this.stored.root : this.course.root;
    const isHeld = leaves.contains(document.activeElement) || document.activeElement === this.ending;
    const isOther = this.course.root.hidden === isCourse;
    this.isFollowing = isCourse && this.hasStored;
    this.course.root.hidden = !isCourse;
    this.stored.root.hidden = isCourse || !this.hasStored;
    this.ending.hidden = !this.isFollowing;
    if (isCourse) this.course.show(shown);
    else this.course.forget();
    if (isOther && isHeld) (isCourse ? byId("calibrate-title") : this.stored.title).focus();
  }

  async end() {
    const answer = await send("calibration/end");
    if (answer === null) return;
    if (!answer.isDone && answer.status !== 404) return void this.toast.failed(answer.told.error);
    this.turn(false);
    this.follow();
  }
}
