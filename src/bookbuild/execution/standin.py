"""Stand-in for `bookbuild.results.keys.code_of`: the code of the function's whole module."""

from pathlib import Path

from bookbuild.results.keys import digest, fingerprint


def code_of(module: str, function: str, src: Path) -> str:
    """Return what stands for the code of a function and of all that it reaches."""
    files, _ = fingerprint([f"import {module}"], src)
    return digest({"function": function, "files": files})
