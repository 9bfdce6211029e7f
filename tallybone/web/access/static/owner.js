// Asks for the owner's password before the first change of a setting.

import { send } from "./api.js";
import { make, write } from "./dom.js";
import { say } from "./say.js";
import { closeSheet, openSheet } from "./sheet.js";

/** Ask for the password until it is correct; resolves to false if the dialog is closed. */
export function enterAsOwner() {
  const password = make("input", { type: "password", id: "owner-password", autocomplete: "current-password", maxlength: 200, required: true });
  const wrong = make("p", { class: "wrong", role: "alert" });
  const label = make("label", { class: "field" }, say("Owner's password"), password);
  const form = make("form", { class: "column" }, label, wrong, make("button", { type: "submit", class: "primary" }, say("Continue")));
  openSheet(say("Table owner"), form);
  password.focus();
  return new Promise((resolve) => {
    const dialog = form.closest("dialog");
    const leave = new AbortController();
    const settle = (isIn) => (leave.abort(), closeSheet(), resolve(isIn));
    dialog.addEventListener("close", () => settle(false), { signal: leave.signal });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const answer = await send("owner/login", { password: password.value });
      if (answer?.isDone) return settle(true);
      write(wrong, answer?.told.error ?? "");
      password.select();
    });
  });
}
