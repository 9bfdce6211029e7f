// Sends what somebody puts right to the table, asks for the PIN where it is needed, and offers the way back.

import { backOf } from "./back.js";
import { login } from "./login.js";
import { words } from "./words.js";

// A second tap so soon after the first is the same tap.
const ONE_TAP_MS = 400;

/** Where actions of this page go through. */
export class Desk {
  /** Say what was done on *toast*; *shown* returns the snapshot that is shown. */
  constructor(toast, shown) {
    Object.assign(this, { toast, shown, isBusy: false, doneAt: -ONE_TAP_MS });
  }

  /**
   * Do something.
   *
   * @param action What the table is sent.
   * @param said What to say when it is done.
   * @param seen The snapshot in which it was asked for.
   */
  async act(action, said, seen = this.shown()) {
    if (this.isBusy || performance.now() - this.doneAt < ONE_TAP_MS) return;
    this.isBusy = true;
    try {
      const answer = await sent({ action, if_version: seen.version });
      if (answer !== null) await this.tell(answer, action, said, seen);
    } catch {
      this.toast.failed(words("unreachable"));
    } finally {
      Object.assign(this, { isBusy: false, doneAt: performance.now() });
    }
  }

  async tell(answer, action, said, seen) {
    if (!answer.ok) {
      const told = await answer.json().catch(() => ({}));
      return this.toast.failed(told.error ?? words(answer.status === 409 ? "changed" : "refused"));
    }
    const after = await (await fetch("/api/v1/state", { cache: "no-store" })).json();
    const back = backOf(action, seen, after);
    return this.toast.done(said, back === null ? null : () => this.takeBack(back, after));
  }

  /** Take something back, unless the table has moved on since. */
  takeBack(back, after) {
    this.doneAt = -ONE_TAP_MS;
    return this.act(back, words("taken_back"), after);
  }
}

/** Send what is asked, after the PIN if that is missing; return the answer, null where somebody thought better of it. */
async function sent(asked) {
  const answer = await post(asked);
  if (answer.status !== 401) return answer;
  return (await login()) ? post(asked) : null;
}

function post(asked) {
  return fetch("/api/v1/actions", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(asked),
  });
}
