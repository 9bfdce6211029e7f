// Translates the texts of the page; the key of a text is its English.

import { code, texts } from "./texts.js";

/** Available languages, by their native names. */
export const LANGUAGES = Object.freeze({ en: "English", es: "Español", pt: "Português", fr: "Français" });

/** Language of the page; the table chose it from the address, cookie, settings or browser when it built texts.js. */
export const language = code;

/** Locale of dates and times: English ones follow the viewer's region. */
export const locale = code === "en" ? englishOf(navigator.language) : code;

const KEPT = "tallybone_language";
const YEAR_S = 31_536_000;
let plurals = null; // created on demand, because Intl is slow to start on a slow phone
const HOLE = /\{(\w+)\}/g;

/**
 * Return a text in the language of the page, with {placeholders} filled in.
 *
 * The value `number` selects the plural form.
 */
export function say(english, values = {}) {
  const known = Object.hasOwn(texts, english) ? texts[english] : english;
  return formOf(known, values).replace(HOLE, (hole, name) => (Object.hasOwn(values, name) ? String(values[name]) : hole));
}

/**
 * Return one of two texts by the value `number`, in the language of the page. The key of the translation is *many*.
 *
 * English itself has no catalogue, so the program gives both forms.
 */
export function plural(one, many, values) {
  return say(values.number === 1 && !Object.hasOwn(texts, many) ? one : many, values);
}

/** Mark a text for extraction without translating it: `later("Knock")` returns "Knock". */
export function later(english) {
  return english;
}

/** Return a text with a capital first letter, unless it starts with a name. No line starts with French punctuation. */
export function sentence(words, names) {
  const text = words.replace(/ (?=[:;!?])/g, "\u00a0");
  const isName = names.some((name) => name !== "" && text.startsWith(name));
  return isName ? text : text.replace(/^[¿¡]?./u, (start) => start.toUpperCase());
}

/**
 * Translate the texts in the page: `data-say` marks the content of an element, `data-say-in="alt"` the value
 * of an attribute.
 */
export function fillIn(root) {
  for (const one of root.querySelectorAll("[data-say]")) one.textContent = say(one.textContent);
  for (const one of root.querySelectorAll("[data-say-in]")) {
    for (const name of one.dataset.sayIn.split(" ")) one.setAttribute(name, say(one.getAttribute(name)));
  }
}

/** Store another language, and reload the page. */
export function speak(code) {
  document.cookie = `${KEPT}=${code}; path=/; max-age=${YEAR_S}; samesite=lax`;
  const address = new URL(location.href);
  address.searchParams.delete("lang");
  history.replaceState(null, "", address);
  location.reload();
}

function englishOf(viewer) {
  const region = new Intl.Locale(viewer || "en").maximize().region;
  return region === undefined ? "en" : `en-${region}`;
}

function formOf(known, values) {
  if (typeof known === "string") return known;
  // Same plural rules as the program: zero is plural in Portuguese.
  plurals ??= new Intl.PluralRules(language === "pt" ? "pt-PT" : language);
  return known[plurals.select(Number(values.number))] ?? known.other;
}
