// Choice of the hand whose plays are listed: the current one, or an earlier one that can be corrected.

import { read } from "./api.js";
import { byId, make, write } from "./dom.js";
import { showPlays } from "./plays.js";
import { say } from "./say.js";

export class Hands {
  /** *onPlay* is called with the seq of a tapped play and a snapshot with the plays of its hand; *desk* confirms plays. */
  constructor(onPlay, desk) {
    Object.assign(this, { onPlay, desk, chosen: null, plays: null, asked: 0, snapshot: null });
    this.box = byId("hands");
    this.select = byId("hand-chosen");
    this.select.addEventListener("change", () => this.choose(this.select.value === "" ? null : Number(this.select.value)));
  }

  /** Show the plays of a snapshot, or of the chosen hand. */
  show(snapshot) {
    const isNew = this.snapshot?.version !== snapshot.version;
    this.snapshot = snapshot;
    const newest = snapshot.match.hand ?? 0;
    // A new match has fewer hands than the previous one.
    if (this.chosen !== null && this.chosen >= newest) this.chosen = this.plays = null;
    this.offer(newest);
    if (this.chosen === null) this.draw(snapshot);
    else if (isNew) this.fetch();
  }

  choose(hand) {
    this.chosen = hand;
    this.plays = null;
    if (hand === null) this.draw(this.snapshot);
    else this.fetch();
  }

  /** Request the plays of the chosen hand; outdated answers are ignored. */
  async fetch() {
    const [hand, asked, snapshot] = [this.chosen, (this.asked += 1), this.snapshot];
    try {
      const plays = await read(`plays?hand=${hand}`);
      if (asked !== this.asked || hand !== this.chosen) return;
      // The positions of its tiles are no longer known.
      this.draw({ ...snapshot, plays, layout: null });
    } catch (error) {
      if (asked === this.asked) write(byId("no-plays"), error.message);
    }
  }

  draw(snapshot) {
    write(byId("plays-title"), this.chosen === null ? say("Plays of this hand") : say("Plays of hand {number}", { number: this.chosen }));
    write(byId("no-plays"), say("No plays in this hand yet."));
    showPlays(snapshot, (seq) => this.onPlay(seq, snapshot), this.desk);
  }

  /** List all hands; an open list is kept. */
  offer(newest) {
    this.box.hidden = newest < 2;
    if (this.select.options.length !== newest) {
      const earlier = Array.from({ length: Math.max(0, newest - 1) }, (_, at) => newest - 1 - at);
      const options = earlier.map((hand) => make("option", { value: hand }, say("Hand {hand}", { hand })));
      this.select.replaceChildren(make("option", { value: "" }, say("This hand")), ...options);
    }
    this.select.value = this.chosen === null ? "" : String(this.chosen);
  }
}
