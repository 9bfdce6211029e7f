// Choice of language: a button for each, labelled in that language.

import { button, byId } from "./dom.js";
import { language, LANGUAGES, speak } from "./say.js";

/** Show a button for each language, which reloads the page in that language. */
export function showLanguages() {
  const buttons = Object.entries(LANGUAGES).map(([code, name]) => {
    const isChosen = code === language;
    const attributes = { class: "choice", lang: code, "aria-pressed": String(isChosen), "data-language": code };
    return button(name, () => isChosen || speak(code), attributes);
  });
  byId("languages").replaceChildren(...buttons);
}
