// What only a television shows, loaded after its first picture: flying points, scenes and the idle screen.

import { Idle } from "./idle.js";
import { Points } from "./points.js";
import { Scenes } from "./scenes.js";

/** Parts of a television beside the score and layout. */
export class Television {
  constructor() {
    Object.assign(this, { idle: new Idle(), points: new Points(), scenes: new Scenes() });
  }

  /** Update from a snapshot that the score and layout already show. */
  show(snapshot) {
    this.idle.show(snapshot);
    this.scenes.show(snapshot, this.points.show(snapshot));
  }
}
