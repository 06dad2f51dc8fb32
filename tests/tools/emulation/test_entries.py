"""Public functions that take tensors compute where these lie, and give what they give elsewhere."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from chapters.beyond.first_integral.conserved import balances
from chapters.beyond.real_transformers.side_by_side.networks import stacked, stacked_logits
from chapters.companions.associative_memories import lemma
from chapters.companions.associative_memories import training as memories
from chapters.companions.associative_memories.model import draw, linear
from chapters.companions.birth import fast as birth
from chapters.companions.birth import model as born
from chapters.companions.birth import task
from chapters.companions.birth import task as stream
from chapters.companions.birth.memories import recall
from chapters.companions.clustering import pairwise
from chapters.companions.clustering.model import Network
from chapters.companions.grokking import manifold
from chapters.companions.grokking.model import Layers
from chapters.companions.k_hop import construction
from chapters.paper.induction_heads.products import products_of
from chapters.paper.training_dynamics import squared_mean
from chapters.paper.training_dynamics.norms import subspace_norms
from emergence import analysis, fast, models, subspace, tasks, training
from running.devices import generator, resolve_device
from tools.emulation.emulate import emulated
from tools.emulation.trainings import BIGRAMS, TOKENS

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
PLACED = ("start", "chain", "triggers")  # of the task of bigrams
pytestmark = pytest.mark.usefixtures("unchecked")


def ramp(device: torch.device, *shape: int) -> torch.Tensor:
    """The same numbers on every device."""
    count = int(np.prod(shape))
    return torch.linspace(-1, 1, count, dtype=torch.float64).sin().view(shape).to(device)


def weights(device: torch.device, *runs: int) -> models.Weights:
    return models.Weights(
        ramp(device, *runs, 8, 8), ramp(device, *runs, 16, 16), ramp(device, *runs, 32, 4)
    )


def network(device: torch.device) -> models.AttentionOnlyTransformer:
    return training.initial_transformer(TOKENS, generator(1, CPU)).to(device)


def batch(device: torch.device) -> tasks.TokenBatch:
    drawn = tasks.token_pairs(4, 2, 8, 8, generator=generator(0, CPU))
    return type(drawn)(*(part.to(device) for part in drawn))


def particles(device: torch.device) -> Network:
    shapes = (3, 5, 2), (3, 2, 6), (3, 1, 6), (3, 6, 5), (3, 1, 5)
    return Network(*(ramp(device, *shape) for shape in shapes))


def sequences(device: torch.device) -> tuple[Any, Any]:
    what = stream.make(BIGRAMS, 5, CPU)
    drawn = stream.sample(what, 6, 16, generator=generator(0, CPU))
    what = what._replace(**{name: getattr(what, name).to(device) for name in PLACED})
    return what, type(drawn)(*(part.to(device) for part in drawn))


def birth_loss(method: Any, device: torch.device) -> Any:
    frozen, trained = born.initial(65, 16, 8, 2, generator=generator(0, CPU))
    frozen = type(frozen)(*(part.to(device) for part in frozen))
    trained = born.Trained(tuple(part.to(device) for part in trained.kq), trained.o.to(device))
    return method.loss_and_gradient(frozen, trained, sequences(device)[1])


ENTRIES: dict[str, Callable[[torch.device], Any]] = {
    "disentangled_output": lambda d: models.disentangled_output(weights(d), ramp(d, 3, 5, 8)),
    "fast.disentangled_output": lambda d: fast.disentangled_output(weights(d), ramp(d, 3, 5, 8)),
    "induction_head_output": lambda d: fast.induction_head_output(
        ramp(d, 2, 3), ramp(d, 2, 3, 5, 8)
    ),
    "AttentionOnlyTransformer": lambda d: network(d)(batch(d).tokens, batch(d).positions),
    "attention_only_logits": lambda d: fast.attention_only_logits(
        network(d), batch(d).tokens, batch(d).positions
    ),
    "key_query_products": lambda d: fast.key_query_products(
        network(d), ramp(d, 16, 3).float(), layer=1
    ),
    "stacked_logits": lambda d: stacked_logits(
        stacked([network(d)]), batch(d).tokens[None], batch(d).positions[None]
    ),
    "query_logits": lambda d: training.query_logits(network(d), batch(d), "causal", "dense"),
    "project": lambda d: subspace.project(weights(d)),
    "embed": lambda d: subspace.embed(subspace.PseudoParameters.unstack(ramp(d, 19)), 4),
    "norms": lambda d: subspace_norms(weights(d)),
    "head_lead": lambda d: analysis.head_lead(ramp(d, 2, 19)),
    "squared_mean": lambda d: squared_mean(ramp(d, 4, 5)),
    "products": lambda d: products_of(network(d)),
    "balances": lambda d: balances(network(d)),
    "recall": lambda d: recall(ramp(d, 4, 4)),
    "lemma.one_step": lambda d: lemma.one_step(
        ramp(d, 3, 4), ramp(d, 5, 4), torch.arange(5, device=d) % 3, 0.1
    ),
    "lemma.gradient": lambda d: lemma.gradient(
        ramp(d, 4, 4), ramp(d, 3, 4), ramp(d, 5, 4), ramp(d, 5, 3).abs()
    ),
    "memories.train": lambda d: memories.train(
        linear(8), draw(4, 8, 0, d), least_recall=1.0, evaluations=5, patience=3
    )[:3],
    "k_hop.compose": lambda d: construction.compose(
        torch.tensor([[[1, 2, 0], [2, 0, 1]]], device=d), 2
    ),
    "k_hop.composed": lambda d: construction.composed(torch.tensor([[[1, 0], [1, 1]]], device=d)),
    "pair_forces": lambda d: pairwise.pair_forces(particles(d)),
    "expected_pair_forces": lambda d: pairwise.expected_pair_forces(ramp(d, 5, 2), 6, (1.0, 2.0)),
    "gram": lambda d: manifold.gram(Layers(ramp(d, 3, 4), ramp(d, 4, 3)), ramp(d, 5, 3)),
    "norm_minimising": lambda d: manifold.norm_minimising(
        Layers(ramp(d, 2, 6), ramp(d, 6, 2)), Layers(ramp(d, 2, 6), ramp(d, 6, 2)), ramp(d, 3, 2)
    ),
    "birth.fast": lambda d: birth_loss(birth, d),
    "birth.model": lambda d: birth_loss(born, d),
    "baselines": lambda d: task.baselines(sequences(d)[0], BIGRAMS, sequences(d)[1]),
    "gaussian_pairs": lambda d: tasks.gaussian_pairs(3, 2, 4, generator=generator(0, d)),
    "orthonormal_pairs": lambda d: tasks.orthonormal_pairs(3, 2, 8, generator=generator(0, d)),
    "token_pairs": lambda d: tasks.token_pairs(3, 2, 8, 8, generator=generator(0, d)),
    "lemma.unit": lambda d: lemma.unit(3, 4, generator(0, d), torch.float64),
    "lemma.orthonormal": lambda d: lemma.orthonormal(3, 4, generator(0, d), torch.float64),
    "k_hop.drawn": lambda d: construction.drawn(2, 2, 4, generator=generator(0, d)),
    "k_hop.permutations": lambda d: construction.drawn(
        2, 2, 4, generator=generator(0, d), permutations=True
    ),
    "mean_pair_forces": lambda d: pairwise.mean_pair_forces(
        ramp(d, 5, 2), 6, (1.0, 2.0), count=2, stream=generator(0, d)
    ),
    "sample": lambda d: stream.sample(stream.make(BIGRAMS, 5, d), 2, 8, generator=generator(0, d)),
}  # fmt: skip


def numbers(found: Any) -> Iterator[Any]:
    """All tensors and numbers of a result, in order."""
    if isinstance(found, dict):
        found = tuple(found.values())
    if isinstance(found, tuple | list):
        for item in found:
            yield from numbers(item)
    elif found is not None and not isinstance(found, str):
        yield found


@pytest.mark.parametrize("compute", ENTRIES.values(), ids=ENTRIES)
def test_a_function_computes_where_its_tensors_lie(compute):
    here = list(numbers(compute(CPU)))
    with emulated() as cuda:
        there = list(numbers(compute(CUDA)))
        kinds = {x.device.type for x in there if isinstance(x, torch.Tensor)}
        there = [x.cpu() if isinstance(x, torch.Tensor) else x for x in there]
    assert kinds <= {"cuda"}
    assert cuda.operations
    assert len(here) == len(there) > 0
    for mine, other in zip(here, there, strict=True):
        one, two = (torch.as_tensor(value).detach().numpy() for value in (mine, other))
        assert np.array_equal(one, two)


def test_the_device_that_is_asked_for_is_found():
    with emulated():
        assert resolve_device("auto") == resolve_device("cuda") == CUDA
    with pytest.raises(ValueError, match="no CUDA device"):
        resolve_device("cuda")
