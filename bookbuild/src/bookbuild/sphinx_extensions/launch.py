"""A Sphinx extension that points launch and edit buttons at files that exist.

The theme knows one branch and one file for all buttons: the executed notebook on main, which is
on no branch. Colab gets the published branch, Binder the notebook that postBuild writes, and the
edit button the Markdown source.
"""

from typing import Any

from sphinx.application import Sphinx

from bookbuild.source.addresses import Addresses
from bookbuild.source.chapters import BOOK

LAUNCH_LABEL, EDIT_LABEL = "launch-buttons", "source-edit-button"


def redirect(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Replace the address of each launch and edit button; raise KeyError for an unknown launch."""
    options = app.config.html_theme_options
    if not options.get("repository_url"):  # the book is nowhere on GitHub, and has no buttons
        return
    addresses = Addresses.of(
        options.get("repository_url", ""),
        options.get("repository_branch", ""),
        options.get("launch_buttons", {}),
    )
    name = page.removeprefix(f"{BOOK}/")
    launches = {"Colab": addresses.colab, "Binder": addresses.binder}
    for button in context.get("header_buttons", []):
        if button.get("label") == LAUNCH_LABEL:  # a group, which the theme adds to executed pages
            for launch in button["buttons"]:
                launch["url"] = launches[launch["text"]](name)
        elif button.get("label") == EDIT_LABEL:
            button.update(url=addresses.edit(name), tooltip="Edit this page")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the hook, after the theme has made its buttons."""
    app.connect("html-page-context", redirect, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
