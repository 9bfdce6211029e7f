// Speaks points and turns, where somebody has switched that on; off to begin with.

import { byId } from "./dom.js";

const KEPT = "tallybone voice";

/** What is spoken, once each. */
export class Voice {
  constructor() {
    this.spoken = null;
    this.switch = byId("voice");
    byId("voice-label").hidden = !("speechSynthesis" in window);
    this.switch.checked = localStorage.getItem(KEPT) === "on";
    this.switch.addEventListener("change", () => {
      localStorage.setItem(KEPT, this.switch.checked ? "on" : "off");
      if (!this.switch.checked) speechSynthesis.cancel();
    });
  }

  /** Speak what is new, if anything is; what was so when the page opened is not. */
  tell(text) {
    const isFirst = this.spoken === null;
    if (text === this.spoken) return;
    this.spoken = text;
    if (isFirst || !this.switch.checked || text === "") return;
    speechSynthesis.cancel();
    const said = new SpeechSynthesisUtterance(text);
    said.lang = document.documentElement.lang;
    speechSynthesis.speak(said);
  }
}
