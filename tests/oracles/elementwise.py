"""An independent float64 NumPy model of the paper (§3, §6.1, App. A.3, B.2, B.3)."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy import ndarray


def swap_matrix(dim: int) -> ndarray:
    """The fixed rotation M that swaps the two halves of a vector (Eq. 2): (D, D), D even."""
    if dim % 2:
        raise ValueError(f"dim must be even, got {dim}")
    half, m = dim // 2, np.zeros((dim, dim))
    for i in range(half):
        m[i, half + i] = m[half + i, i] = 1.0
    return m


def inputs_of(a: ndarray, b: ndarray, p: ndarray, q: int) -> tuple[ndarray, ndarray]:
    """X (2N+1, 2D) and y (D,) from a, b, p (N, D) and the query index q from 0 (Eqs. 3-4)."""
    n_pairs, dim = a.shape
    if not 0 <= q < n_pairs:
        raise ValueError(f"q must be in 0..{n_pairs - 1}, got {q}")
    m = swap_matrix(dim)
    x = np.zeros((2 * n_pairs + 1, 2 * dim))
    for i in range(n_pairs):
        x[2 * i] = np.concatenate([a[i], p[i]])
        x[2 * i + 1] = np.concatenate([b[i], p[i] @ m])
    x[2 * n_pairs, :dim] = a[q]  # the query's positional half stays zero
    return x, b[q].astype(float)


def structured_weights(
    alpha: Sequence[float], beta: Sequence[float], gamma: Sequence[float], dim: int
) -> tuple[ndarray, ndarray, ndarray]:
    """W1, W2, W3 of Theorem 1 from alpha (3,), beta (12,), gamma (4,) (Eqs. 6-8)."""
    (a1, a2, a3), (g1, g2, g3, g4) = alpha, gamma
    b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12 = beta
    i, m, o = np.eye(dim), swap_matrix(dim), np.zeros((dim, dim))
    w1 = np.block([[a1 * i, o], [o, a2 * i + a3 * m]])
    w2 = np.block(
        [
            [b1 * i, o, b2 * i, o],
            [o, b3 * i + b4 * m, o, b5 * i + b6 * m],
            [b7 * i, o, b8 * i, o],
            [o, b9 * i + b10 * m, o, b11 * i + b12 * m],
        ]
    )
    w3 = np.vstack([g1 * i, o, g2 * i, o, g3 * i, o, g4 * i, o])
    return w1, w2, w3


def attention(scores: ndarray, strict: bool) -> ndarray:
    """Causal softmax of each row of (L, L), without self-attention if strict (App. B.2)."""
    weights = np.zeros(scores.shape)
    for i in range(len(scores)):
        visible = i if strict else i + 1
        if visible == 0:
            continue  # strict: the first position attends to nothing
        e = np.exp(scores[i, :visible] - scores[i, :visible].max())
        weights[i, :visible] = e / e.sum()
    return weights


def output(w1: ndarray, w2: ndarray, w3: ndarray, x: ndarray, strict: bool = True) -> ndarray:
    """The last row z (D,) of the output for one sequence x (2N+1, 2D) (Eq. 1, App. A.3)."""
    u = np.hstack([x, attention(x @ w1 @ x.T, strict) @ x])  # (2N+1, 4D)
    v = np.hstack([u, attention(u @ w2 @ u.T, strict) @ u])  # (2N+1, 8D)
    return (v @ w3)[-1]


def loss(
    w1: ndarray, w2: ndarray, w3: ndarray, x: ndarray, y: ndarray, strict: bool = True
) -> float:
    """The squared error ||y - z||^2 of one sequence x with target y (D,) (§3.2)."""
    error = y - output(w1, w2, w3, x, strict)
    return float(error @ error)


def finite_difference(f: Callable[[ndarray], float], array: ndarray, step: float) -> ndarray:
    """The gradient of the scalar f at array by central differences, entry by entry."""
    gradient = np.zeros(np.shape(array))
    for index in np.ndindex(gradient.shape):
        up, down = np.array(array, dtype=float), np.array(array, dtype=float)
        up[index] += step
        down[index] -= step
        gradient[index] = (f(up) - f(down)) / (2 * step)
    return gradient


def softmax(scores):
    top = max(scores, default=0.0)
    e = [math.exp(score - top) for score in scores]
    return [value / sum(e) for value in e]


def context_loss(alpha, beta, gamma, order, query, windows=(None, None)):
    """The strict-mask loss; `order` names the pair at each place, a window counts back."""
    contents = [(kind, pair) for pair in order for kind in "ab"] + [("a", query)]
    places = [(place, swaps) for place in range(len(order)) for swaps in (0, 1)] + [None]

    def visible(row, window):
        return range(0 if window is None else max(0, row - window), row)

    def mix(weights, columns):
        mixture = Counter()
        for weight, column in zip(weights, columns, strict=True):
            mixture[contents[column]] += weight
        return mixture

    retrieved = []
    for row, place in enumerate(places):
        columns = visible(row, windows[0])
        swapped = None if place is None else (place[0], 1 - place[1])
        scores = [alpha * (places[column] == swapped) for column in columns]
        retrieved.append(mix(softmax(scores), columns))

    last = len(contents) - 1
    columns = visible(last, windows[1])
    result = mix(softmax([beta * retrieved[j][contents[last]] for j in columns]), columns)
    return sum((gamma * result[c] - (c == ("b", query))) ** 2 for c in {*result, ("b", query)})


def enumerated_loss(alpha: float, beta: float, gamma: float, n_pairs: int, q: int) -> float:
    """The strict-mask loss for orthonormal inputs, q from 0, without any vector (Assumption 7)."""
    return context_loss(alpha, beta, gamma, range(n_pairs), q)
