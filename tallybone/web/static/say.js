// Says every text of the page in the language of who looks at it; the key of a text is its English.

/** The languages that there are texts for, as their speakers call them. */
export const LANGUAGES = Object.freeze({ en: "English", es: "Español", pt: "Português", fr: "Français" });

const KEPT = "tallybone language";
const HOLE = /\{(\w+)\}/g;

/** The language of the page: of its address (?lang=es), else the one that was chosen, else the table's, else the browser's. */
export const language = chosenLanguage() ?? (await languageOfTable()) ?? knownOf(navigator.languages) ?? "en";
document.documentElement.lang = language;

// Waited for, so that no module ever shows a text in the wrong language first.
const texts = await fetched(language);
// As the program has them: in Portuguese nothing counts like many.
const plurals = new Intl.PluralRules(language === "pt" ? "pt-PT" : language);

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
  return isName ? text : text.charAt(0).toLocaleUpperCase(language) + text.slice(1);
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
  localStorage.setItem(KEPT, code);
  const address = new URL(location.href);
  address.searchParams.delete("lang");
  history.replaceState(null, "", address);
  location.reload();
}

function formOf(known, values) {
  if (typeof known === "string") return known;
  return known[plurals.select(Number(values.number))] ?? known.other;
}

function chosenLanguage() {
  return knownOf([new URLSearchParams(location.search).get("lang"), localStorage.getItem(KEPT)]);
}

function knownOf(wanted) {
  const codes = wanted.map((code) => String(code).toLowerCase().split("-")[0]);
  return codes.find((code) => Object.hasOwn(LANGUAGES, code));
}

async function languageOfTable() {
  try {
    return knownOf([(await (await fetch("/api/v1/me", { cache: "no-store" })).json()).language]);
  } catch {
    return undefined;
  }
}

/** Return the texts of a language; none, so that all is English, where the table does not give them. */
async function fetched(code) {
  try {
    const answer = await fetch(`/api/v1/texts/${code}`, { cache: "no-cache" });
    return answer.ok ? await answer.json() : {};
  } catch {
    return {};
  }
}
