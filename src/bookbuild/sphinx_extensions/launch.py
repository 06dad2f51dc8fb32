"""A Sphinx extension that points launch and edit buttons at files that exist.

The theme knows one branch and one file for all buttons: the executed notebook on main, which is
on no branch. Colab gets the published branch, Binder the notebook that postBuild writes, and the
edit button the Markdown source.
"""

from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

from bookbuild.source.addresses import Addresses
from bookbuild.source.chapters import BOOK

Button = dict[str, Any]
EDIT_LABEL = "source-edit-button"


def redirect(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Replace the address of each launch and edit button; raise KeyError for an unknown launch."""
    options = app.config.html_theme_options
    addresses = Addresses.of(
        options.get("repository_url", ""),
        options.get("repository_branch", ""),
        options.get("launch_buttons", {}),
    )
    name = page.removeprefix(f"{BOOK}/")
    launches = {"Colab": addresses.colab, "Binder": addresses.binder}
    for button in _launch_buttons(context.get("header_buttons", [])):
        button["url"] = launches[button["text"]](name)
    for button in context.get("header_buttons", []):
        if button.get("label") == EDIT_LABEL:
            button["url"] = addresses.edit(name)
            button["tooltip"] = "Edit this page"


def _launch_buttons(groups: list[Button]) -> Iterator[Button]:
    """Yield the buttons of the launch group, which the theme adds to executed pages only."""
    for group in groups:
        if group.get("label") == "launch-buttons":
            yield from group["buttons"]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the hook, after the theme has made its buttons."""
    app.connect("html-page-context", redirect, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
