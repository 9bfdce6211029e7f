// Asks for the table's PIN before the first correction.

import { byId, write } from "./dom.js";
import { say } from "./say.js";

const KEPT_NAME = "tallybone name";
const DIGITS = 6;

/** Ask for the PIN until it is correct; resolves to false if the dialog is closed. */
export function login() {
  const dialog = byId("login");
  const form = byId("login-form");
  const [pin, name] = [byId("pin"), byId("author")];
  pin.value = "";
  name.value = localStorage.getItem(KEPT_NAME) ?? "";
  write(byId("login-wrong"), "");
  dialog.showModal();
  pin.focus();
  return new Promise((resolve) => {
    const leave = new AbortController();
    const settle = (isIn) => (leave.abort(), dialog.close(), resolve(isIn));
    const listen = (target, event, does) => target.addEventListener(event, does, { signal: leave.signal });
    listen(dialog, "close", () => settle(false));
    listen(byId("login-close"), "click", () => settle(false));
    listen(pin, "input", () => pin.value.replace(/\D/g, "").length === DIGITS && form.requestSubmit());
    listen(form, "submit", async (event) => {
      event.preventDefault();
      const problem = await send(pin.value.replace(/\D/g, ""), name.value.trim());
      if (problem === null) return settle(true);
      write(byId("login-wrong"), problem);
      pin.select();
    });
  });
}

/** Send the PIN; resolves to an error message, or null. */
async function send(pin, name) {
  if (name) localStorage.setItem(KEPT_NAME, name);
  let answer;
  try {
    answer = await fetch("/api/v1/login", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(name ? { pin, name } : { pin }),
    });
  } catch {
    return say("The table cannot be reached. Nothing was changed.");
  }
  if (answer.ok) return null;
  if (answer.status === 429) return say("Too many attempts. Wait {seconds} seconds.", { seconds: answer.headers.get("Retry-After") ?? "60" });
  return say("Wrong PIN for this match.");
}
