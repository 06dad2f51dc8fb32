"""The network and its training, against loops and autograd."""

import torch
from torch.nn import functional

from chapters.companions.clustering import Training, training

CPU = torch.device("cpu")


def small(seed=0, runs=1, n=5, hidden=12, bias=0.3):
    """Random networks in double precision, biases too."""
    stream = torch.Generator().manual_seed(seed)
    shapes = (n, 2), (2, hidden), (1, hidden), (hidden, n), (1, n)
    parts = [torch.randn(runs, *s, generator=stream, dtype=torch.float64) for s in shapes]
    return training.AdditionNetwork(
        parts[0], parts[1], bias * parts[2], parts[3] / 3, bias * parts[4]
    )


def marker_loss(weights, mark, total):
    """The loss of one marker, for the four parameters of the layers of one network."""
    first, first_bias, second, second_bias = weights
    logits = torch.relu(mark @ first + first_bias[0]) @ second + second_bias[0]
    return functional.cross_entropy(logits, total)


def losses(net):
    return training.forward(training.places(net.embeddings), net[1:]).losses()


def layers(net, run=0):
    return [part[run].clone().requires_grad_() for part in net[1:]]


def test_losses_are_those_of_one_marker_at_a_time(close):
    net = small(runs=2)
    pairs = training.all_markers(5)
    expected = [
        [
            marker_loss(layers(net, run), net.embeddings[run, a] + net.embeddings[run, b], c).item()
            for a, b, c in zip(*pairs, strict=True)
        ]
        for run in range(2)
    ]
    close(losses(net), torch.tensor(expected, dtype=torch.float64))


def test_only_trained_pairs_are_trained():
    settings = Training(residues=5, hidden=8, epochs=1)
    net, trained = training.start(settings, (4,))
    assert int((~trained).sum()) == round(0.2 * 15)
    after = training.train_clustering(settings, (4,), device=CPU)
    weights = trained / trained.sum()
    free = training.AdditionNetwork(*(part.clone().requires_grad_() for part in net))
    (losses(free) * weights).sum().backward()
    for part, old in zip(after.final, free, strict=True):
        moved = (part - old.detach() * (1 - 0.01)).abs() > 1e-9  # weight decay aside
        assert torch.equal(moved, old.grad != 0)


def test_sizes_are_of_the_shape_at_every_snapshot():
    settings = Training(residues=5, hidden=8, epochs=12, snapshots=(0, 6))
    record = training.train_clustering(settings, (0, 1, 2), device=CPU)
    result = training.force_sizes(record)
    assert list(result) == [0, 6, 12]
    end = training.AdditionNetwork(*(part.double() for part in record.final))
    free = end._replace(embeddings=end.embeddings.clone().requires_grad_())
    loss = ((losses(free) * record.trained).sum(dim=1) / record.trained.sum(dim=1)).sum()
    force = -torch.autograd.grad(loss, free.embeddings)[0]
    normal = training.normalise(end.embeddings)
    force -= force.mean(dim=1, keepdim=True)
    force -= (force * normal).sum(dim=(1, 2), keepdim=True) / 5 * normal
    rms = training.scale(end.embeddings).flatten()
    assert torch.allclose(result[12], force.flatten(1).norm(dim=1) / rms)
