"""What nineteen parameters conserve under any loss: only what is trivial.

The flow of a loss on the outputs moves along combinations of their gradients. What it conserves for
every loss is constant along these and along their commutators, so there are 19 less their rank.
"""

import pytest
import torch
from torch.autograd.functional import jacobian

from emergence.models import disentangled_output
from emergence.subspace import NAMES, PseudoParameters, embed
from emergence.tasks import orthonormal_pairs

IDLE = ("alpha_2", "beta_3", "beta_4", "beta_5", "beta_6")  # no output knows them
TWINS = (("beta_7", "beta_9"), ("beta_8", "beta_11"))  # outputs know their sums alone


def outputs(n_pairs: int, query: str, generator: torch.Generator):
    """Ten random combinations of the outputs, which are functions of the nineteen."""
    dim = 2 * n_pairs + 2
    batch = orthonormal_pairs(1, n_pairs, dim, generator=generator)
    queried = range(n_pairs - 1, n_pairs) if query == "last" else range(n_pairs)
    inputs = batch.inputs.repeat(len(queried), 1, 1)
    inputs[:, -1, :dim] = inputs[0, [2 * pair for pair in queried], :dim]
    mixed = torch.randn(10, len(queried), dim, generator=generator, dtype=torch.float64)

    def combined(point: torch.Tensor) -> torch.Tensor:
        weights = embed(PseudoParameters.unstack(point), dim)
        return (mixed * disentangled_output(weights, inputs)).sum(dim=(1, 2))

    return combined


@pytest.mark.parametrize("n_pairs", [6, 9])
@pytest.mark.parametrize("query", ["last", "uniform"])
def test_only_trivial_constants_hold_for_any_loss(n_pairs: int, query: str) -> None:
    generator = torch.Generator().manual_seed(0)
    f = outputs(n_pairs, query, generator)
    point = torch.randn(19, generator=generator, dtype=torch.float64)
    gradients = jacobian(f, point)
    curvature = jacobian(lambda p: jacobian(f, p, create_graph=True), point)
    turned = torch.einsum("iab,jb->ija", curvature, gradients)
    commutators = (turned - turned.transpose(0, 1)).flatten(0, 1)
    values = torch.linalg.svdvals(torch.cat([gradients, commutators]))
    assert int((values > 1e-9 * values[0]).sum()) == 19 - len(IDLE) - len(TWINS)
    column = dict(zip(NAMES, gradients.T, strict=True))
    assert all(column[name].abs().max() < 1e-12 for name in IDLE)
    assert all(torch.allclose(column[one], column[other]) for one, other in TWINS)
