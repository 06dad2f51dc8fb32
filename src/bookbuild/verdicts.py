"""A Sphinx extension: the script that filters the verdicts, on their page alone."""

from typing import Any

from sphinx.application import Sphinx

PAGE = "book/verdicts"


def add_filter(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Give the page of the verdicts its script."""
    if page == PAGE:
        app.add_js_file("verdicts.js", type="module")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the script."""
    app.connect("html-page-context", add_filter)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
