// The views that are seldom opened: what they are called is known at once, all else is fetched when the page has nothing else to do.

import { later, say } from "./say.js";
import { viewOnDemand } from "./views.js";

// In the order of the navigation; health, parts and calibration are led to by the settings.
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

/** Register the views; what was done is said on *toast*, and *shown* returns the snapshot that is shown. */
export function registerSeldom(toast, shown) {
  const failed = () => toast.failed(say("The table cannot be reached."));
  for (const name of Object.keys(TITLES)) {
    viewOnDemand(name, { title: () => say(TITLES[name]), under: UNDER[name] }, () => LOADS[name](toast, shown), failed);
  }
}

/** Fetch what they need while nobody waits for anything, so that they open at once. */
export function fetchAhead() {
  const fetchThem = () => import("./recordings.js").catch(() => {}); // it is asked for again when it is wanted
  if ("requestIdleCallback" in window) requestIdleCallback(fetchThem);
  else setTimeout(fetchThem, 1000);
}
