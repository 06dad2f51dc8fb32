"""Formulas as plain text, for places without mathematics: α₃ instead of its TeX source."""

import re

from docutils.utils.math import tex2unichar as known

DELIMITERS = re.compile(r"^\s*\\[(\[]|\\[)\]]\s*$")
FRACTION = re.compile(r"\\[dt]?frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))")
STYLE = re.compile(r"\\(?:mathbf|mathrm|mathbb|mathcal|text|operatorname|boldsymbol|tfrac)\b\*?")
SPACE = re.compile(
    r"\\[,;:! ]|\\q?quad\b|~|&|\\\\|\\(?:begin|end)\{\w+\*?\}|\\(?:left|right|big[lr]?)\b"
)
SCRIPTS = {"_": "₀₁₂₃₄₅₆₇₈₉₊₋", "^": "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"}
SCRIPT = re.compile(r"([_^])(?:\{([^{}]*)\}|(\w|\\[A-Za-z]+))")
COMMAND = re.compile(r"\\([A-Za-z]+)")
SIGNS = {
    **known.mathalpha, **known.mathord, **known.mathop, **known.mathbin, **known.mathrel,
    **known.mathopen, **known.mathclose,
    "cdot": "·", "dots": "…", "cdots": "…", "sim": "~", "mid": "|", "top": "ᵀ", "sqrt": "√",
    "lVert": "‖", "rVert": "‖",
}  # fmt: skip


def readable(tex: str) -> str:
    """Return a formula as plain text, as far as letters and signs go; what is left is unbraced.

    `tex` is the source, with or without the delimiters that the built page has around it.
    """
    text = DELIMITERS.sub("", DELIMITERS.sub("", tex))
    text = SPACE.sub(" ", STYLE.sub("", text))
    text = FRACTION.sub(lambda m: f"{m[1] or m[2]}/{m[3] or m[4]}", text)
    text = SCRIPT.sub(lambda m: _script(m[1], m[2] if m[2] is not None else m[3]), text)
    text = COMMAND.sub(lambda m: SIGNS.get(m[1], f" {m[1]} "), text)
    return " ".join(re.sub(r"[{}\\]", "", text).split())


def keys(tex: str) -> list[str]:
    """Return the names under which a reader may look for the symbols of a formula: alpha3."""
    text = STYLE.sub("", DELIMITERS.sub("", DELIMITERS.sub("", tex)))
    parts = re.split(r"[=,\s]+|\\[,;:! ]|\\l?dots", text)
    plain = (re.sub(r"[^A-Za-z0-9]", "", part).lower() for part in parts)
    return [part for part in dict.fromkeys(plain) if part]


def _script(mark: str, inside: str) -> str:
    """Return a sub- or superscript in small signs where there are such, else with its mark."""
    small = dict(zip("0123456789+-", SCRIPTS[mark], strict=True))
    if inside and all(letter in small for letter in inside):
        return "".join(small[letter] for letter in inside)
    return f"{mark}{_shown(inside)}"


def _shown(inside: str) -> str:
    is_long = len(COMMAND.sub("x", inside)) > 1 and not inside.startswith("(")
    return f"({inside})" if is_long else inside
