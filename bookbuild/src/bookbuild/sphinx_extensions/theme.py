"""A Sphinx extension that loads scripts only on the pages that need them.

Jupyter Book adds thebe's scripts always, twice over, and with an address of another server; the
theme adds 1.5 MB of icons that its font has too, and the search index to every page.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

MOUNT = re.compile(r'data-explorable="([a-z]+)"')
THEBE = re.compile(
    r'<script type="text/x-thebe-config">.*?</script>\s*<script>kernelName = .*?</script>',
    re.DOTALL,
)
SCRIPTS = {"book/verdicts": "verdicts.js", "search": "search.js"}
TOGGLE = '<summary><span class="toctree-toggle"'
OPENS = "Pages of this part"
VIEWPORT = re.compile(r'<meta name="viewport"[^>]*>')
TITLE = re.compile(r'(<div id="jb-print-docs-body"[^>]*>\s*)<h1>(.*?)</h1>', re.DOTALL)


def drop_unused(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Take out thebe's files and settings, and MathJax where there is no formula."""
    formulas = (nodes.math, nodes.math_block)
    has_formula = doctree is not None and doctree.next_node(lambda n: isinstance(n, formulas))
    unused = re.compile("thebe" if has_formula else "thebe|mathjax", re.IGNORECASE)
    for kind in ("script_files", "css_files"):
        context[kind] = [
            file
            for file in context.get(kind, [])
            if not unused.search(f"{file} {getattr(file, 'attributes', {})}")
        ]
    context["body"] = THEBE.sub("", context.get("body", ""))


def mend(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Mend what is written before the templates, and let `layout.html` mend what they write.

    Sphinx's own layout tells the viewport, and docutils and the theme tell it again. The entries of
    a bibliography are to be items of the list that they stand in.
    """
    context["metatags"] = without_viewport(context.get("metatags", ""))
    body = context.get("body", "")
    context["body"] = body.replace('role="doc-biblioentry"', 'role="listitem"')
    for function in (without_scripts, without_viewport, without_title, with_named_toggles):
        context[function.__name__] = function


def without_viewport(head: str) -> str:
    """A part of a page's head that does not speak of the viewport."""
    return VIEWPORT.sub("", head)


def without_title(body: str) -> str:
    """A page's body whose second title, for paper alone, is no heading."""
    return TITLE.sub(r'\1<p class="print-title">\2</p>', body)


def with_named_toggles(content: str) -> str:
    """A page's content whose toggles in the sidebar say what they open."""
    return content.replace(TOGGLE, TOGGLE.replace("<summary", f'<summary aria-label="{OPENS}"', 1))


def add_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give verdicts and search their script, and a page with the place of an explorable its own."""
    if page in SCRIPTS:
        app.add_js_file(SCRIPTS[page], defer="defer")
    raw = doctree.findall(nodes.raw) if doctree else ()
    names = [name for node in raw for name in MOUNT.findall(node.astext())]
    for name in names:
        app.add_js_file(f"explorables/{name}.js", defer="defer")
    if names:
        app.add_css_file("explorables/explorables.css")


def without_scripts(head: str, *names: str) -> str:
    """A part of a page's head without the scripts of these names."""
    return re.sub(rf"<script[^>]*/?({'|'.join(names)})\.js[^>]*></script>", "", head)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all; thebe goes after everything that adds scripts."""
    app.connect("html-page-context", add_scripts, priority=800)
    app.connect("html-page-context", drop_unused, priority=900)
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
