"""Sums over pairs, prefixes and questions."""

import numpy as np

from ._questions import Each, Questions


def _spread(asked: Questions, terms: Each) -> Each:
    """The sum over questions for each pair of the context."""
    if asked.any_pair or not asked.full:
        return np.add.reduce(terms, axis=0) if np.ndim(terms) > 1 else terms
    row = np.zeros(len(asked.rows))
    row[asked.last] = terms
    return row


def _folded(asked: Questions, terms: Each) -> Each:
    """With three parameters, the sum over prefixes, which have the same scores."""
    return terms if asked.full or terms.ndim < 2 else np.add.reduce(terms, axis=0)


def _summed(asked: Questions, terms: Each, by: Each = 1.0) -> Each:
    """The sum of the products over the pairs asked for, for each prefix."""
    if not asked.any_pair:
        return terms * by
    if terms.ndim > 1:
        return np.add.reduce(terms * by, axis=-1, keepdims=True)
    return np.add.reduce(terms) * by if isinstance(by, float) else terms.dot(by)


def _total(terms: Each) -> float:
    return float(terms if isinstance(terms, float) else np.add.reduce(terms, axis=None))


def _after_in(asked: Questions, terms: Each, more: Each = 0.0) -> Each:
    """The sum over the pairs k > q of each prefix for every q, and more."""
    if not asked.any_pair:
        return more
    if asked.weight.ndim == terms.ndim:
        return _after(terms) + more
    sums = np.zeros_like(terms)
    np.add.accumulate(terms[1:], out=sums[1:])
    return (more - sums) + sums[asked.last]


def _before_in(asked: Questions, terms: Each, folded: Each) -> Each:
    """The sum over q < k of each prefix for every k, and over prefixes if `folded` is that sum."""
    if not asked.any_pair:
        return 0.0
    if terms.ndim == folded.ndim:
        return _before(terms)
    ended = np.zeros(len(asked.rows) + 1)
    ended[asked.last[:, 0] + 1] = np.add.reduce(terms, axis=1)
    return _before(folded) - np.add.accumulate(ended[:-1])


def _after(terms: Each) -> Each:
    """The sum over k > q for every q."""
    sums = np.empty_like(terms)
    sums[..., -1] = 0
    np.add.accumulate(terms[..., :0:-1], axis=-1, out=sums[..., -2::-1])
    return sums


def _before(terms: Each) -> Each:
    """The sum over q < k for every k."""
    sums = np.empty_like(terms)
    sums[..., 0] = 0
    np.add.accumulate(terms[..., :-1], axis=-1, out=sums[..., 1:])
    return sums
