// Speaks points and turns in the language of the page, where somebody has switched that on; off to begin with.

import { byId } from "./dom.js";
import { language, say } from "./say.js";

const KEPT = "tallybone voice";

/** What is spoken, once each; the newest silences what is still being said. */
export class Voice {
  constructor() {
    this.newest = null;
    this.switch = byId("voice");
    byId("voice-label").hidden = !("speechSynthesis" in window);
    this.switch.checked = localStorage.getItem(KEPT) === "on";
    this.switch.addEventListener("change", () => {
      localStorage.setItem(KEPT, this.switch.checked ? "on" : "off");
      // Said at once: some browsers speak only after a tap, and one hears whether it is loud enough.
      this.speak(this.switch.checked ? this.newest ?? "" : "");
    });
  }

  /** Speak what is new in a snapshot, if anything is; what was so when the page opened is not. */
  tell(snapshot) {
    const text = spoken(snapshot);
    const isFirst = this.newest === null;
    if (text === this.newest) return;
    this.newest = text;
    if (!isFirst && this.switch.checked) this.speak(text);
  }

  speak(text) {
    speechSynthesis.cancel();
    if (text === "") return;
    const said = new SpeechSynthesisUtterance(text);
    said.lang = language;
    said.voice = voiceOf(speechSynthesis.getVoices());
    speechSynthesis.speak(said);
  }
}

/** Return what is spoken: the last play with its points but without the sum, what came after it, and whose turn it is. */
function spoken({ last, told, question, waits_for: waits }) {
  const points = last?.points ?? 0;
  const play = points > 0 ? say("{what}, scores {points}", { what: last.what, points }) : last?.what;
  const after = told[0] !== undefined && told[0].words !== last?.words ? told[0].words : null;
  return [play, after, question?.words ?? waits].filter(Boolean).join(". ");
}

/** Return a voice of the language of the page; null, which is the browser's choice, where there is none. */
function voiceOf(voices) {
  const own = voices.filter((voice) => voice.lang.toLowerCase().split(/[-_]/)[0] === language);
  return own.find((voice) => voice.localService) ?? own[0] ?? null;
}
