"""The program: the command line, the web page, and everything that combines reader, rules and devices."""
