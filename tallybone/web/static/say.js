// Says every text of the page in the language of who looks at it; the key of a text is its English.

import { code, texts } from "./texts.js";

/** The languages that there are texts for, as their speakers call them. */
export const LANGUAGES = Object.freeze({ en: "English", es: "Español", pt: "Português", fr: "Français" });

/** The language of the page: the table has made texts.js for it, by address, cookie, its own settings or the browser's wish. */
export const language = code;

const KEPT = "tallybone_language";
const YEAR_S = 31_536_000;
let plurals = null; // made when it is needed: what knows languages takes a slow phone long to begin with
const HOLE = /\{(\w+)\}/g;

/**
 * Return a text in the language of the page; {names} in it are filled in.
 *
 * Where a text has plural forms, its value `number` says which.
 */
export function say(english, values = {}) {
  const known = Object.hasOwn(texts, english) ? texts[english] : english;
  return formOf(known, values).replace(HOLE, (hole, name) => (Object.hasOwn(values, name) ? String(values[name]) : hole));
}

/** Mark a text that is said later: `later("Knock")` is "Knock", and is found where texts are looked for. */
export function later(english) {
  return english;
}

/** Return a text that begins with a capital, unless it begins with a name, which is as its owner writes it. */
export function sentence(text, names) {
  const isName = names.some((name) => name !== "" && text.startsWith(name));
  return isName ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Say the texts that stand in the page: with `data-say` the English that an element holds, with `data-say-in="alt"`
 * that of an attribute.
 */
export function fillIn(root) {
  for (const one of root.querySelectorAll("[data-say]")) one.textContent = say(one.textContent);
  for (const one of root.querySelectorAll("[data-say-in]")) {
    for (const name of one.dataset.sayIn.split(" ")) one.setAttribute(name, say(one.getAttribute(name)));
  }
}

/** Speak another language from now on: it is remembered, and the page begins anew. */
export function speak(code) {
  document.cookie = `${KEPT}=${code}; path=/; max-age=${YEAR_S}; samesite=lax`;
  const address = new URL(location.href);
  address.searchParams.delete("lang");
  history.replaceState(null, "", address);
  location.reload();
}

function formOf(known, values) {
  if (typeof known === "string") return known;
  // As the program has them: in Portuguese nothing counts like many.
  plurals ??= new Intl.PluralRules(language === "pt" ? "pt-PT" : language);
  return known[plurals.select(Number(values.number))] ?? known.other;
}
