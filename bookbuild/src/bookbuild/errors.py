"""The exception that ends a command with plain sentences and without a traceback."""

from collections.abc import Iterable


class BookError(Exception):
    """One or more problems, each a sentence for the reader."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def raise_if_any(problems: Iterable[str]) -> None:
    """Raise BookError with all the problems, if there are any."""
    sentences = tuple(problems)
    if sentences:
        raise BookError(*sentences)
