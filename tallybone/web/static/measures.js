// Times, lengths and sizes as people write them, in the language of the page.

import { language } from "./say.js";

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Return a date with its time of day. */
export function dateOf(text) {
  const date = new Date(text);
  if (Number.isNaN(date.valueOf())) return text;
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(date);
}

/** Return a length of time as minutes and seconds, with hours where there are any. */
export function lengthOf(ms) {
  const seconds = Math.floor(ms / 1000);
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Return a size of a file. */
export function sizeOf(bytes) {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${numberOf(bytes / 1000 ** unit, unit > 0 ? 1 : 0)} ${UNITS[unit]}`;
}

/** Return a number with at most so many places after the comma. */
export function numberOf(worth, places = 1) {
  return new Intl.NumberFormat(language, { maximumFractionDigits: places }).format(worth);
}
