// Window onto the layout on a television: it follows the layout, and turns it by a quarter where that shows it larger.

// Margin around the layout, in sides of a half tile.
const MARGIN = 0.15;
// Room for the next plays when the window changes, as a share of the layout.
const ROOM = 0.15;
// Fewest sides across the felt, which limits the size of the first tiles.
const MIN_SIDES = 5;
// Gains from which the layout is turned, and from which it is enlarged after tiles were removed.
const TURNS_FROM = 1.15;
// Fewest tiles of a layout that is turned, because the direction of a smaller one still changes.
const MIN_TURNED = 6;
const ENLARGES_FROM = 1.5;
const GLIDE = { duration: 800, easing: "ease-in-out" };

/** Return true if the viewer prefers reduced motion. */
export function isStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Window of a felt. It keeps its place until the layout no longer fits. */
export class Zoom {
  constructor() {
    Object.assign(this, { isTurned: false, window: null });
  }

  /** Return a layout in the orientation in which *felt* shows it. Small gains do not change the orientation. */
  turn(felt, layout) {
    const points = (layout?.tiles ?? []).flatMap((tile) => tile.corners_px);
    if (points.length === 0) Object.assign(this, { isTurned: false, window: null });
    else if (layout.tiles.length >= MIN_TURNED) {
      const { width, height } = boxAround(points, 0);
      const [long, short] = this.isTurned ? [height, width] : [width, height];
      const shape = shapeOf(felt);
      if (widthFor(long, short, shape) > TURNS_FROM * widthFor(short, long, shape)) this.isTurned = !this.isTurned;
    }
    return this.isTurned ? turnedLayout(layout) : layout;
  }

  /** Show *points* of a layout whose half tiles have sides of *side*. */
  show(felt, points, side) {
    const shape = shapeOf(felt);
    const before = this.window;
    this.window = points.length === 0 ? null : this.windowFor(boxAround(points, MARGIN * side), side, shape);
    if (this.window === before && before !== null) return;
    const { x, y, width, height } = this.window ?? { x: 0, y: 0, width: 10 * side, height: (10 * side) / shape };
    felt.setAttribute("viewBox", [x - width / 2, y - height / 2, width, height].map((number) => number.toFixed(1)).join(" "));
    if (before !== null && this.window !== null && before.shape === shape && !isStill()) this.glide(felt, before);
  }

  windowFor(box, side, shape) {
    const least = MIN_SIDES * side * Math.max(1, shape);
    const around = (room) => Math.max((1 + room) * widthFor(box.width, box.height, shape), least);
    const before = this.window;
    const isAlike = before !== null && before.shape === shape && before.isTurned === this.isTurned;
    const isLarge = isAlike && before.width > ENLARGES_FROM * around(ROOM);
    if (isAlike && !isLarge && contains(before, box)) return before;
    // Move a window that is large enough, without scaling it.
    const width = isAlike && !isLarge && around(0) <= before.width ? before.width : around(ROOM);
    return { x: box.x, y: box.y, width, height: width / shape, shape, isTurned: this.isTurned };
  }

  /** Animate from an earlier window. */
  glide(felt, before) {
    const now = this.window;
    const quarters = Number(before.isTurned) - Number(now.isTurned);
    const [x, y] = [[now.y, -now.x], [now.x, now.y], [-now.y, now.x]][quarters + 1];
    const scale = felt.clientWidth / before.width;
    const moved = `translate(${scale * (x - before.x)}px, ${scale * (y - before.y)}px)`;
    felt.animate({ transform: [`${moved} rotate(${90 * quarters}deg) scale(${now.width / before.width})`, "none"] }, GLIDE);
  }
}

/** Return the width of a window of a shape that holds a box. */
function widthFor(width, height, shape) {
  return Math.max(width, height * shape);
}

function shapeOf(felt) {
  return felt.clientWidth / felt.clientHeight || 1.6;
}

/** Return a box by its centre. */
function boxAround(points, margin) {
  const [left, right, top, bottom] = [0, 1].flatMap((axis) => {
    const along = points.map((point) => point[axis]);
    return [Math.min(...along) - margin, Math.max(...along) + margin];
  });
  return { x: (left + right) / 2, y: (top + bottom) / 2, width: right - left, height: bottom - top };
}

function contains(outer, inner) {
  return ["x", "y"].every((axis) => {
    const size = axis === "x" ? "width" : "height";
    return Math.abs(outer[axis] - inner[axis]) <= (outer[size] - inner[size]) / 2;
  });
}

/** Return a layout turned clockwise by a quarter. */
function turnedLayout({ tiles, waiting, unsure, ends, ...rest }) {
  const turned = ([x, y]) => [-y, x];
  const turnedTile = (tile) => ({ ...tile, corners_px: tile.corners_px.map(turned), halves_px: tile.halves_px?.map(turned) });
  return { ...rest, tiles: tiles.map(turnedTile), waiting: waiting.map(turnedTile), unsure: unsure.map(turnedTile), ends: ends.map((end) => ({ ...end, x: -end.y, y: end.x })) };
}
