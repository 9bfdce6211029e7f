// Sends what somebody puts right to the table, asks for the PIN where it is needed, and offers the way back.

import { login } from "./login.js";
import { words } from "./words.js";

// A second tap so soon after the first is the same tap.
const ONE_TAP_MS = 400;

/** Where actions of this page go through. */
export class Desk {
  /** Say what was done on *toast*; *version* returns that of the snapshot which is shown. */
  constructor(toast, version) {
    Object.assign(this, { toast, version, isBusy: false, doneAt: -ONE_TAP_MS });
  }

  /**
   * Do something.
   *
   * @param action What the table is sent.
   * @param said What to say when it is done.
   * @param back The action that takes it back, where the table does not name one itself; null for none.
   */
  async act(action, said, back = null) {
    if (this.isBusy || performance.now() - this.doneAt < ONE_TAP_MS) return;
    this.isBusy = true;
    const version = this.version();
    try {
      const answer = await this.sent({ action, if_version: version });
      if (answer !== null) await this.tell(answer, said, back);
    } catch {
      this.toast.failed(words("unreachable"));
    } finally {
      Object.assign(this, { isBusy: false, doneAt: performance.now() });
    }
  }

  /** Send it, after the PIN if that is missing; return the answer, null where somebody thought better of it. */
  async sent(asked) {
    const answer = await post(asked);
    if (answer.status !== 401) return answer;
    return (await login()) ? post(asked) : null;
  }

  async tell(answer, said, back) {
    const told = await answer.json().catch(() => ({}));
    if (answer.status === 409) return this.toast.failed(told.error ?? words("changed"));
    if (!answer.ok) return this.toast.failed(told.error ?? words("refused"));
    const way = told.back === undefined ? back : told.back;
    return this.toast.done(said, way === null ? null : () => this.takeBack(way));
  }

  takeBack(action) {
    this.doneAt = -ONE_TAP_MS;
    return this.act(action, words("taken_back"));
  }
}

function post(asked) {
  return fetch("/api/v1/actions", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(asked),
  });
}
