"""Run the command line."""

from .cli import main

main()
