"""`tallybone doctor`: every part of a table checked for real, and how to mend what is wrong."""
