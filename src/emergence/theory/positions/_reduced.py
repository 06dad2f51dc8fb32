"""The three-parameter loss with a query at every position: a mean over prefixes of the context."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Float

from .._flow import Landscape
from .._reduced import reduced_gradient, reduced_loss
from ._weighting import BLOCK, Weighting, compressed

Row = Float[np.ndarray, " pairs"]
Sums = Float[np.ndarray, " pairs+1"]


def landscape_of_last(weights: Weighting) -> Landscape:
    """The mean loss over prefixes of n pairs, with queries for the last pair (this book).

    Args:
        weights: the weight of each prefix n = 1 .. N in the loss, >= 0 with a sum of 1.

    Returns:
        The loss with its gradient, at a cost of order N.
    """
    used, sizes = compressed(weights)

    def loss(alpha: float, beta: float, gamma: float) -> float:
        return float(used @ reduced_loss(alpha, beta, gamma, sizes))

    def gradient(alpha: float, beta: float, gamma: float) -> tuple[float, float, float]:
        by_alpha, by_beta, by_gamma = reduced_gradient(alpha, beta, gamma, sizes)
        return float(used @ by_alpha), float(used @ by_beta), float(used @ by_gamma)

    return Landscape(loss, gradient, len(weights))


def landscape_of_any(weights: Weighting) -> Landscape:
    """The mean loss over prefixes of n pairs, with queries for any of their pairs (this book).

    With Z the norm of the attention in prefix n to pair q, everything is a sum over n and q < n of
    a power of 1/Z times what depends on n alone and what depends on q alone: products of the
    matrices of 1/Z, 1/Z^2 and 1/Z^3 with a few vectors.

    Args:
        weights: the weight of each prefix n = 1 .. N in the loss, >= 0 with a sum of 1.

    Returns:
        The loss with its gradient, at a cost of order N^2.
    """
    used, sizes = compressed(weights)
    n_pairs = int(sizes[-1])
    place = 2.0 * np.arange(n_pairs)
    item = np.divide(1, place, out=np.zeros(n_pairs), where=place > 0)
    later = place > 0  # the first pair comes after no other

    def rows(alpha: float, beta: float) -> tuple[Row, Row, Row, Row, Row]:
        """The shares in label q and label k, and e^(beta share) there and in item k."""
        shrunk = math.exp(-alpha)
        own_item = 1 / (1 + place * shrunk)
        label = shrunk * own_item
        late = later * np.exp(beta * item), later * np.exp(beta * label)
        return own_item, label, np.exp(beta * own_item), *late

    def blocks(norm: Row, total: Sums) -> Iterator[tuple[Any, Any, int, Any]]:
        """Blocks of prefixes with their weights, and the inverse norm for each pair of them."""
        for start in range(0, len(sizes), BLOCK):
            part = slice(start, start + BLOCK)
            width = int(sizes[part][-1])
            inside = np.arange(width) < sizes[part, None]
            inverse = inside / (norm[:width] + total[sizes[part], None])
            yield (used[part] / sizes[part])[:, None], sizes[part], width, inverse

    def loss(alpha: float, beta: float, gamma: float) -> float:
        _, _, s, u, v = rows(alpha, beta)
        total, squares = _sums(u + v), _sums(u**2 + v**2)
        norm, square = place + 1 + s - total[1:], place + 1 + s**2 - squares[1:]
        value = float(np.sum(used))
        for weight, n, width, inverse in blocks(norm, total):
            twice = inverse**2
            all_squares = np.sum(weight.T @ (twice * (square[:width] + squares[n, None])))
            value += gamma**2 * float(all_squares)
            value -= 2 * gamma * float(np.sum(weight.T @ inverse * s[:width]))
        return value

    def gradient(alpha: float, beta: float, gamma: float) -> tuple[float, float, float]:
        own_item, label, s, u, v = rows(alpha, beta)
        total, squares = _sums(u + v), _sums(u**2 + v**2)
        norm, square = place + 1 + s - total[1:], place + 1 + s**2 - squares[1:]
        # by alpha and by beta: of s, and of u + v and of u^2 + v^2 summed over later rows
        grown = beta * own_item * (1 - own_item) * s, own_item * s
        lost = -beta * label * own_item * v
        by_total = _sums(lost), _sums(u * item + v * label)
        by_squares = _sums(2 * v * lost), _sums(2 * (u**2 * item + v**2 * label))
        slopes, by_gamma = [0.0, 0.0], 0.0
        for weight, n, width, inverse in blocks(norm, total):
            once = weight * inverse
            twice, thrice = once * inverse, once * inverse**2
            here, square_sums = square[:width], squares[n]
            answer = s[:width]
            first, second = once.sum(axis=0), twice.sum(axis=0)
            third, third_squares = thrice.sum(axis=0), square_sums @ thrice
            by_gamma += 2 * gamma * float(here @ second + square_sums @ twice.sum(axis=1))
            by_gamma -= 2 * float(answer @ first)
            for i in (0, 1):
                z = grown[i][:width] - by_total[i][1 : width + 1]
                m = 2 * grown[i][:width] * answer - by_squares[i][1 : width + 1]
                c, d = by_total[i][n], by_squares[i][n]
                moved = m @ second + d @ twice.sum(axis=1)
                moved -= 2 * float(here * z @ third + z @ third_squares)
                moved -= 2 * float(here @ (c @ thrice) + (square_sums * c) @ thrice.sum(axis=1))
                value = grown[i][:width] @ first - answer * z @ second - answer @ (c @ twice)
                slopes[i] += float(gamma**2 * moved - 2 * gamma * value)
        return slopes[0], slopes[1], by_gamma

    return Landscape(loss, gradient, len(weights))


def _sums(terms: Row) -> Sums:
    """The sum over pairs k < j, for every j from 0 to N."""
    return np.concatenate([[0.0], np.cumsum(terms)])
