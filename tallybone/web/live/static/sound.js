// Short sounds for plays, points, questions and wins, made by the browser; off by default.

import { byId } from "./dom.js";

const KEPT = "tallybone sound";
const LOUDNESS = 0.25;
const APART_S = 0.11;
const SCENES = { match: "match", domino: "hand", block: "hand" };
// Notes in hertz, played one after the other. A play is a knock of wood: a low note that ends at once.
const NOTES = { play: [196], points: [659, 988], question: [587, 440], hand: [523, 659, 784], match: [523, 659, 784, 1047, 1319] };
const LASTS_S = { play: 0.07, points: 0.3, question: 0.35, hand: 0.4, match: 0.6 };

/** Plays a sound for the news of a snapshot. Browsers allow none before the first touch or key. */
export class Sound {
  /** *isOn* switches it on regardless of the stored choice. */
  constructor(isOn) {
    Object.assign(this, { before: null, audio: null, switch: byId("sound") });
    this.switch.checked = isOn || localStorage.getItem(KEPT) === "on";
    this.switch.addEventListener("change", async () => {
      localStorage.setItem(KEPT, this.switch.checked ? "on" : "off");
      await this.wake();
      this.play("points"); // a sample, to check the volume
    });
    for (const touch of ["pointerdown", "keydown"]) window.addEventListener(touch, () => this.wake(), { passive: true });
  }

  /** Play the most important news of a snapshot, except for the first one. */
  tell(snapshot) {
    const news = this.before === null ? null : newsOf(this.before, snapshot);
    this.before = snapshot;
    if (news !== null) this.play(news);
  }

  /** Resolves once the browser allows sounds. */
  async wake() {
    if (!this.switch.checked) return;
    this.audio ??= new AudioContext();
    if (this.audio.state === "suspended") await this.audio.resume();
  }

  play(name) {
    if (!this.switch.checked || document.hidden) return;
    this.audio ??= new AudioContext(); // runs at once where the browser is set to allow it
    // Sounds from before the first touch must not follow all at once.
    if (this.audio.state !== "running") return;
    NOTES[name].forEach((hertz, at) => this.note(hertz, this.audio.currentTime + at * APART_S, LASTS_S[name]));
  }

  note(hertz, from, lasts) {
    const [tone, volume] = [this.audio.createOscillator(), this.audio.createGain()];
    tone.type = "triangle";
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(LOUDNESS, from);
    volume.gain.exponentialRampToValueAtTime(0.001, from + lasts);
    tone.connect(volume).connect(this.audio.destination);
    tone.start(from);
    tone.stop(from + lasts);
  }
}

/** Return the name of the sound for what changed between two snapshots, or null. */
function newsOf(before, { messages, question, last }) {
  const newest = before.messages[0]?.id ?? 0;
  const sounds = messages.filter((one) => one.id > newest).map((one) => SCENES[one.scene]);
  for (const name of ["match", "hand"]) if (sounds.includes(name)) return name;
  if (question !== null && question.topic !== before.question?.topic) return "question";
  if (last === null || last.seq <= (before.last?.seq ?? 0)) return null;
  if (last.points > 0) return "points";
  return last.kind === "play" ? "play" : null;
}
