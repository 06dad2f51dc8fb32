"""How strongly a text drives the three weights of an induction head, and when one forms."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Integer

from emergence.running import progress

Tokens = Integer[np.ndarray, " tokens"]
Pairs = Float[np.ndarray, "context context"]

LARGEST = 8192  # tokens of a vocabulary: the table of successors is dense
AT_ONCE = 2**20  # tokens: what is counted in parts needs little memory besides the text
BLOCK = 2**16  # entries of an array of a window's positions: they stay in the processor's cache
LEAST_WINDOWS = 8  # of which a text has to be long enough in each half
STRENGTHS = 2.0 ** np.arange(-2, 13)  # of the prior of successors, in counts


class Pulls(NamedTuple):
    """How strongly a text drives the three weights of a copying head at first (this book).

    A signal is the mean gradient that a token brings to a weight, and a noise is the root mean
    square of what it brings to any other direction of the same matrix.

    Attributes:
        context: tokens C that a window holds.
        vocabulary: different tokens of the text.
        output: signal and noise of gamma, the copying.
        match: signal and noise of beta, the match with an earlier token, the signal per gamma.
        previous: signal and noise of alpha, the previous token, the signal per gamma and beta.
        frequency: share of positions whose token occurred before in the window, from 0 to 1.
        reliability: share of these whose next token is the one that followed there last.
        expected: the same share by a table of successors.
        answers: share of the places before a token that hold the next one, from 0 to 1.
    """

    context: int
    vocabulary: int
    output: tuple[float, float]
    match: tuple[float, float]
    previous: tuple[float, float]
    frequency: float
    reliability: float
    expected: float
    answers: float


def pulls(
    tokens: Tokens, context: int, *, windows: int = 256, seed: int = 0, label: str = "counting"
) -> Pulls:
    """Count how strongly a text drives a copying head (chapter The clock of a corpus).

    Args:
        tokens: the text, whole numbers >= 0 and < 8192, of one dimension.
        context: tokens C of a window, >= 4.
        windows: how many random windows are counted, >= 2; the cost is of order windows C^2.
        seed: the seed of the choice of windows.
        label: the name of the count in messages of its progress.

    Returns:
        Signal and noise of the three weights, and how often and how reliably bigrams return.

    Raises:
        ValueError: if a number is out of its range, or the text is shorter than 16 windows.

    Example:
        >>> text = np.random.default_rng(0).integers(0, 9, size=4000)
        >>> round(clock.pulls(text, 16, windows=64).frequency, 1)
        0.5
    """
    # What a table of successors predicts does not drive the head. The table of one half of the text
    # serves the windows of the other, with the prior that makes this other half likeliest.
    _check(tokens, context, windows)
    vocabulary, coded = _coded(tokens)
    half = len(coded) // 2
    halves = coded[:half], coded[half:]
    stream = np.random.default_rng(seed)
    rows: list[Any] = []
    for own, other in (halves, halves[::-1]):
        table = successors(other, own, vocabulary)
        for at in stream.integers(0, len(own) - context, size=windows // 2):
            rows.append(_window(own[at : at + context + 1].astype(np.int64), table))
            progress.log_step(label, len(rows), 2 * (windows // 2))
        del table  # it may take half of the memory, and the next one as much
    mean = np.mean(rows, axis=0)
    weights = [(float(s), float(n) ** 0.5) for s, n in zip(mean[:3], mean[3:6], strict=True)]
    output, match, previous = weights
    known, right, expected, answers = (float(value) for value in mean[6:])
    often = max(known, np.finfo(float).tiny)
    return Pulls(
        context, vocabulary, output, match, previous,
        known, right / often, expected / often, answers,
    )  # fmt: skip


def successors(text: Tokens, held_out: Integer[np.ndarray, " others"], vocabulary: int) -> Pairs:
    """The probability of each token (column) after each token (row), under the likeliest prior."""
    # The prior is the frequency of the next token in the text, with a strength, in counts, that
    # makes another text likeliest.
    counts = np.zeros((vocabulary, vocabulary), np.float32)
    often = np.zeros(vocabulary)
    for part in chunks(text, overlap=1):
        pairs = part[:-1].astype(np.int64) * vocabulary + part[1:]
        np.add.at(counts.reshape(-1), pairs, np.float32(1))
    for part in chunks(text):
        often += np.bincount(part, minlength=vocabulary)
    alone = (often + 0.5) / (len(text) + 0.5 * vocabulary)  # also for a token that the text lacks
    total = counts.sum(axis=1)
    likelihood = np.zeros(len(STRENGTHS))
    for part in chunks(held_out, overlap=1):
        first, second = part[:-1], part[1:]
        seen, prior, all_seen = counts[first, second], alone[second], total[first]
        likelihood += [np.log((seen + s * prior) / (all_seen + s)).sum() for s in STRENGTHS]
    strength = STRENGTHS[int(np.argmax(likelihood))]
    counts += (strength * alone).astype(np.float32)
    counts /= (total + np.float32(strength))[:, None]
    return counts


def _window(window: Tokens, table: Pairs) -> Float[np.ndarray, " ten"]:
    """Signals, squared noises and shares of one window, as means over its positions."""
    rows = max(1, BLOCK // len(window))
    size = len(window) - 1
    parts = [_rows(window, table, at, min(at + rows, size)) for at in range(0, size, rows)]
    *signals, occurred, unlike, known, right, expected, answers = np.concatenate(parts, axis=1)
    place = np.arange(1, size + 1.0)
    squares = np.cumsum(occurred) / place**2  # sum of squared shares
    noises = squares * unlike, 1 / place, np.cumsum(1 / place) / place**2
    expected = expected.astype(table.dtype)
    return np.array([
        row.mean() for row in (*signals, *noises, known, right, expected, answers)
    ])  # fmt: skip


def _rows(window: Tokens, table: Pairs, first: int, end: int) -> Float[np.ndarray, "9 positions"]:
    """Of some positions of a window what its means are made of."""
    # A row is the position that answers, t, a column the one that it attends to, j <= t. The first
    # layer of j attends to all k <= j, so that j matches by the share of the token of t among them.
    now, answer = window[:end], window[1 + first : 1 + end]
    place = np.arange(1, end + 1.0)
    here, row = slice(first, end), np.arange(end - first)
    allowed = np.tri(end - first, end, first)
    attended = allowed / place[here, None]
    token = table[now[here]]
    error = allowed * ((now[None, :] == answer[:, None]) - token[:, now])
    error_mean = (attended * error).sum(axis=1)
    centred = allowed * (error - error_mean[:, None])
    same = now[None, :] == now[here, None]
    shifted = np.zeros((end - first, end))
    shifted[:, 1:] = same[:, :-1]
    share = np.cumsum(same, axis=1) / place
    turned = (shifted - share) / place  # how the previous token's share in layer 1 moves the match
    unlike = 1 - 2 * token[row, answer] + (token**2).sum(axis=1)
    occurred = 2 * np.tril(same, first).sum(axis=1) - 1
    earlier = np.tril(shifted, first) > 0
    known = earlier.any(axis=1)
    last = end - 1 - earlier[:, ::-1].argmax(axis=1)
    right = known & (now[last] == answer)
    expected = known * token[row, now[last]]
    return np.array([
        error_mean,
        (attended * shifted * centred).sum(axis=1),
        (attended * turned * centred).sum(axis=1),
        occurred, unlike, known, right, expected,
        (attended * (now[None, :] == answer[:, None])).sum(axis=1),
    ])  # fmt: skip


def chunks(values: Tokens, *, overlap: int = 0) -> Iterator[Tokens]:
    """An array in parts of a million entries, which may share some with the next part."""
    ends = [*range(0, max(1, len(values) - overlap), AT_ONCE), len(values) - overlap]
    return (values[start : end + overlap] for start, end in pairwise(ends))


def _coded(tokens: Tokens) -> tuple[int, Tokens]:
    """How many different tokens there are, and the text in numbers below that."""
    occurs = np.zeros(LARGEST, bool)
    for part in chunks(tokens):
        occurs[part] = True
    names = np.cumsum(occurs) - 1
    if names[-1] == 0:
        raise ValueError("a text of a single token, again and again, has nothing to predict")
    coded = np.empty(len(tokens), np.uint16)
    for part, into in zip(chunks(tokens), chunks(coded), strict=True):
        into[:] = names[part]
    return int(names[-1]) + 1, coded


def _check(tokens: Tokens, context: int, windows: int) -> None:
    if tokens.ndim != 1 or not np.issubdtype(tokens.dtype, np.integer):
        raise ValueError("a text is a row of whole numbers")
    if context < 4 or windows < 2:
        raise ValueError(
            f"a window of {context} tokens or a count of {windows} windows is too small"
        )
    least = 2 * LEAST_WINDOWS * context
    if len(tokens) < least:
        raise ValueError(
            f"a context of {context} tokens needs a text of at least {least} tokens, "
            f"got {len(tokens)}"
        )
    if tokens.min() < 0 or tokens.max() >= LARGEST:
        raise ValueError(f"tokens are numbers from 0 to {LARGEST - 1}")


CONSTANT = 3.0  # in units of learning rate times steps, from eight pilot trainings on made-up texts


def steps_to_head(found: Pulls, batch_size: int, *, learning_rate: float = 3e-3) -> float:
    """Steps of AdamW until a two-layer network has an induction head, from counts (this book).

    Args:
        found: as from `clock.pulls`, for the context that is trained on.
        batch_size: windows B of a step, >= 1.
        learning_rate: the learning rate of AdamW, > 0.

    Returns:
        The number of steps; infinity if no head forms.

    Raises:
        ValueError: if a number is out of its range.
    """
    if batch_size < 1 or not learning_rate > 0:
        raise ValueError(f"no training with batch size {batch_size} and rate {learning_rate}")
    pulls = found.output, found.output, found.match, found.previous  # the output drives all three
    if min(signal for signal, _ in pulls) <= 0:
        return math.inf  # the text drives a weight in the wrong direction
    noise_over_signal = math.prod(noise / signal for signal, noise in pulls) ** (1 / len(pulls))
    batch_tokens = batch_size * found.context
    return float(CONSTANT / learning_rate * noise_over_signal / batch_tokens**0.5)
