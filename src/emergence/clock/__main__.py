"""Starts the command of the clock."""

import sys

from ._command import command

if __name__ == "__main__":
    sys.exit(command())
