"""Residuals: steps of a derivation as named expressions that must vanish, counted and tabled."""

from collections.abc import Mapping

import sympy as sp


def failed(residuals: Mapping[str, sp.Expr]) -> int:
    """The number of steps where something other than the number 0 is left."""
    return sum(value != 0 for value in residuals.values())


def as_table(residuals: Mapping[str, sp.Expr]) -> str:
    """A table in Markdown, a row a step."""
    rows = "".join(f"| {name} | {value} |\n" for name, value in residuals.items())
    return f"| step | what is left |\n|---|---|\n{rows}"
