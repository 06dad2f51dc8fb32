"""Formulas are set in the pages of a site, with MathML and styles."""

from pathlib import Path

import pytest

from bookbuild.errors import BookError
from bookbuild.site.formulas import add_formulas

PAGE = """<p>The <span class="math">\\(N^2\\)</span>, <code>\\(kept\\)</code>:</p>
<div class="math"><span class="eqno">(1)</span>\\[\\begin{split}a&lt;b\\\\c\\end{split}\\]</div>
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "_static" / "fonts").mkdir(parents=True)
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    return tmp_path


def test_pages_carry_formulas_that_need_no_script(site: Path) -> None:
    add_formulas(site)
    page = (site / "page.html").read_text(encoding="utf-8")
    assert page.count("<mjx-container") == 2
    assert "<msup><mi>N</mi><mn>2</mn></msup>" in page
    assert page.count('tabindex="0"') == page.count('display="true"><mjx-math') == 1
    assert "<mo>&lt;</mo>" in page
    assert page.count("</span>,</span>") == 1  # a comma stays on the line of its formula
    assert "<code>\\(kept\\)</code>" in page
    styles = (site / "_static" / "formulas.css").read_text(encoding="utf-8")
    assert ".mjx-c32::before" in styles
    assert (site / "_static" / "fonts" / "formulas" / "MathJax_Main-Regular.woff").is_file()


def test_a_formula_that_cannot_be_set_is_named_with_its_page(site: Path) -> None:
    (site / "page.html").write_text(PAGE.replace("N^2", "\\unknown"), encoding="utf-8")
    with pytest.raises(BookError, match=r"page\.html: Undefined .*'\\\\unknown'"):
        add_formulas(site)
