"""Starts the fetching of all texts."""

from . import fetch

if __name__ == "__main__":
    fetch()
