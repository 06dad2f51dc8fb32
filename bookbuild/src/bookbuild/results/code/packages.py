"""The packages that every book imports, wherever they are installed."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

OURS = ("bookbuild", "running")


@cache
def folder_of(package: str) -> Path:
    """Return the folder of one of them."""
    found = find_spec(package)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent
