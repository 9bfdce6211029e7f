// What only a television shows, loaded after its first picture: flying points, scenes, the idle screen, and where to answer.

import { byId, foreign, make } from "./dom.js";
import { Idle, isHere } from "./idle.js";
import { Points } from "./points.js";
import { Scenes } from "./scenes.js";
import { say } from "./say.js";

/** Parts of a television beside the score and layout. */
export class Television {
  constructor() {
    Object.assign(this, { idle: new Idle(), points: new Points(), scenes: new Scenes() });
    byId("question").append(make("p", { class: "where" }, make("span", {}, say("Answer on a phone")), isHere ? null : foreign(location.host)));
  }

  /** Update from a snapshot that the score and layout already show. */
  show(snapshot) {
    this.idle.show(snapshot);
    this.scenes.show(snapshot, this.points.show(snapshot));
  }
}
