// Registers the view of calibration; its parts are fetched when somebody opens it first, for most people never do.

import { say } from "./say.js";
import { view } from "./views.js";

/** Register the view; what goes wrong is said on *toast*. */
export function registerCalibrateView(toast) {
  let calibrate = null;
  let isShown = false;
  view("calibrate", {
    title: () => say("Calibration"),
    show: async (root) => {
      isShown = true;
      try {
        const { CalibrateView } = await import("./calibrate.js");
        calibrate ??= new CalibrateView(root, toast);
        if (isShown) calibrate.open();
      } catch {
        toast.failed(say("The table cannot be reached."));
      }
    },
    hide: () => {
      isShown = false;
      calibrate?.close();
    },
    under: "settings",
  });
}
