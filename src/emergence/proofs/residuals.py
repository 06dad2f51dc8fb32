"""Residuals: steps of a derivation as named expressions that must vanish, counted and tabled."""

from collections.abc import Mapping

import sympy as sp


def failed(residuals: Mapping[str, sp.Expr]) -> int:
    """The number of steps of a derivation whose remainder is not 0 (this book).

    Args:
        residuals: for each step by name, the left side minus the right side, simplified.
    """
    return sum(value != 0 for value in residuals.values())


def as_table(residuals: Mapping[str, sp.Expr]) -> str:
    """The steps of a derivation as a table in Markdown, one row per step (this book).

    Args:
        residuals: as `failed` takes them.
    """
    rows = "".join(f"| {name} | {value} |\n" for name, value in residuals.items())
    return f"| step | what is left |\n|---|---|\n{rows}"
