// Points on a television: the ends that counted light up and fly to the player, whose total counts up.

import { byId, make } from "./dom.js";
import { isStill } from "./zoom.js";

const COUNT_MS = 600;
const FLY = { duration: 1100, easing: "ease-in-out", fill: "backwards" };
const APART_MS = 70;
// Part of the flight after which the first end arrives.
const ARRIVES = 0.85;

/** Totals shown last, to notice new points. */
export class Points {
  constructor() {
    Object.assign(this, { totals: new Map(), seq: null });
  }

  /** Move the new points of a snapshot. Returns the time until they have arrived, in milliseconds. */
  show({ players, last }) {
    const [before, seq] = [this.totals, this.seq];
    this.totals = new Map(players.map((player) => [`${player.seat} ${player.name}`, player.total]));
    this.seq = last?.seq ?? null;
    const scored = players.filter((player) => player.total > before.get(`${player.seat} ${player.name}`));
    if (scored.length === 0 || isStill() || document.hidden) return 0;
    const ends = this.seq === seq ? [] : document.querySelectorAll("#felt .end.is-counted");
    let delay = 0;
    for (const { seat, name, total } of scored) {
      const [number] = document.querySelectorAll(`.player[data-key="${seat}"] .total`);
      const isFlown = seat === last?.seat && ends.length > 0;
      if (isFlown) fly(ends, number);
      delay = Math.max(delay, isFlown ? ARRIVES * FLY.duration : 0);
      countUp(number, before.get(`${seat} ${name}`), total, isFlown ? ARRIVES * FLY.duration : 0);
    }
    return delay;
  }
}

function countUp(number, from, to, delay) {
  const text = [...number.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
  const start = performance.now() + delay;
  const step = (now) => {
    const part = Math.min(1, Math.max(0, (now - start) / COUNT_MS));
    const shown = String(Math.round(from + (to - from) * part));
    if (text.data !== shown) text.data = shown;
    if (part < 1) requestAnimationFrame(step);
  };
  step(0);
  number.animate({ transform: ["none", "scale(1.15)", "none"] }, { duration: COUNT_MS, delay });
}

function fly(ends, number) {
  const view = byId("layout-view");
  const [felt, to] = [view, number].map((one) => one.getBoundingClientRect());
  const [x, y] = [felt.left + view.clientLeft - to.left - to.width / 2, felt.top + view.clientTop - to.top - to.height / 2];
  [...ends].forEach((end, at) => {
    // The place in the felt at rest, because the felt may be gliding.
    const { e, f } = end.getCTM();
    const place = `translate(${x + e}px, ${y + f}px)`;
    const flying = make("span", { class: "flying", "aria-hidden": "true" }, end.textContent);
    flying.style.left = `${to.left + to.width / 2}px`;
    flying.style.top = `${to.top + to.height / 2}px`;
    document.body.append(flying);
    const frames = [
      { transform: `${place} scale(1)`, opacity: 0 },
      { transform: `${place} scale(1.6)`, opacity: 1, offset: 0.25 },
      { transform: `${place} scale(1.3)`, opacity: 1, offset: 0.45 },
      { transform: "scale(0.7)", opacity: 0.3 },
    ];
    flying.animate(frames, { ...FLY, delay: at * APART_MS }).finished.finally(() => flying.remove());
  });
}
