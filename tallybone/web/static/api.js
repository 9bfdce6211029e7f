// HTTP requests to the table, with a PIN prompt if needed.

import { login } from "./login.js";
import { language, say } from "./say.js";

const API = "/api/v1/";

/** Return the JSON of a path. Throws an Error with a message for people and the HTTP `status`. */
export async function read(path) {
  let answer;
  try {
    answer = await fetch(addressOf(path), { cache: "no-store" });
  } catch {
    throw new Error(say("The table cannot be reached."));
  }
  const told = await answer.json().catch(() => ({}));
  // A game started in the terminal has a page but none of the table's other routes.
  if (answer.status === 404) throw failed(say("This page shows one match, started in the terminal. Run `tallybone serve` for all pages."), 404);
  if (!answer.ok) throw failed(told.error ?? say("The table rejected this. Nothing was changed."), answer.status);
  return told;
}

/**
 * Send a request to the table, asking for the PIN first if needed.
 *
 * @param path Path below the API.
 * @param asked Request body, as JSON unless it is a Blob.
 * @param method HTTP method.
 * @param enter Asks for the PIN or password; resolves to true if it was accepted.
 * @returns {isDone, status, told}, or null if the person cancelled.
 */
export async function send(path, asked = {}, { method = "POST", enter = login } = {}) {
  try {
    let answer = await sent(path, asked, method);
    if (answer.status === 401) {
      if (!(await enter())) return null;
      answer = await sent(path, asked, method);
    }
    const told = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
    if (!answer.ok) told.error ??= say("The table rejected this. Nothing was changed.");
    return { isDone: answer.ok, status: answer.status, told };
  } catch {
    return { isDone: false, status: 0, told: { error: say("The table cannot be reached. Nothing was changed.") } };
  }
}

function sent(path, asked, method) {
  const [kind, body] = asked instanceof Blob ? ["application/octet-stream", asked] : ["application/json", JSON.stringify(asked)];
  return fetch(addressOf(path), { method, headers: { "Content-Type": kind }, body });
}

/** Request the language of the page from the table. */
function addressOf(path) {
  return `${API}${path}${path.includes("?") ? "&" : "?"}lang=${language}`;
}

function failed(words, status) {
  return Object.assign(new Error(words), { status });
}
