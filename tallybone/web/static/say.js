// Every text of the page, by its English words.

/** Return a text; {names} in it are filled in. */
export function say(english, values = {}) {
  return english.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
