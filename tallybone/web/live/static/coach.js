// Tiles that would score now, for learners. The table computes them from the open ends.

import { read } from "./api.js";
import { byId, make } from "./dom.js";
import { say } from "./say.js";
import { tileIcon } from "./tile.js";

/** Line below the layout, on pages with `?coach`. */
export class Coach {
  constructor() {
    Object.assign(this, { shown: "", root: make("p", { id: "coach" }) });
    byId("table").append(this.root);
  }

  /** Update from a snapshot, if its plays have changed. */
  async show({ match, plays }) {
    const now = JSON.stringify([match.phase, match.hand, plays]);
    if (now === this.shown) return;
    this.shown = now;
    const tiles = await read("coach").catch(() => null);
    if (now !== this.shown) return;
    const ones = (tiles ?? []).map(({ pips, points }) => {
      const words = say("{tile} would score {points}", { tile: pips.join("-"), points });
      return make("span", {}, tileIcon(pips), words);
    });
    this.root.replaceChildren(...(tiles?.length === 0 ? [say("No tile would score now.")] : ones));
  }
}
