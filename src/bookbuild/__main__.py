"""Run the command line."""

from bookbuild.cli import main

main()
