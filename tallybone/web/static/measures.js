// Formats dates, durations and sizes in the language of the page.

import { language, locale } from "./say.js";

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Return a date and time. */
export function dateOf(text) {
  const date = new Date(text);
  if (Number.isNaN(date.valueOf())) return text;
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(date);
}

/** Return a duration as M:SS, or H:MM:SS from one hour on. */
export function lengthOf(ms) {
  const seconds = Math.floor(ms / 1000);
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Return a file size. */
export function sizeOf(bytes) {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${numberOf(bytes / 1000 ** unit, unit > 0 ? 1 : 0)} ${UNITS[unit]}`;
}

/** Return how long ago something was. */
export function agoOf(seconds) {
  const [size, unit] = [[3600, "hour"], [60, "minute"]].find(([size]) => seconds >= 2 * size) ?? [1, "second"];
  return new Intl.RelativeTimeFormat(language).format(-Math.round(seconds / size), unit);
}

/** Return a number with a maximum number of decimals. */
export function numberOf(worth, places = 1) {
  return new Intl.NumberFormat(language, { maximumFractionDigits: places }).format(worth);
}
