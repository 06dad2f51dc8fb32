"""The commands of the records stand beside those of the book."""

import tools.records.__main__  # noqa: F401
