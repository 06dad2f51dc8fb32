"""Experiments that several chapters share: open settings, captions, steps until emergence."""

from emergence._moved import moved


def __getattr__(name: str) -> None:
    raise moved(__name__, name)
