"""Scripts come to the pages that need them, and to no others."""

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


class App:
    """What the hook calls of Sphinx."""

    def __init__(self):
        self.scripts, self.styles = [], []

    def add_js_file(self, name, **attributes):
        self.scripts.append((name, attributes))

    def add_css_file(self, name):
        self.styles.append(name)


EXPLORABLE = '<div class="explorable" data-explorable="circuit">'


@pytest.mark.parametrize(
    ("name", "text", "scripts", "styles"),
    [
        ("page", EXPLORABLE, ["explorables/circuit.js"], ["explorables/explorables.css"]),
        ("page", "<div>", [], []),
        ("page", None, [], []),
        ("book/verdicts", None, ["verdicts.js"], []),
        ("search", None, ["search.js"], []),
    ],
)
def test_a_page_gets_the_scripts_that_it_needs(name, text, scripts, styles):
    app = App()
    document = new_document("page") if text else None
    if text:
        document += nodes.raw("", text, format="html")
    add_scripts(app, name, "", {}, document)
    assert app.scripts == [(script, {"defer": "defer"}) for script in scripts]
    assert app.styles == styles


def test_only_the_title_on_paper_is_no_heading():
    paper = '<div id="jb-print-docs-body" class="onlyprint">\n    <h1>{}</h1>'
    body = f"{paper.format('A')}<article><h1>A</h1>"
    expected = '<p class="print-title">A</p><article><h1>A</h1>'
    assert without_title(body).endswith(expected)
    assert without_title("<article><h1>A</h1>") == "<article><h1>A</h1>"


def test_a_second_viewport_is_taken_away():
    head = '<meta name="viewport" content="width=device-width" /><meta name="x"/>'
    assert without_viewport(head) == '<meta name="x"/>'


def test_scripts_that_the_theme_writes_are_taken_away():
    icons = '<script defer src="_static/scripts/icons.js?d=1"></script>'
    head = f'<link href="a">{icons}<script>x</script>'
    assert without_scripts(head, "icons", "other") == '<link href="a"><script>x</script>'


def test_a_toggle_of_the_sidebar_says_what_it_opens():
    toggle = '<summary><span class="toctree-toggle" role="presentation"></span></summary>'
    named = with_named_toggles(f"<details>{toggle}</details>")
    assert named.startswith('<details><summary aria-label="Pages of this part"><span')
    assert with_named_toggles("<summary>Proof</summary>") == "<summary>Proof</summary>"
