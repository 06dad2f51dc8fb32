"""The attention of both layers in the box for every large N, when the last pair is asked for."""

from typing import NamedTuple

from flint import arb, arb_series

from ..box import Box, Scales, both, excess, upper
from ..twelve import Attention, attention_and_overlaps


class Attentions(NamedTuple):
    """Bounds on both layers; item and label are the answer's, and scores those of layer 2."""

    e: arb  # e^alpha_3
    grown: arb  # its largest value
    slack: arb  # N times what `push` is beyond its limit and log N
    push: tuple[arb, arb]  # of recency on alpha_3, over log N: least and largest
    varied: arb  # all that alpha_3 moves
    near: arb  # N (e^alpha_1 - 1)
    each: arb  # N times the query's attention in layer 1 to a row that is not the queried item
    asked: arb  # N times its attention to the queried item
    ahead: arb  # N^2 times all that this moves
    share: arb  # N times the attention of the label to its item in layer 1
    score: arb  # beta_2 and what adds to it
    of_first: arb  # N^2 times the score of row 0
    moved: tuple[arb, arb, arb]  # what the scores of item, label and row 0 move
    label: arb  # N times what e^score of the label is beyond 1
    row: arb  # N^2 times what e^score of row 0 is beyond 1
    series: arb_series  # x = 1/N
    p: Attention  # both layers and their inner products, as series in x
    norm: arb  # of the attention of layer 2, over N: the least
    on_item: arb  # N times the attention of layer 2 to the item
    on_label: arb  # N times its attention to the label
    on_first: arb  # N times its attention to row 0
    missing: arb  # how far the decay of h is below its limit, over h and log N/N


def attention_bounds(box: Box, level: arb, scale: Scales) -> Attentions:
    """Both layers; ArithmeticError where the bounds so far are too wide."""
    x, rare, most = scale.x, scale.rare, scale.most
    e = (-box.low).exp().union(level.exp())
    grown = upper(e)
    slack = (arb("1.5") * grown).union(arb("-2.5")) / (1 - 2 * most)
    push = 1 + (excess(level) + slack * x) * rare, 1 + (excess(-box.low) + slack * x) * rare
    varied = level + 2 * box.low  # all that alpha_3 moves

    each, asked = upper(1 / (2 - x - x * box.alpha_1)), arb("0.6")
    near = box.alpha_1 * (most * box.alpha_1).exp()  # N (e^alpha_1 - 1)
    ahead = near * each + asked * box.alpha_1 * 2  # N^2 times all that it moves
    share = upper(e / (2 - 2 * x + x * e))
    score = box.beta_2 + 2 * most**3 * box.beta_8 * ahead
    of_label = share * score + most**2 * box.beta_10 * ahead  # N times its score
    of_first = (2 * box.beta_8 + box.beta_12) * each * (1 + most**2 * box.alpha_1)  # N^2 times
    moved = (
        box.beta_1 + 2 * most**4 * box.beta_7 * ahead,
        most * of_label * (1 + varied),
        most**2 * of_first,
    )
    if not (moved[0] < 3 and 2 * most * (box.alpha_1 + of_label.exp()) < 1):
        raise ArithmeticError("the bounds are too wide for what follows")
    series = arb_series([x, 1])
    item = (-moved[0]).exp().union(moved[0].exp())
    label = both(of_label * (most * of_label).exp())
    row = both(of_first * (most**2 * of_first).exp())
    first = arb(0).union(scale.mixed * (1 + 2 * rare))
    p = attention_and_overlaps(
        series,
        (1 + series * both(near), arb_series([e])),
        (arb_series([item]), 1 + series * label, 1 + series * series * row),
        arb_series([0]),
        arb_series([first]),
    )
    if not p.asked[0] < asked:
        raise ArithmeticError("alpha_1 is too far from zero")
    norm = arb(p.norm[0].lower())
    on_item, on_label, on_first = (upper(part[0]) for part in (p.item, p.label, p.first))
    missing = 1 + arb("1.7") * rare + (grown - 1) * upper(push[1])  # over log N
    missing = arb(0).union(upper(2 * missing / (norm * norm)))
    return Attentions(
        e=e, grown=grown, slack=slack, push=push, varied=varied, near=near, each=each, asked=asked,
        ahead=ahead, share=share, score=score, of_first=of_first, moved=moved, label=label,
        row=row, series=series, p=p, norm=norm, on_item=on_item, on_label=on_label,
        on_first=on_first, missing=missing,
    )  # fmt: skip
