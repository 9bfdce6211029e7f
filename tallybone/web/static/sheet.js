// The sheet over the page: a dialog with a title, closed by Escape, its cross or a tap outside.

import { byId, make, write } from "./dom.js";

/** Open the sheet with a title and content; null children are omitted. With an unchanged title, it keeps its scroll position. */
export function openSheet(title, ...children) {
  const [dialog, body] = [byId("sheet"), byId("sheet-body")];
  const isSame = dialog.open && byId("sheet-title").textContent === title;
  const [top, focused] = [dialog.scrollTop, keysOf(body).indexOf(document.activeElement)];
  write(byId("sheet-title"), title);
  body.replaceChildren(...children.filter((child) => child !== null));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = isSame ? top : 0;
  if (isSame) keysOf(body)[focused]?.focus({ preventScroll: true });
}

function keysOf(body) {
  return [...body.querySelectorAll("button, input")];
}

/** Close the sheet, and restore the focus. */
export function closeSheet() {
  const dialog = byId("sheet");
  if (dialog.open) dialog.close();
  byId("sheet-body").replaceChildren();
}

/** Close a dialog with its cross or a tap outside. */
export function listenToSheets() {
  byId("sheet-close").addEventListener("click", closeSheet);
  for (const dialog of [byId("sheet"), byId("login")]) {
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }
}

/** Return a section of a sheet, with a heading. */
export function part(heading, ...children) {
  return make("section", { class: "part" }, make("h3", {}, heading), ...children);
}

/** Return a form for an integer. */
export function numberForm({ label, value, min = null }, words, onNumber) {
  const field = make("input", { type: "number", step: 1, value, min, "aria-label": label, inputmode: "numeric", required: true });
  const form = make("form", { class: "row" }, field, make("button", { type: "submit" }, words));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (Number.isInteger(field.valueAsNumber)) onNumber(field.valueAsNumber);
  });
  return form;
}
