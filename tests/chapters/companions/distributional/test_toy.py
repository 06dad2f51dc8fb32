"""One step of descent against autograd, and the limit laws against enumeration."""

import itertools
import math

import pytest
import torch

from chapters.companions.distributional import toy


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("layer", ["feed-forward", "attention"])
def test_integers_are_the_logits_of_one_step(layer, close):
    n, length, count = 7, 3, 20
    contexts, targets = toy.sample(n, length, 0.5, 1, count, generator=stream())
    tested = torch.tensor([[2, 5, 2]])
    one_hot = torch.eye(n + 1, dtype=torch.float64)  # the last is the trigger, as an input
    means = one_hot[contexts[0]].mean(dim=1)
    query = one_hot[tested[0]].mean(dim=0)
    if layer == "feed-forward":
        means, query = one_hot[-1].expand(count, -1), one_hot[-1]
    w = torch.zeros(n + 1, n + 1, dtype=torch.float64, requires_grad=True)
    torch.nn.functional.cross_entropy(means @ w.T, targets[0]).backward()
    logits = -w.grad @ query
    shared = toy.overlaps(contexts, tested, n)[0] if layer == "attention" else torch.ones(count)
    scale = length**2 if layer == "attention" else 1
    counted = torch.zeros(n + 1, dtype=torch.float64).scatter_add_(0, targets[0], shared.double())
    close(logits - logits[0], (counted - counted[0]) / (scale * count))


def test_sampler_statistics():
    n, length, alpha = 11, 4, 0.3
    contexts, targets = toy.sample(n, length, alpha, 50, 800, generator=stream())
    noisy = targets == n
    assert noisy.double().mean().item() == pytest.approx(alpha, abs=0.01)
    shown = (contexts == targets[..., None]).any(dim=-1)
    assert shown[~noisy].all()
    assert contexts.max() == n - 1


@pytest.mark.parametrize("alpha", [0.25, 0.5])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_feed_forward_limit_by_enumeration(count, alpha):
    total = 0.0
    for noisy in itertools.product([True, False], repeat=count):
        others = 1 if not all(noisy) else 0  # targets other than noise never repeat
        chance = math.prod(alpha if is_noisy else 1 - alpha for is_noisy in noisy)
        total += chance * (sum(noisy) > others)
    assert toy.limit_feed_forward(count, alpha) == pytest.approx(total)


def test_attention_limit_by_poisson_draws():
    nu, length, alpha, trials = 0.2, 3, 0.4, 400_000
    draw = stream()

    def poisson(mean, *shape):
        return torch.poisson(torch.full(shape, mean, dtype=torch.float64), generator=draw)

    noise = poisson(alpha * nu * length**2, trials)
    same = poisson((1 - alpha) * nu, trials, length).amax(dim=1)
    other = poisson((1 - alpha) * nu * length * (length - 1), trials).clamp(max=1)
    share = (noise > torch.maximum(same, other)).double().mean().item()
    assert toy.limit_attention(nu, length, alpha) == pytest.approx(share, abs=0.004)


def test_needed_interpolates_and_says_when_it_cannot():
    counts = torch.tensor([1, 4, 16])
    shares = torch.tensor([0.0, 0.8, 1.0], dtype=torch.float64)
    assert toy.needed(counts, shares, 0.9) == pytest.approx(8)
    assert toy.needed(counts[1:], shares[1:], 0.5) == 4
    with pytest.raises(ValueError, match="not reached"):
        toy.needed(counts, shares / 2, 0.9)
