"""The model of App. B.2 on any context of orthonormal symbols, position by position."""

import math
from collections import Counter


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
