// Rarely opened views: their names are known immediately, their code is loaded when the page is idle.

import { later, say } from "./say.js";
import { viewOnDemand } from "./views.js";

// In the order of the navigation; health, parts and calibration are linked from the settings.
const TITLES = {
  match: later("Match"),
  recordings: later("Recordings"),
  statistics: later("Statistics"),
  settings: later("Settings"),
  health: later("Health"),
  parts: later("Parts"),
  calibrate: later("Calibration"),
};
const UNDER = { health: "settings", parts: "settings", calibrate: "settings" };
const LOADS = {
  match: async (toast, shown) => new (await import("./match_view.js")).MatchView(toast, shown),
  recordings: async (toast) => new (await import("./recordings.js")).Recordings(toast),
  statistics: async () => new (await import("./statistics.js")).Statistics(),
  settings: async (toast) => new (await import("./settings_view.js")).SettingsView(toast),
  health: async () => new (await import("./health_view.js")).HealthView(),
  parts: async (toast) => new (await import("./parts_view.js")).PartsView(toast),
  calibrate: async (toast) => new (await import("./calibrate.js")).CalibrateView(toast),
};

/** Register the views; results are shown on *toast*, and *shown* returns the current snapshot. */
export function registerSeldom(toast, shown) {
  const failed = () => toast.failed(say("The table cannot be reached."));
  for (const name of Object.keys(TITLES)) {
    viewOnDemand(name, { title: () => say(TITLES[name]), under: UNDER[name] }, () => LOADS[name](toast, shown), failed);
  }
}

/** Load their code while the page is idle, so they open immediately. */
export function fetchAhead() {
  const fetchThem = () => import("./recordings.js").catch(() => {}); // retried when a view is opened
  if ("requestIdleCallback" in window) requestIdleCallback(fetchThem);
  else setTimeout(fetchThem, 1000);
}
