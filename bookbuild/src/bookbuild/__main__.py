"""Entry point of the command line."""

from .cli import main

main()
