"""How hard it is to find what is hidden: agreements and gradients."""

from itertools import permutations, product

import pytest
import torch

from chapters.companions.k_hop import construction


def by_hand(hidden, other):
    """On how many questions two tuples agree, in plain Python."""
    n, k = len(hidden[0]), len(hidden)
    same = 0
    for given in product(permutations(range(n)), repeat=k):
        for x in range(n):
            ends = []
            for tuple_ in (hidden, other):
                value = x
                for p, s in zip(tuple_, given, strict=True):
                    value = s[p[value]]
                ends.append(value)
            same += ends[0] == ends[1]
    return same


@pytest.mark.parametrize(
    ("hidden", "other"),
    [
        (((0, 1, 2),), ((1, 0, 2),)),
        (((0, 1, 2), (2, 1, 0)), ((1, 2, 0), (2, 0, 1))),
        (((0, 1, 2, 3), (2, 1, 0, 3)), ((0, 1, 2, 3), (2, 1, 3, 0))),
    ],
)
def test_agreements_as_by_hand(hidden, other):
    n, k = len(hidden[0]), len(hidden)
    every = construction.tuples(n, k)
    first, second = ((every == each).all(axis=(1, 2)).argmax() for each in (hidden, other))
    counts = construction.formula(n, k)[first, second], construction.agreeing(n, k)[first, second]
    assert counts == (by_hand(hidden, other),) * 2


def test_shares_of_gradients_as_by_autograd():
    """The variance over hidden tuples of the gradient of the cross-entropy, by brute force."""
    n, k, width = 3, 1, 4
    shares = construction.gradient_shares(n, k, width, generator=torch.Generator().manual_seed(0))
    stream = torch.Generator().manual_seed(0)
    given, right = construction.tuples(n, k), torch.from_numpy(construction.answers(n, k))
    context = torch.nn.functional.one_hot(torch.from_numpy(given), n).flatten(1).double()
    inputs = torch.cat(
        [context.repeat_interleave(n, 0), torch.eye(n).double().repeat(len(given), 1)], dim=1
    )
    first = torch.randn(inputs.shape[1], width, generator=stream, dtype=torch.float64)
    second = torch.randn(width, n, generator=stream, dtype=torch.float64) / width**0.5
    second.requires_grad_()
    inner = (inputs @ first / inputs.shape[1] ** 0.5).relu()
    losses = [torch.nn.functional.cross_entropy(inner @ second, target) for target in right]
    gradients = torch.stack([torch.autograd.grad(loss, second)[0] for loss in losses])
    allowed = construction.bound(n, k) * inner.square().mean(0)[:, None]
    expected = gradients.var(0, correction=0) / allowed
    assert shares[: width * n] == pytest.approx(expected.detach().flatten().numpy(), rel=1e-9)
    assert shares.max() <= 1
