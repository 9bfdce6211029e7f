"""Run the command line with ``python -m tallybone``."""

from tallybone.cli import main

if __name__ == "__main__":
    main()
