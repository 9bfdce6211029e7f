// The choice of the language: a button for each, named as its own speakers name it.

import { button, byId } from "./dom.js";
import { language, LANGUAGES, speak } from "./say.js";

/** Show a button for each language; the page begins anew in the one that is pressed. */
export function showLanguages() {
  const buttons = Object.entries(LANGUAGES).map(([code, name]) => {
    const isChosen = code === language;
    const attributes = { class: "choice", lang: code, "aria-pressed": String(isChosen), "data-language": code };
    return button(name, () => isChosen || speak(code), attributes);
  });
  byId("languages").replaceChildren(...buttons);
}
