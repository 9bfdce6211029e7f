// Draws line and bar plots for phones, each with an equivalent table.

import { draw, foreign, make } from "./dom.js";
import { numberOf } from "./measures.js";
import { say } from "./say.js";

const [WIDTH, HEIGHT] = [360, 220];
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 10, 10, 24];

/**
 * Return a step plot.
 *
 * @param title Title.
 * @param series [{name, points: [[x, y]]}], one per line.
 * @param labelOf Returns the label of an x value.
 * @param table Head and rows of the equivalent table.
 */
export function linePlot(title, series, labelOf, table) {
  const places = series.flatMap((one) => one.points);
  const scale = scaleOf(places.map(([x]) => x), places.map(([, y]) => y));
  const lines = series.map((one, at) => {
    const path = one.points.map(([x, y], number) => (number === 0 ? `M${scale.x(x)} ${scale.y(y)}` : `H${scale.x(x)}V${scale.y(y)}`));
    return draw("path", { class: `line seat-${at % 6}`, d: path.join("") });
  });
  const ends = [scale.low, scale.high].map((x, at) => {
    return draw("text", { class: "axis", x: at === 0 ? LEFT : WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": at === 0 ? "start" : "end" }, labelOf(x));
  });
  const inside = draw("g", {}, ...ticks(scale), ...ends, ...lines);
  return figure(title, series, inside, (one) => one.points.at(-1)?.[1] ?? 0, table);
}

/**
 * Return a grouped bar plot.
 *
 * @param title Title.
 * @param series [{name, worths: [number]}], with one bar per group.
 * @param groups Names of the groups.
 */
export function barPlot(title, series, groups) {
  const scale = scaleOf([0, groups.length], [0, ...series.flatMap((one) => one.worths)]);
  const wide = (0.8 * (WIDTH - LEFT - RIGHT)) / Math.max(1, groups.length);
  const bars = series.flatMap((one, at) => one.worths.map((worth, group) => {
    const x = scale.x(group + 0.1) + (wide * at) / series.length;
    const [top, foot] = [Math.min(scale.y(worth), scale.y(0)), Math.max(scale.y(worth), scale.y(0))];
    return draw("rect", { class: `bar-of seat-${at % 6}`, x, y: top, width: Math.max(1, wide / series.length - 1), height: foot - top });
  }));
  const every = Math.ceil(groups.length / 12);
  const names = groups.map((name, group) => {
    if (group % every !== 0) return null;
    return draw("text", { class: "axis", x: scale.x(group + 0.5), y: HEIGHT - 6, "text-anchor": "middle" }, name);
  });
  const rows = groups.map((name, row) => [name, ...series.map((one) => one.worths[row])]);
  const table = { heads: [say("Hand"), ...series.map((one) => one.name)], rows };
  return figure(title, series, draw("g", {}, ...ticks(scale), ...names, ...bars), () => "", table);
}

function scaleOf(xs, ys) {
  const [low, high] = [Math.min(...xs, Infinity), Math.max(...xs, -Infinity)].map((one) => (Number.isFinite(one) ? one : 0));
  const step = niceStep(Math.max(1, Math.max(0, ...ys) - Math.min(0, ...ys)));
  const [floor, roof] = [Math.floor(Math.min(0, ...ys) / step) * step, Math.ceil(Math.max(1, ...ys) / step) * step];
  const x = (worth) => round(LEFT + ((worth - low) / (high - low || 1)) * (WIDTH - LEFT - RIGHT));
  const y = (worth) => round(TOP + ((roof - worth) / (roof - floor)) * (HEIGHT - TOP - BOTTOM));
  return { x, y, low, high, floor, roof, step };
}

function niceStep(span) {
  const power = 10 ** Math.floor(Math.log10(span / 4 || 1));
  return Math.max(1, [1, 2, 5, 10].map((one) => one * power).find((one) => span / one <= 5) ?? power * 10);
}

function ticks({ y, floor, roof, step }) {
  const lines = [];
  for (let worth = floor; worth <= roof; worth += step) {
    lines.push(draw("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(worth), y2: y(worth) }));
    lines.push(draw("text", { class: "axis", x: LEFT - 5, y: y(worth) + 4, "text-anchor": "end" }, numberOf(worth)));
  }
  return lines;
}

/** Return a plot with its key and the equivalent table. */
function figure(title, series, inside, worthOf, { heads, rows }) {
  const svg = draw("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" }, inside);
  const key = series.map((one, at) => make("li", { class: `seat-${at % 6}` }, foreign(one.name), ` ${worthOf(one)}`));
  return make("figure", { class: "card" }, make("figcaption", {}, title), svg, make("ul", { class: "plot-key" }, ...key), asTable(title, heads, rows));
}

/** Return a collapsible table below a plot. */
export function asTable(title, heads, rows) {
  const head = make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, foreign(name))));
  const body = rows.map(([name, ...cells]) => {
    return make("tr", {}, make("th", { scope: "row" }, foreign(name)), ...cells.map((cell) => make("td", {}, typeof cell === "number" ? numberOf(cell, 2) : foreign(cell))));
  });
  const table = make("table", { class: "figures", "aria-label": title }, make("thead", {}, head), make("tbody", {}, ...body));
  return make("details", {}, make("summary", {}, say("Show as a table")), make("div", { class: "sideways", tabindex: "0", role: "group", "aria-label": title }, table));
}

function round(number) {
  return Math.round(number * 10) / 10;
}
