"""A Sphinx extension with one repair: pages without thebe's scripts, which no page uses.

Jupyter Book adds them always, twice over, and with an address of another server.
"""

from typing import Any

from sphinx.application import Sphinx


def drop_thebe(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Take thebe's files and inline settings out of a page's scripts and styles."""
    for kind in ("script_files", "css_files"):
        context[kind] = [
            file
            for file in context.get(kind, [])
            if "thebe" not in f"{file} {getattr(file, 'attributes', {})}".lower()
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the repair, after everything that adds scripts."""
    app.connect("html-page-context", drop_thebe, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
