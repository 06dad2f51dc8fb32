"""The shared library: tasks, models, theory, training and measures of induction heads."""

from ._moved import moved


def __getattr__(name: str) -> None:
    raise moved(__name__, name)
