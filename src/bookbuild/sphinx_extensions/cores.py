"""A Sphinx extension that has pages written on every core, once they have been read one by one.

They cannot be read side by side: the domain of theorems has no way to join what was read.
"""

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from bookbuild.settings import core_count


def share(app: Sphinx, env: BuildEnvironment) -> None:
    """Let what follows use all cores."""
    app.parallel = core_count()


def setup(app: Sphinx) -> dict[str, bool]:
    """Wait for the last page."""
    app.connect("env-updated", share)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
