"""Texts for the clock, read piece by piece and split, with a sentence for each error."""

import codecs
import re
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ._counts import LARGEST, Tokens, chunks

SINGLE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff"
SINGLE += "\U00020000-\U0003ffff"  # scripts without spaces: each sign of them is a word
# no word is longer than 64 signs, so that one endless word cannot fill the memory
WORD = re.compile(rf"\s?[{SINGLE}]|\s?[^\W{SINGLE}]{{1,64}}|\s?[^\w\s]{{1,64}}|\s")
RARE = LARGEST - 1  # the number of all words that are too rare for one of their own
DISTINCT = 2**20  # words that are counted one by one; those that first come later are rare
PIECE = 2**20  # bytes that are read at once
STRETCH = 2**16  # characters that a tokenizer gets at once
TOKENS = 2**25  # of a text that are kept, from its beginning


def read_tokens(
    path: Path | str, unit: str = "words", *, tokenizer: str | None = None, name: str | None = None
) -> Tokens:
    """Split a file into tokens as it is read, in bounded memory (chapter The clock of a corpus).

    Args:
        path: a text in UTF-8, or in UTF-16 with a byte order mark; `-` for the standard input.
        unit: `words`, of which the 8191 most frequent are distinguished, or `bytes`.
        tokenizer: the path of a `tokenizer.json` of the library `tokenizers`, used instead.
        name: of the text in errors; None for its path.

    Returns:
        Whole numbers below 8192, of the first 33,554,432 tokens at most.

    Raises:
        ValueError: if the file is missing, empty or no text, or the unit or tokenizer is unusable.
    """
    split = _split(unit) if tokenizer is None else _split_by(tokenizer)
    source, name = Path(path), name or ("the standard input" if str(path) == "-" else str(path))
    if str(path) != "-" and not source.is_file():
        raise ValueError(f"there is no file {name}")
    opened = nullcontext(sys.stdin.buffer) if str(path) == "-" else source.open("rb")
    with opened as stream:
        return _ranked(split(_decoded(stream, name)))


class _Numbers(dict[Any, int]):
    """Tokens by the order in which they first came; 0 for all that came too late."""

    def __missing__(self, token: Any) -> int:
        if len(self) >= DISTINCT:
            return 0
        self[token] = number = len(self) + 1
        return number


def _ranked(pieces: Iterable[Iterable[Any]]) -> Tokens:
    """The tokens of all pieces, numbered by how frequent they are."""
    numbers, ids = _Numbers(), array("I")
    for piece in pieces:
        ids.extend(map(numbers.__getitem__, islice(piece, TOKENS - len(ids))))
        if len(ids) >= TOKENS:
            break
    whole = np.frombuffer(ids, np.uint32)
    counts = np.zeros(len(numbers) + 1, np.int64)
    for part in chunks(whole):
        counts += np.bincount(part, minlength=len(counts))
    rank = np.full(len(counts), RARE, np.uint16)
    often = 1 + np.argsort(-counts[1:], kind="stable")[:LARGEST]
    rank[often] = np.minimum(np.arange(len(often)), RARE)
    coded = np.empty(len(whole), np.uint16)
    for part, into in zip(chunks(whole), chunks(coded), strict=True):
        into[:] = rank[part]
    return coded


def _decoded(stream: BinaryIO, name: str) -> Iterator[str]:
    """The characters of a stream, piece by piece."""
    piece = stream.read(PIECE)
    wide = piece.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    decoder = codecs.getincrementaldecoder("utf-16" if wide else "utf-8-sig")()
    blank, ended = True, False
    while not ended:
        ended = not piece
        try:
            text = decoder.decode(piece, final=ended)
        except UnicodeDecodeError:
            raise ValueError(f"{name} is no text in UTF-8") from None
        if "\0" in text:
            raise ValueError(
                f"{name} is binary: it has zero bytes, as UTF-16 without a byte order mark has"
            )
        blank = blank and not text.strip()
        yield text
        piece = b"" if ended else stream.read(PIECE)
    if blank:
        raise ValueError(f"{name} is empty")


def _split(unit: str) -> Callable[[Iterable[str]], Iterator[Iterable[Any]]]:
    if unit not in ("words", "bytes"):
        raise ValueError(f"the unit is words or bytes, got {unit!r}")
    if unit == "words":
        return _in_words
    return lambda pieces: (piece.encode("utf-8", "surrogatepass") for piece in pieces)


def _in_words(pieces: Iterable[str]) -> Iterator[list[str]]:
    """Every sign belongs to one word; the last word of a piece may go on in the next."""
    rest = ""
    for piece in pieces:
        words = WORD.findall(rest + piece)
        rest = words.pop() if words else ""
        yield words
    yield [rest] if rest else []


def _split_by(path: str) -> Callable[[Iterable[str]], Iterator[list[int]]]:
    """What cuts a text by a tokenizer file, which gets stretches that end before a space."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise ValueError(
            "a tokenizer file needs the library tokenizers: pip install tokenizers"
        ) from None
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:  # the library raises bare exceptions
        raise ValueError(f"{path} is no file of the library tokenizers: {error}") from None

    def split(pieces: Iterable[str]) -> Iterator[list[int]]:
        rest = ""
        for piece in pieces:
            rest += piece
            while len(rest) >= STRETCH:
                space = max(rest.rfind(" ", 1, STRETCH), rest.rfind("\n", 1, STRETCH))
                cut = STRETCH if space < 0 else space
                yield tokenizer.encode(rest[:cut], add_special_tokens=False).ids
                rest = rest[cut:]
        yield tokenizer.encode(rest, add_special_tokens=False).ids

    return split
