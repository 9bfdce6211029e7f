// Speaks points and turns in the language of the page; off by default.

import { byId } from "./dom.js";
import { language, say } from "./say.js";

const KEPT = "tallybone voice";

/** Speaks messages once each; a new one interrupts the previous one. */
export class Voice {
  constructor() {
    this.newest = null;
    this.switch = byId("voice");
    byId("voice-label").hidden = !("speechSynthesis" in window);
    this.switch.checked = localStorage.getItem(KEPT) === "on";
    this.switch.addEventListener("change", () => {
      localStorage.setItem(KEPT, this.switch.checked ? "on" : "off");
      // Speak immediately, because some browsers require a tap, and to check the volume.
      this.speak(this.switch.checked ? this.newest ?? "" : "");
    });
  }

  /** Speak news of a snapshot, except for the first one. */
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

/** Return the spoken text: the last play with its points, later messages, and the turn. */
function spoken({ last, messages, question, waits_for: waits }) {
  const points = last?.points ?? 0;
  const play = points > 0 ? say("{what}, scores {points}", { what: last.what, points }) : last?.what;
  const after = messages[0] !== undefined && messages[0].text !== last?.text ? messages[0].text : null;
  return [play, after, question?.text ?? waits].filter(Boolean).join(". ");
}

/** Return a voice for the language of the page, or null for the browser's default. */
function voiceOf(voices) {
  const own = voices.filter((voice) => voice.lang.toLowerCase().split(/[-_]/)[0] === language);
  return own.find((voice) => voice.localService) ?? own[0] ?? null;
}
