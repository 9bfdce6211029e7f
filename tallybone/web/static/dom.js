// Creates and updates elements. Text is always inserted as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Return an HTML element; children are elements or texts, and null children are omitted. */
export function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Return an SVG element. */
export function draw(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

/** Return a button that calls a function when pressed. */
export function button(words, onPress, attributes = {}, ...children) {
  const one = make("button", { type: "button", ...attributes }, words, ...children);
  one.addEventListener("click", onPress);
  return one;
}

/** Return an element for foreign text such as a name, with an isolated writing direction. */
export function foreign(text, attributes = {}) {
  return make("bdi", attributes, String(text));
}

/** Return the nodes of a total: "~45" with a text for screen readers if *provisional*, else the number. */
export function totalOf(total, provisional) {
  if (provisional === null) return [String(total)];
  return [make("span", { "aria-hidden": "true" }, "~"), String(total), make("span", { class: "unseen" }, `, ${provisional}`)];
}

/** Return the element with an id, which must exist. */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found;
}

/** Set a text only if it differs, so screen readers announce only changes. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Write a text with its length, from which the styles of a television derive the font size. */
export function writeLong(element, text) {
  write(element, text);
  element.style.setProperty("--long", [...text].length);
}

/**
 * Update the children of an element to a list. Unchanged children are kept, with focus and scroll position.
 *
 * @param parent The element.
 * @param items Items to show, in order.
 * @param keyOf Returns the key of an item.
 * @param makeOne Returns the element of an item.
 */
export function keep(parent, items, keyOf, makeOne) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const wanted = items.map((item) => kept(old.get(String(keyOf(item))), item, keyOf, makeOne));
  wanted.forEach((child, at) => {
    if (parent.children[at] !== child) parent.insertBefore(child, parent.children[at] ?? null);
  });
  while (parent.children.length > wanted.length) parent.lastElementChild.remove();
}

function kept(before, item, keyOf, makeOne) {
  const print = JSON.stringify(item);
  if (before !== undefined && before.dataset.print === print) return before;
  const made = makeOne(item);
  made.dataset.key = String(keyOf(item));
  made.dataset.print = print;
  if (before === undefined) return made;
  const focused = placeOf(before, document.activeElement);
  before.replaceWith(made);
  if (focused !== null) focusable(made)[focused]?.focus();
  return made;
}

/** Return the focused part of an element, or null. */
function placeOf(parent, active) {
  const at = focusable(parent).indexOf(active);
  return at < 0 ? null : at;
}

function focusable(parent) {
  return [parent, ...parent.querySelectorAll("*")].filter((one) => one.matches("button, input, select, [tabindex]"));
}

function filled(element, attributes, children) {
  for (const [name, worth] of Object.entries(attributes)) {
    if (worth === null || worth === undefined || worth === false) continue;
    element.setAttribute(name, worth === true ? "" : String(worth));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}
