"""Starts the fetching of all texts, the long ones first."""

from . import READERS, fetch, long

if __name__ == "__main__":
    fetch(long.READERS)
    fetch(READERS)
