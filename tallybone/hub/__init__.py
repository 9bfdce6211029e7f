"""Show all tables of a club or a tournament on one page, from what they tell a broker."""
