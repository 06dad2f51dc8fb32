"""Texts for the clock, split into bytes or words, with one sentence for each error."""

import re
from pathlib import Path

import numpy as np
from jaxtyping import Int

from ._counts import LARGEST

WORD = re.compile(r"\s?\w+|\s?[^\w\s]+|\s")
RARE = LARGEST - 1  # the number of all words that are too rare for one of their own


def read_text(path: Path | str) -> str:
    """The text of a file (chapter The clock of a corpus).

    Args:
        path: the path of a text in UTF-8.

    Returns:
        Its characters.

    Raises:
        ValueError: if the file is missing, empty or not a text.

    Example:
        >>> clock.read_text("no such file")
        Traceback (most recent call last):
        ...
        ValueError: there is no file no such file
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    found = path.read_bytes()
    if not found.strip():
        raise ValueError(f"{path} is empty")
    try:
        text = found.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8") from None
    if "\0" in text:
        raise ValueError(f"{path} is binary: it has zero bytes")
    return text


def in_tokens(text: str, unit: str = "words") -> Int[np.ndarray, " tokens"]:
    """Split a text into tokens by a simple rule (chapter The clock of a corpus).

    Args:
        text: its characters.
        unit: `words`, of which the 8191 most frequent are distinguished, or `bytes`.

    Returns:
        Whole numbers below 8192.

    Raises:
        ValueError: if the unit is unknown.

    Example:
        >>> clock.in_tokens("a a a b").tolist()
        [2, 0, 0, 1]
    """
    if unit == "bytes":
        return np.frombuffer(text.encode("utf-8"), np.uint8).astype(np.int64)
    if unit != "words":
        raise ValueError(f"the unit is words or bytes, got {unit!r}")
    words, coded, counts = np.unique(WORD.findall(text), return_inverse=True, return_counts=True)
    rank = np.empty(len(words), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(words))
    return np.minimum(rank, RARE)[coded]
