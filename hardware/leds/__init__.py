"""LEDs: patterns that signal the state of the table, and drivers."""
