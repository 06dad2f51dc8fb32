"""Names that a search finds at once, and formulas as plain text."""

import pytest
from lxml.html import document_fromstring

from bookbuild.site.lookup.formulas import keys, readable
from bookbuild.site.lookup.names import names_of

PAGE = """<article><figure id="figure-4"><img alt="x"><figcaption><p><strong>Figure 4.</strong>
The rate <span class="math">\\(\\alpha_3\\)</span> grows.</p></figcaption></figure>
<div class="proof" id="theorem-2"><p>Theorem 2 The order.</p></div>
<figure id="figure-beyond"><figcaption>Ours.</figcaption></figure></article>"""
GLOSSARY = """<article><section id="task"><table>
<tr><td><span class="math">\\(\\alpha=\\alpha_3\\)</span></td><td>layer 1</td><td></td></tr>
</table></section></article>"""


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\(\alpha_3\)", "α₃"),
        (r"N^2", "N²"),
        (r"\frac{N^2}{\ln N}", "N²/ ln N"),
        (r"T_\gamma < T_\beta", "T_γ < T_β"),
        (r"\mathbf W^{(1)}", "W^(1)"),
        (r"\lambda\le\infty", "λ≤∞"),
    ],
)
def test_a_formula_is_read_as_text(tex: str, text: str) -> None:
    assert readable(tex) == text


def test_symbols_have_keys_in_plain_letters() -> None:
    assert keys(r"\(\alpha=\alpha_3\)") == ["alpha", "alpha3"]
    assert keys(r"\(T_\alpha, T_\beta\)") == ["talpha", "tbeta"]


def test_figures_theorems_and_symbols_are_named() -> None:
    pages = {"book/a.html": document_fromstring(PAGE), "book/g.html": document_fromstring(GLOSSARY)}
    figure, theorem, symbol = names_of(pages, "book/g.html")
    assert (figure["name"], figure["keys"]) == ("Figure 4", ["figure4", "fig4"])
    assert figure["href"] == "book/a.html#figure-4"
    assert figure["text"] == "The rate α₃ grows."
    assert (theorem["name"], theorem["text"]) == ("Theorem 2", "The order.")
    assert (symbol["name"], symbol["href"]) == ("α=α₃", "book/g.html#task")
    assert symbol["keys"] == ["alpha", "alpha3"]
