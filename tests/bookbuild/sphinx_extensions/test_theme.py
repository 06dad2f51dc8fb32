"""Scripts come to the pages that need them, and to no others."""

from docutils import nodes
from docutils.utils import new_document

from bookbuild.sphinx_extensions.theme import add_scripts, without_scripts


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


def test_a_page_with_an_explorable_gets_its_module():
    app = App()
    add_scripts(app, "page", "", {}, page('<div class="explorable" data-explorable="circuit">'))
    assert app.scripts == [("explorables/circuit.js", {"type": "module"})]
    assert app.styles == ["explorables/explorables.css"]


def test_other_pages_get_nothing():
    for document in (page("<div>"), None):
        app = App()
        add_scripts(app, "page", "", {}, document)
        assert (app.scripts, app.styles) == ([], [])


def test_the_verdicts_get_their_filter():
    app = App()
    add_scripts(app, "book/verdicts", "", {}, None)
    assert app.scripts == [("verdicts.js", {"type": "module"})]


def test_scripts_that_the_theme_writes_are_taken_away():
    icons = '<script defer src="_static/scripts/icons.js?d=1"></script>'
    head = f'<link href="a">{icons}<script>x</script>'
    assert without_scripts(head, "icons", "other") == '<link href="a"><script>x</script>'
