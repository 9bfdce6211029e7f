// Names of the parts of a calibration.

import { later } from "./say.js";

export const TITLES = { lens: later("Lens"), table: later("Table"), zones: later("Zones"), light: later("Light"), knock: later("Knocks"), set: later("Tiles") };
