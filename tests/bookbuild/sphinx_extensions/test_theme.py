"""Scripts come to the pages that need them, and to no others."""

from docutils import nodes
from docutils.utils import new_document

from bookbuild.sphinx_extensions.theme import (
    add_scripts,
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


def page(text):
    document = new_document("page")
    document += nodes.raw("", text, format="html")
    return document


def test_a_page_with_an_explorable_gets_its_script():
    app = App()
    add_scripts(app, "page", "", {}, page('<div class="explorable" data-explorable="circuit">'))
    assert app.scripts == [("explorables/circuit.js", {"defer": "defer"})]
    assert app.styles == ["explorables/explorables.css"]


def test_other_pages_get_nothing():
    for document in (page("<div>"), None):
        app = App()
        add_scripts(app, "page", "", {}, document)
        assert (app.scripts, app.styles) == ([], [])


def test_the_verdicts_get_their_filter():
    app = App()
    add_scripts(app, "book/verdicts", "", {}, None)
    assert app.scripts == [("verdicts.js", {"defer": "defer"})]


def test_the_search_gets_its_excerpts():
    app = App()
    add_scripts(app, "search", "", {}, None)
    assert app.scripts == [("search.js", {"defer": "defer"})]


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
