"""Show all tables of a club or a tournament on one page, from their messages to a broker."""
