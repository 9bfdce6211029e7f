// What only a television shows, loaded after its first picture: flying points and scenes.

import { Points } from "./points.js";
import { Scenes } from "./scenes.js";

/** Parts of a television beside the score and layout. */
export class Television {
  constructor() {
    Object.assign(this, { points: new Points(), scenes: new Scenes() });
  }

  /** Update from a snapshot that the score and layout already show. */
  show(snapshot) {
    this.scenes.show(snapshot, this.points.show(snapshot));
  }
}
