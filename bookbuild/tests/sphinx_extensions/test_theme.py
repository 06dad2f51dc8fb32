"""Scripts come to the pages that need them, and to no others."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from bookbuild.sphinx_extensions.theme import (
    add_scripts,
    with_named_toggles,
    without_scripts,
    without_title,
    without_viewport,
)

EXPLORABLE = '<div class="explorable" data-explorable="circuit">'
PAPER = '<div id="jb-print-docs-body" class="onlyprint">\n    '
TOGGLE = '<summary><span class="toctree-toggle" role="presentation"></span></summary>'


@pytest.mark.parametrize(
    ("name", "text", "files"),
    [
        ("page", EXPLORABLE, ["explorables/circuit.js", "explorables/explorables.css"]),
        ("page", "<div>", []),
        ("book/verdicts", None, ["verdicts.js"]),
        ("search", None, ["search.js"]),
    ],
)
def test_a_page_gets_the_scripts_that_it_needs(name, text, files):
    found = []
    app = SimpleNamespace(add_js_file=lambda js, **_: found.append(js), add_css_file=found.append)
    document = new_document("page") if text else None
    if text:
        document += nodes.raw("", text, format="html")
    add_scripts(app, name, "", {}, document)
    assert found == files


@pytest.mark.parametrize(
    ("mended", "expected"),
    [
        (without_title(f"{PAPER}<h1>A</h1><article><h1>A</h1>"),
         f'{PAPER}<p class="print-title">A</p><article><h1>A</h1>'),
        (without_title("<article><h1>A</h1>"), "<article><h1>A</h1>"),
        (without_viewport('<meta name="viewport" content="x" /><meta name="x"/>'),
         '<meta name="x"/>'),
        (without_scripts('<script defer src="_static/icons.js?d=1"></script><script>x</script>',
                         "icons", "other"), "<script>x</script>"),
        (with_named_toggles(TOGGLE)[:43], '<summary aria-label="Pages of this part"><s'),
        (with_named_toggles("<summary>Proof</summary>"), "<summary>Proof</summary>"),
    ],
)  # fmt: skip
def test_what_templates_write_is_mended(mended, expected):
    assert mended == expected
