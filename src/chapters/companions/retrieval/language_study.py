"""A small language model on the prompts, by form, hops, order of facts and examples, and its heads.

The answers are stored in data/companions/language.json. The model is SmolLM2-135M-Instruct, Q4_1,
which `make env EXTRAS=language` installs. The measures of heads need a model built as Llama is.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from running import records

from . import language, prompts
from .language import LanguageModel
from .prompts import Order, Prompt


@dataclass(frozen=True)
class Condition:
    """Prompts of one kind; the n-th one depends on the seed and n alone."""

    form: str
    hops: int
    n_prompts: int
    order: Order = "shuffled"
    examples: int = 0  # solved ones before each prompt
    n_chains: int = 3
    seed: int = 0

    def prompts(self) -> list[Prompt]:
        """The prompts, each from a stream of its own."""
        return [self._prompt(number) for number in range(self.n_prompts)]

    def _prompt(self, number: int) -> Prompt:
        stream = torch.Generator().manual_seed(10_000 * self.seed + number)
        form = prompts.FORMS[self.form]
        made = [
            form(self.hops, self.n_chains, generator=stream, order=self.order)
            for _ in range(1 + self.examples)
        ]
        return prompts.with_examples(made[0], made[1:])


@dataclass(frozen=True)
class HeadStudy:
    """Scores of all heads, and one-hop answers without some of them."""

    n_prompts: int = 40
    n_cut: int = 10


@dataclass(frozen=True)
class Ranking:
    """Scores of all heads on prompts that follow solved examples."""


@dataclass(frozen=True)
class Silenced:
    """Answers without a group of heads: the strongest of a kind, or a random draw beside them."""

    kind: str  # "none", or by which score the heads are strong
    n_heads: int
    draw: int | None  # None: the strongest heads themselves


Asked = Condition | HeadStudy | Ranking | Silenced
CONDITIONS: tuple[Condition, ...] = (
    Condition("assignments", 1, 60),
    Condition("assignments", 2, 60),
    Condition("conditional", 1, 30),
    Condition("assignments", 1, 30, examples=4),
    Condition("assignments", 2, 30, examples=4),
    Condition("assignments", 2, 30, "forward"),
    Condition("assignments", 2, 30, "backward"),
    Condition("conditional", 2, 30),
    Condition("assignments", 3, 30),
    Condition("assignments", 4, 30),
)


class Heads(NamedTuple):
    """Of each head: mean attention of the last token to the right end, and as an induction head."""

    retrieval: Float[Tensor, "layers heads"]
    induction: Float[Tensor, "layers heads"]


@torch.no_grad()
def head_scores(model: LanguageModel, made: Sequence[Prompt], *, length: int = 24) -> Heads:
    """Attention to the answer's token in one-hop prompts, and to what followed last time.

    The second is read on random tokens, each of which occurs twice, `length` apart.
    """
    found = []
    for prompt in made:
        tokens = model.encode(prompt.text)
        fact = f"{prompt.text.splitlines()[-1]}{prompt.candidates[prompt.right]}"
        own = prompt.text.rfind("\n\n") + 1  # where examples end: they may have the same fact
        before = prompt.text[: prompt.text.index(fact, own) + len(fact)]
        place = len(model.encode(before)) - 1
        found.append(torch.stack([each[0, :, -1, place] for each in _attention(model, tokens)]))
    stream = torch.Generator().manual_seed(0)
    inner: Any = model.model
    vocabulary = inner.get_input_embeddings().weight.shape[0]
    drawn = torch.randint(vocabulary // 2, (length,), generator=stream).tolist()
    maps = _attention(model, [*drawn, *drawn])
    offsets = [each[0].diagonal(1 - length, -2, -1)[..., 1:].mean(-1) for each in maps]
    return Heads(torch.stack(found).mean(0), torch.stack(offsets))


def _attention(model: LanguageModel, tokens: list[int]) -> Sequence[Tensor]:
    placed = torch.tensor([tokens], device=next(model.model.parameters()).device)
    return model.model(input_ids=placed, output_attentions=True).attentions


@contextmanager
def without(model: LanguageModel, heads: Sequence[tuple[int, int]]) -> Iterator[None]:
    """A context in which some heads, each (layer, head), write nothing."""
    inner: Any = model.model
    own: dict[int, list[int]] = {}
    for layer, head in heads:
        own.setdefault(layer, []).append(head)

    def silenced(of_layer: list[int], _: object, given: tuple[Tensor, ...]) -> Any:
        parts = given[0].unflatten(-1, (inner.config.num_attention_heads, -1)).clone()
        parts[..., of_layer, :] = 0
        return (parts.flatten(-2), *given[1:])

    with ExitStack() as hooks:
        for layer, those in own.items():
            target = inner.model.layers[layer].self_attn.o_proj
            hook = target.register_forward_pre_hook(partial(silenced, those))
            hooks.callback(hook.remove)
        yield


def strongest(scores: Float[Tensor, "layers heads"], count: int) -> list[tuple[int, int]]:
    """The heads with the greatest scores, each (layer, head)."""
    order = scores.flatten().argsort(descending=True)[:count].tolist()
    return [divmod(place, scores.shape[1]) for place in order]


def as_stored(scores: Heads) -> dict[str, list[list[float]]]:
    """The scores of all heads by kind, rounded."""
    rounded = {kind: np.round(each.double().numpy(), 4) for kind, each in scores._asdict().items()}
    return {kind: each.tolist() for kind, each in rounded.items()}


def told(right: str) -> list[bool]:
    """Right answers from how they are stored, a digit a prompt."""
    return [each == "1" for each in right]


def study_heads(model: LanguageModel, study: HeadStudy) -> dict[str, Any]:
    """Scores of all heads, and one-hop answers without the strongest and without random heads."""
    n_cut, made = study.n_cut, Condition("assignments", 1, study.n_prompts, seed=1).prompts()
    found = head_scores(model, made)
    stream = torch.Generator().manual_seed(0)
    drawn = torch.randperm(found.retrieval.numel(), generator=stream)[:n_cut].tolist()
    groups = {
        "none": [],
        "retrieval": strongest(found.retrieval, n_cut),
        "induction": strongest(found.induction, n_cut),
        "random": [divmod(place, found.retrieval.shape[1]) for place in drawn],
    }
    right = {}
    for name, heads in groups.items():
        with without(model, heads):
            right[name] = sum(language.right_answers(model, made))
    return {"n_prompts": study.n_prompts, "cut": groups, "right": right} | as_stored(found)


def read(text: str) -> tuple[dict[Condition, list[bool]], dict[str, Any]]:
    """Right answers by condition, and the measures of heads, those after examples as "shown"."""
    found = {entry.configuration: entry.result for entry in records.entries(text, Asked)}
    answers = {c: told(right) for c, right in found.items() if isinstance(c, Condition)}
    cuts = [asdict(cut) | result for cut, result in found.items() if isinstance(cut, Silenced)]
    return answers, found[HeadStudy()] | {"shown": {"scores": found[Ranking()], "cuts": cuts}}
