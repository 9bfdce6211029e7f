// Views of the page; the address fragment selects one, such as #recordings or #recordings/NAME.

import { byId, make } from "./dom.js";
import { say } from "./say.js";

const FIRST = "table";
const known = new Map();
let shown = null;

/**
 * Register a view, in navigation order. Its element is <section id="view-NAME">.
 *
 * @param name Name in the address.
 * @param title Returns its title; null for a view that is not in the navigation.
 * @param show Called with its element and the rest of the address after the name, on every change.
 * @param hide Called when another view is shown.
 * @param under Parent view, which is marked in the navigation meanwhile.
 * @param follow Called with every snapshot while shown.
 */
export function view(name, { title, show = () => {}, hide = () => {}, under = name, follow = () => {} }) {
  const root = document.getElementById(`view-${name}`) ?? make("section", { id: `view-${name}`, class: "view", hidden: true });
  root.tabIndex = -1; // make it focusable from scripts
  if (!root.isConnected) document.querySelector("main").append(root);
  known.set(name, { name, title, show, hide, under, follow, root });
}

/**
 * Register a view whose code is loaded on demand.
 *
 * @param load Resolves to {show, hide, follow}, as above.
 * @param failed Called if it could not be loaded.
 */
export function viewOnDemand(name, { title, under }, load, failed) {
  let [parts, loading, wanted] = [null, null, 0];
  const show = async (root, behind) => {
    const own = ++wanted;
    try {
      parts = await (loading ??= load());
    } catch {
      loading = null;
      if (own === wanted) failed();
    }
    if (own === wanted) parts?.show(root, behind);
  };
  const hide = () => {
    wanted += 1;
    parts?.hide?.();
  };
  view(name, { title, under, show, hide, follow: (snapshot) => parts?.follow?.(snapshot) });
}

/** Pass a snapshot to the current view. */
export function tellShown(snapshot) {
  shown?.follow(snapshot);
}

/** Show the view in the address, now and on every change. */
export function followAddress() {
  for (const { name, title, under, root } of known.values()) {
    root.hidden = true;
    if (under === name) byId("nav").append(make("li", {}, make("a", { href: addressOf(name), id: `nav-${name}` }, title())));
  }
  window.addEventListener("hashchange", () => turn(true));
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    shown.root.focus();
  });
  turn(false);
}

/** Return the address of a view, with a suffix. */
export function addressOf(name, behind = "") {
  if (name === FIRST) return "#";
  return behind === "" ? `#${name}` : `#${name}/${encodeURIComponent(behind)}`;
}

/** Go to a view. */
export function goTo(name, behind = "") {
  location.hash = addressOf(name, behind);
}

/** Return the name of the current view. */
export function shownView() {
  return shown?.name ?? FIRST;
}

function turn(isAsked) {
  const [name, behind] = parse(location.hash);
  const next = known.get(name) ?? known.get(FIRST);
  const isOther = next !== shown;
  if (isOther) {
    shown?.hide();
    if (shown !== null) shown.root.hidden = true;
    shown = next;
    next.root.hidden = false;
    document.documentElement.dataset.view = next.name;
    document.title = next.name === FIRST ? "Tallybone" : say("{title} – Tallybone", { title: known.get(next.under).title() });
    document.querySelector(".skip").setAttribute("href", `#${next.root.id}`);
    for (const link of byId("nav").querySelectorAll("a")) mark(link, link.id === `nav-${next.under}`);
  }
  next.show(next.root, behind);
  // Scroll to the top, and move the focus of screen readers there.
  if (isOther && isAsked) {
    next.root.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
}

function mark(link, isHere) {
  if (isHere) {
    link.setAttribute("aria-current", "page");
    requestAnimationFrame(() => showInRow(link)); // measuring now would cause a second layout
  } else link.removeAttribute("aria-current");
}

/** Scroll the name of this view into the navigation row. scrollIntoView would change the start of the next Tab. */
function showInRow(link) {
  const [row, box] = [link.closest("nav").getBoundingClientRect(), link.getBoundingClientRect()];
  link.closest("nav").scrollLeft += Math.max(0, box.right - row.right) + Math.min(0, box.left - row.left);
}

function parse(hash) {
  const [name, ...behind] = hash.slice(1).split("/");
  try {
    return [name, decodeURIComponent(behind.join("/"))];
  } catch {
    return [name, ""];
  }
}
