"""A Sphinx extension for the words of the search: those of formulas, and words with a number.

A symbol is found however it is written: `\\gamma_4`, γ₄ and gamma_4 are the word gamma4, N^2 and
N² are n2. A number makes a word with the one before it, so "layer 1" does not ask for all layers.
"""

import json
import re
import unicodedata

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "π": "pi", "ρ": "rho",
    "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
LETTER = re.compile(f"[{''.join(GREEK)}]")
RAISED = re.compile(r"([A-Za-z])[_^]\{?(\d+)")  # and lowered
NUMBERED = re.compile(r"\b([A-Za-z]{3,})\s+(\d{1,2})\b")
QUESTION = {"do", "does", "how", "what", "when", "where", "which", "who", "why"}


class English(SearchEnglish):
    """English with the words of formulas; a query is split as the index was."""

    stopwords = SearchEnglish.stopwords | QUESTION
    js_splitter_code = f"""
const GREEK = {json.dumps(GREEK)};
var splitQuery = (query) => query.normalize("NFKC")
  .replace(/{LETTER.pattern}/g, (letter) => GREEK[letter])
  .replace(/{RAISED.pattern}/g, "$1$2")
  .replace(/{NUMBERED.pattern}/g, "$1$2")
  .split(/[^\\p{{Letter}}\\p{{Number}}_]+/u).filter((word) => word);
"""

    def split(self, input: str) -> list[str]:
        """Return the words of a text, those of its formulas among them."""
        text = unicodedata.normalize("NFKC", input)
        text = LETTER.sub(lambda letter: GREEK[letter[0]], text)
        text = NUMBERED.sub(r"\1 \1\2", RAISED.sub(r"\1\2", text))
        return super().split(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the language."""
    app.add_search_language(English)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
