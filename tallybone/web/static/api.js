// Asks the table over HTTP, and for the PIN first where that is needed.

import { login } from "./login.js";
import { language, say } from "./say.js";

const API = "/api/v1/";

/** Return what a path says; an Error says in words why it could not be had, and its `status` is that of HTTP. */
export async function read(path) {
  let answer;
  try {
    answer = await fetch(addressOf(path), { cache: "no-store" });
  } catch {
    throw new Error(say("The table cannot be reached."));
  }
  const told = await answer.json().catch(() => ({}));
  // A game that was begun at the terminal has a page, and its table no more than that.
  if (answer.status === 404) throw failed(say("This page is there for one match, which was begun at the terminal. `tallybone serve` has all of it."), 404);
  if (!answer.ok) throw failed(told.error ?? say("That was refused. Nothing was changed."), answer.status);
  return told;
}

/**
 * Send something to the table, after the PIN if that is missing.
 *
 * @param path Where it goes.
 * @param asked What is sent.
 * @param method PUT and DELETE change what is kept.
 * @param enter Asks for what opens the path; resolves to whether it was given.
 * @returns {isDone, status, told}; null where somebody thought better of it.
 */
export async function send(path, asked = {}, { method = "POST", enter = login } = {}) {
  try {
    let answer = await sent(path, asked, method);
    if (answer.status === 401) {
      if (!(await enter())) return null;
      answer = await sent(path, asked, method);
    }
    const told = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
    if (!answer.ok) told.error ??= say("That was refused. Nothing was changed.");
    return { isDone: answer.ok, status: answer.status, told };
  } catch {
    return { isDone: false, status: 0, told: { error: say("The table cannot be reached. Nothing was changed.") } };
  }
}

function sent(path, asked, method) {
  return fetch(addressOf(path), { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) });
}

/** The table answers in the language of the page. */
function addressOf(path) {
  return `${API}${path}${path.includes("?") ? "&" : "?"}lang=${language}`;
}

function failed(words, status) {
  return Object.assign(new Error(words), { status });
}
