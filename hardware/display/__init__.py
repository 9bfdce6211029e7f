"""Score displays: a page of scores as a plain value, and everything that can show one."""
