"""The reduced model under cross-entropy, outside Theorem 2; this book's reading of Reddy (2024)."""

import numpy as np

from emergence.tasks import Query

from ._flow import Landscape


def landscape(
    n_pairs: int, vocabulary: int, query: Query = "last", *, say_items: bool = False
) -> Landscape:
    """The reduced model under cross-entropy, gamma times attention a logit (our reading of §2).

    Args:
        n_pairs, query: as `theory.emergence_times` takes them.
        vocabulary: number of words, >= N, or >= 2N with `say_items`; absent ones have logit 0.
        say_items: whether items are words with their own logits, as in §2.

    Returns:
        The mean cross-entropy of the label in nats, with its gradient.

    Raises:
        ValueError: if the vocabulary is too small.
    """
    is_word = np.ones(2 * n_pairs) if say_items else np.arange(2 * n_pairs) % 2
    absent = vocabulary - is_word.sum()
    if absent < 0:
        raise ValueError(f"{n_pairs} pairs need {is_word.sum():.0f} words, got {vocabulary}")
    # layer 1 as in App. B.3: a label pays e^alpha to its item and 1 to every other earlier position
    first = 1 if query == "uniform" else n_pairs
    pair = np.arange(first, n_pairs + 1)[:, None]
    place = np.arange(1, 2 * n_pairs + 1)[None, :]
    target = (place == 2 * pair).astype(float)
    holds = place > 2 * pair - 1  # positions after the queried item hold a part of it
    is_label = place % 2 == 0
    others = np.where(is_label, place - 2, np.maximum(place - 1, 1))

    def parts(alpha: float, beta: float, gamma: float) -> tuple[float, tuple[float, float, float]]:
        # divided by e^alpha, or a saturated alpha would overflow
        rest = others * np.exp(-alpha * is_label)
        total = rest + is_label
        shares = holds * np.where(target, 1.0, np.exp(-alpha * is_label)) / total
        d_found = shares * is_label * np.where(target, rest, -1.0) / total
        scores = beta * shares
        seen = np.exp(scores - scores.max(axis=1, keepdims=True))
        seen /= seen.sum(axis=1, keepdims=True)
        logits = gamma * seen
        top = np.maximum(0.0, logits.max(axis=1, keepdims=True))
        share = is_word * np.exp(logits - top)
        words = share.sum(axis=1, keepdims=True) + absent * np.exp(-top)
        error = share / words - target
        value = (np.log(words) + top)[:, 0] - (target * logits).sum(axis=1)
        d_seen, d_gamma = gamma * error, (error * seen).sum(axis=1)
        d_scores = seen * (d_seen - (seen * d_seen).sum(axis=1, keepdims=True))
        d_alpha, d_beta = beta * (d_scores * d_found).sum(axis=1), (d_scores * shares).sum(axis=1)
        gradient = float(d_alpha.mean()), float(d_beta.mean()), float(d_gamma.mean())
        return float(value.mean()), gradient

    return Landscape(lambda *state: parts(*state)[0], lambda *state: parts(*state)[1], n_pairs)
