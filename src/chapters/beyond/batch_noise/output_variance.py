"""The noise of batches in the output matrix, before anything emerges (chapter Batch noise)."""

import numpy as np
from jaxtyping import Float

Matrix = Float[np.ndarray, "8 8"]


def output_noise(
    n_pairs: int, dim: int, batch_size: int, steps: int, *, learning_rate: float = 1.0
) -> Float[np.ndarray, " 8"]:
    """The variance of an entry in each block of W3 before emergence (chapter Batch noise).

    While all attention is even W3 learns by least squares, from eight features: the query's
    content and position, their means over the rows before, and what layer 2 sees of content,
    position and these means. Its target is nearly independent of them. With kappa = 2 lambda/D
    and C their covariance, the noise S of a row of W3 obeys S -> (1 - kappa C) S (1 - kappa C) +
    kappa^2 C/B from zero.

    Args:
        n_pairs: pairs N in the context, >= 1.
        dim: dimension D of an item, label or position, > 0.
        batch_size: sequences B in a batch, >= 1.
        steps: updates made, >= 0.
        learning_rate: lambda of the loss that is a mean over dimensions, below about D/2.

    Returns:
        Variances, up to a relative O(1/N); in time lambda/DB in every direction that is seen.

    Example:
        >>> round(float(output_noise(16, 32, 256, 1000)[0] * 32 * 256), 2)  # the item's
        1.03
    """
    kappa = 2 * learning_rate / dim
    found = []
    for sign in (1, -1):  # M has these eigenvalues, on half of the dimensions each
        covariance = _covariance(n_pairs, sign)
        values, vectors = np.linalg.eigh(covariance)
        seen = values > 1e-12
        grown = -np.expm1(2 * steps * np.log1p(-kappa * values)) / (2 - kappa * values)
        found.append((vectors**2 * seen * grown).sum(axis=1) * (covariance.diagonal() > 0))
    return kappa / batch_size * np.mean(found, axis=0)


def _covariance(n_pairs: int, sign: int) -> Matrix:
    """Of the eight features, in an eigenspace of M, the mean over the pairs asked for."""
    rows = 2 * n_pairs
    content, position = np.eye(rows), np.repeat(np.eye(n_pairs), 2, axis=0)
    position[1::2] *= sign  # a label stands where its item does, times M
    earlier = np.tril(np.ones((rows, rows)), -1) / np.maximum(1, np.arange(rows))[:, None]
    even = np.full(rows, 1 / rows)
    found = np.zeros((8, 8))
    for kind, vectors in enumerate((content, position)):
        means = np.stack([even @ vectors, even @ vectors, even @ earlier @ vectors])
        for asked in range(n_pairs):
            own = content[2 * asked] if kind == 0 else np.zeros(n_pairs)  # a query has no position
            features = np.stack([own, *means])
            found[kind::2, kind::2] += features @ features.T / n_pairs
    return found
