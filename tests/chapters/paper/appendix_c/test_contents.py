"""Contents of four kinds: what overlaps, what differs in length, and what the query asks for."""

import pytest
import torch

from chapters.paper import appendix_c
from emergence.subspace import HEAD, NAMES

RUN = appendix_c.PRESET["paper"].settings.four


@pytest.mark.parametrize("kind", appendix_c.CONTENTS)
def test_contents_overlap_and_differ_in_length_as_named(kind):
    overlap, unequal = appendix_c.CONTENTS[kind]
    batch = appendix_c.contents(kind, RUN, 300, generator=torch.Generator().manual_seed(0))
    rows = batch.inputs[:, :-1, : RUN.dim]
    lengths = rows.norm(dim=-1)
    assert (float(lengths.std()) > 0.1) == unequal
    assert float(lengths.square().mean()) == pytest.approx(RUN.dim, rel=0.05)
    products = rows @ rows.mT / RUN.dim
    across = products[:, ~torch.eye(2 * RUN.n_pairs, dtype=torch.bool)]
    assert (float(across.square().mean() * RUN.dim) > 0.8) == overlap
    assert overlap or float(across.abs().max()) < 1e-5


@pytest.mark.parametrize("kind", appendix_c.CONTENTS)
def test_the_query_is_its_item_and_the_target_its_label(kind):
    batch = appendix_c.contents(kind, RUN, 20, generator=torch.Generator().manual_seed(1))
    for inputs, target, query in zip(*batch, strict=True):
        assert torch.equal(inputs[-1, : RUN.dim], inputs[2 * query, : RUN.dim])
        assert torch.equal(target, inputs[2 * query + 1, : RUN.dim])


def test_nothing_pushes_beta_8_where_contents_are_orthonormal():
    head = torch.zeros(len(NAMES))
    head[HEAD] = torch.tensor([0.4, 1.0, 1.0])
    push = {
        kind: appendix_c.pushes(
            kind, RUN, head, 2000, 1, generator=torch.Generator().manual_seed(2)
        )[0]
        for kind in ("Gaussian", "orthogonal, equal lengths")
    }
    eighth = NAMES.index("beta_8")
    assert push["Gaussian"][eighth] < -0.003
    assert push["orthogonal, equal lengths"][eighth].abs() < 1e-4
