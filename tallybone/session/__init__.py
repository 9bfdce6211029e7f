"""Follow a sitting: a pure machine that takes inputs and returns the announcements to show."""
