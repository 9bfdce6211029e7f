// The views of the page, of which one is shown: the fragment of the address says which, as #recordings or #recordings/NAME.

import { byId, make } from "./dom.js";
import { say } from "./say.js";

const FIRST = "table";
const known = new Map();
let shown = null;

/**
 * Register a view, in the order in which the navigation lists them. Its element is <section id="view-NAME">.
 *
 * @param name What stands in the address.
 * @param title Returns what it is called; null for a view that another one leads to.
 * @param show Called with its element, and what stands behind the name in the address ("" for nothing), whenever that changes.
 * @param hide Called when another view is shown instead.
 * @param under The view that leads to it, which the navigation marks meanwhile.
 * @param follow Called with every snapshot while it is shown.
 */
export function view(name, { title, show = () => {}, hide = () => {}, under = name, follow = () => {} }) {
  const root = document.getElementById(`view-${name}`) ?? make("section", { id: `view-${name}`, class: "view", hidden: true });
  root.tabIndex = -1; // so that the focus can be put here
  if (!root.isConnected) document.querySelector("main").append(root);
  known.set(name, { name, title, show, hide, under, follow, root });
}

/**
 * Register a view whose parts are fetched when it is wanted: most people never open it.
 *
 * @param load Resolves to its {show, hide, follow}, each as above.
 * @param failed Called where it could not be fetched.
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

/** Hand a snapshot to the view that is shown. */
export function tellShown(snapshot) {
  shown?.follow(snapshot);
}

/** Show what the address says, now and whenever it changes. */
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

/** Return the address of a view, with something behind it. */
export function addressOf(name, behind = "") {
  if (name === FIRST) return "#";
  return behind === "" ? `#${name}` : `#${name}/${encodeURIComponent(behind)}`;
}

/** Go to a view. */
export function goTo(name, behind = "") {
  location.hash = addressOf(name, behind);
}

/** Return the name of the view that is shown. */
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
  // Who asked for another view is taken to its beginning, with eyes and with a screen reader.
  if (isOther && isAsked) {
    next.root.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
}

function mark(link, isHere) {
  if (isHere) {
    link.setAttribute("aria-current", "page");
    requestAnimationFrame(() => showInRow(link)); // what is measured now would be laid out twice
  } else link.removeAttribute("aria-current");
}

/** Let the name of this view be seen where not all fit. To scroll it into view would be where the next Tab begins. */
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
