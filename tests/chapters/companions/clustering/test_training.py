"""The network, its training and its pair forces, against loops, one training step and averages."""

import itertools
import math
from dataclasses import replace

import pytest
import torch
from torch.nn import functional

from chapters.companions.clustering import (
    Training,
    energy,
    markers,
    model,
    pairwise,
    profiles,
    training,
)
from interruption import assert_resumes

CPU = torch.device("cpu")
SMALL = Training(residues=5, hidden=8)


def small(seed=0, runs=1, n=5, hidden=12, bias=0.3):
    """Random networks in double precision, biases too."""
    stream = torch.Generator().manual_seed(seed)
    shapes = (n, 2), (2, hidden), (1, hidden), (hidden, n), (1, n)
    parts = [torch.randn(runs, *s, generator=stream, dtype=torch.float64) for s in shapes]
    return model.Network(parts[0], parts[1], bias * parts[2], parts[3] / 3, bias * parts[4])


def marker_loss(weights, mark, total):
    """The loss of one marker, for the four parameters of the layers of one network."""
    first, first_bias, second, second_bias = weights
    logits = torch.relu(mark @ first + first_bias[0]) @ second + second_bias[0]
    return functional.cross_entropy(logits, total)


def marker_force(weights, mark, total):
    """-grad of that loss by the marker."""
    mark = mark.clone().requires_grad_()
    return -torch.autograd.grad(marker_loss(weights, mark, total), mark)[0]


def layers(net, run=0):
    return [part[run].clone().requires_grad_() for part in net[1:]]


def test_losses_are_those_of_one_marker_at_a_time(close):
    net = small(runs=2)
    pairs = markers.all_markers(5)
    expected = [
        [
            marker_loss(layers(net, run), net.embeddings[run, a] + net.embeddings[run, b], c).item()
            for a, b, c in zip(*pairs, strict=True)
        ]
        for run in range(2)
    ]
    close(model.losses(net), torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("hidden_bias", [True, False])
def test_pair_forces_are_what_a_training_step_does(hidden_bias, close):
    net = small(bias=0.3 if hidden_bias else 0.0)
    found = pairwise.pair_forces(net, hidden_bias=hidden_bias)[0]
    marks = markers.places(net.embeddings)[0]
    total = markers.all_markers(5).total
    rate = 1e-5
    for j in (0, 4, 11):
        weights = layers(net)
        steps = torch.autograd.grad(marker_loss(weights, marks[j], total[j]), weights)
        if not hidden_bias:
            steps = (steps[0], torch.zeros_like(steps[1]), *steps[2:])
        both = [
            [w.detach() + sign * rate * g for w, g in zip(weights, steps, strict=True)]
            for sign in (-1, 1)
        ]
        for i in range(len(total)):
            after, before = (marker_force(w, marks[i], total[i]) for w in both)
            close((after - before) / (2 * rate), found[i, j], 1e-6)


def test_the_networks_own_force_is_its_gradient(close):
    net = small(runs=3)
    counted = torch.rand(3, 15, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    free = net._replace(embeddings=net.embeddings.clone().requires_grad_())
    loss = (model.losses(free) * counted).sum()
    close(pairwise.own_force(net, counted), -torch.autograd.grad(loss, free.embeddings)[0])


def test_the_expected_pair_force_is_an_average_over_networks():
    stream = torch.Generator().manual_seed(3)
    place = torch.randn(5, 2, generator=stream, dtype=torch.float64)
    given = place, 8, (0.25, 1e-6)  # small W_2: p is 1/n
    mean = pairwise.mean_pair_forces(*given, count=8000, stream=stream, block=2000)
    expected = pairwise.expected_pair_forces(*given)
    assert float((mean - expected).norm() / expected.norm()) < 0.02
    few = {"count": 30, "block": 15}
    again = [pairwise.mean_pair_forces(*given, stream=stream.manual_seed(1), **few) for _ in "ab"]
    assert torch.equal(*again)


@pytest.mark.parametrize("hidden_bias", [True, False])
def test_trained_pair_forces_are_pair_forces(hidden_bias, close):
    net = small(runs=2, bias=0.3 if hidden_bias else 0.0)
    found = pairwise.pair_forces(net, hidden_bias=hidden_bias)
    for j in (0, 7):
        given = {"partner": j, "rate": 1e-5, "hidden_bias": hidden_bias}
        close(pairwise.trained_pair_forces(net, **given), found[:, :, j], 1e-6)


def test_a_relabelled_force_is_that_of_other_numbers():
    stream = torch.Generator().manual_seed(0)
    place = torch.randn(2, 5, 2, generator=stream, dtype=torch.float64)

    def field(places):
        return energy.forces(places, 0.5, 0.5, 0.1)

    order = torch.randperm(5, generator=torch.Generator().manual_seed(7))
    given = {"count": 1, "stream": torch.Generator().manual_seed(7)}
    moved = torch.stack([field(run[order]) for run in place])
    force = torch.zeros_like(place)
    for new, old in enumerate(order.tolist()):
        force[:, old] = moved[:, new]
    found = pairwise.relabelled_likeness(force, place, field, **given)
    assert torch.allclose(found, torch.ones(2).double())


def test_forces_linear_in_the_partner_cancel():
    """Over ordered pairs each sum has the same total marker, 2 sum E, wherever the embeddings."""
    n = 7
    place = torch.randn(n, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for m in range(n):
        total = sum(place[a] + place[(m - a) % n] for a in range(n))
        assert torch.allclose(total, 2 * place.sum(dim=0))


def test_likeness_ignores_motion_and_growth():
    stream = torch.Generator().manual_seed(0)
    place = torch.randn(3, 6, 2, generator=stream, dtype=torch.float64)
    force = energy.forces(place, 0.5, 0.5)
    other = 4 * force + torch.tensor([1.0, -2.0]) + 3 * markers.normalise(place)
    assert torch.allclose(pairwise.likeness(force, other, place), torch.ones(3).double())
    assert torch.allclose(pairwise.likeness(force, -other, place), -torch.ones(3).double())


def test_training_is_that_of_each_seed_alone():
    settings = Training(residues=5, hidden=8, epochs=30, records=3, snapshots=(0, 10))
    both = training.train_clustering(settings, (0, 1), device=CPU)
    alone = training.train_clustering(settings, (1,), device=CPU)
    assert torch.allclose(both.final.second[1], alone.final.second[0], atol=1e-5)
    assert torch.equal(both.trained[1], alone.trained[0])
    assert both.epochs.tolist() == [0, 10, 20, 30]
    assert both.accuracy.shape == both.loss.shape == both.scores.grid.shape == (4, 2)
    assert set(both.snapshots) == {0, 10}
    assert (both.loss[-1] < both.loss[0]).all()


def test_only_trained_pairs_are_trained():
    settings = Training(residues=5, hidden=8, epochs=1)
    net, trained = model.start(settings, (4,))
    assert int((~trained).sum()) == round(0.2 * 15)
    after = training.train_clustering(settings, (4,), device=CPU)
    weights = trained / trained.sum()
    free = model.Network(*(part.clone().requires_grad_() for part in net))
    (model.losses(free) * weights).sum().backward()
    for part, old in zip(after.final, free, strict=True):
        moved = (part - old.detach() * (1 - 0.01)).abs() > 1e-9  # weight decay aside
        assert torch.equal(moved, old.grad != 0)


def test_weight_decay_and_biases_are_where_they_are_asked_for():
    changes = (
        {"hidden_bias": False},
        {"weight_decay": 0.0},
        {"weight_decay": 0.0, "embedding_decay": 1.0},
    )
    frozen, none, same = (
        training.train_clustering(replace(SMALL, epochs=20, **each), (0,), device=CPU).final
        for each in changes
    )
    assert not frozen.first_bias.any()
    assert not torch.equal(none.embeddings, same.embeddings)
    assert none.first_bias.any()


def test_a_run_that_diverges_is_an_error():
    with pytest.raises(ArithmeticError, match="not finite"):
        training.train_clustering(
            replace(SMALL, epochs=40, learning_rate=math.inf), (0,), device=CPU
        )


@pytest.mark.parametrize("kill_after", [1, 5, 6, 11])
@pytest.mark.parametrize("hidden_bias", [True, False])
def test_a_killed_training_ends_in_the_same_bits(hidden_bias, kill_after):
    settings = replace(SMALL, epochs=12, records=3, snapshots=(0, 5), hidden_bias=hidden_bias)
    assert_resumes(lambda: training.train_clustering(settings, (0, 1), device=CPU), kill_after)


def test_following_compares_at_every_snapshot():
    settings = Training(residues=5, hidden=8, epochs=12, snapshots=(0, 6))
    record = training.train_clustering(settings, (0, 1, 2), device=CPU)
    tendencies = {"clustering": lambda places: energy.forces(places, 0.0, 0.5, 0.0)}
    stream = torch.Generator().manual_seed(0)
    found = training.compare_forces(record, tendencies, relabellings=2, stream=stream)
    assert found.epochs.tolist() == [0, 6, 12]
    end = model.Network(*(part.double() for part in record.final))
    free = end._replace(embeddings=end.embeddings.clone().requires_grad_())
    loss = ((model.losses(free) * record.trained).sum(dim=1) / record.trained.sum(dim=1)).sum()
    force = -torch.autograd.grad(loss, free.embeddings)[0]
    expected = pairwise.likeness(force, tendencies["clustering"](end.embeddings), end.embeddings)
    assert torch.allclose(found.likeness["clustering"][-1], expected, atol=1e-5)
    assert found.control["clustering"].shape == found.size.shape == (3, 3)


def test_profiles_are_averages_over_pairs():
    """By loops over pairs, in places where every bin has some."""
    net = small(runs=2, n=9)
    found = profiles.profile(net)
    force = pairwise.pair_forces(net)
    force = force / force.square().sum(dim=-1).mean(dim=(1, 2)).sqrt()[:, None, None, None]
    marks = markers.places(net.embeddings)
    total = markers.all_markers(9).total.tolist()
    rms = float(markers.scale(net.embeddings)[1])
    near, far, angle = [], [], []
    for i, j in itertools.permutations(range(45), 2):
        if total[i] != total[j]:
            continue
        gap = marks[1, j] - marks[1, i]
        pull = float(force[1, i, j] @ gap / gap.norm())
        if gap.norm() < profiles.NEAR * rms:
            near.append(pull)
        if gap.norm() > profiles.FAR * rms:
            far.append(pull)
        bearing = [math.atan2(*marks[1, k].flip(0).tolist()) for k in (i, j)]
        delta = (bearing[1] - bearing[0] + math.pi) % (2 * math.pi) - math.pi
        if 45 <= abs(math.degrees(delta)) < 60:
            x, y = marks[1, i].tolist()
            turn = float(force[1, i, j] @ torch.tensor([-y, x]).double()) / math.hypot(x, y)
            angle.append(math.copysign(1, delta) * turn)
    expected = sum(near) / len(near) - sum(far) / len(far)
    assert float(found.near.same[1]) == pytest.approx(expected)
    assert float(found.turn.same[1, 3]) == pytest.approx(sum(angle) / len(angle))


def test_a_force_that_only_aligns_has_its_second_harmonic_alone(monkeypatch):
    """Planted pair forces |s_j| sin 2 delta across the marker: the fit finds them, and no other."""
    net = small(runs=1, n=7)
    marks = markers.places(net.embeddings)[0]
    length = marks.norm(dim=-1)
    across = torch.stack((-marks[:, 1], marks[:, 0]), dim=-1) / length[:, None]
    bearing = torch.atan2(marks[:, 1], marks[:, 0])
    delta = bearing[None] - bearing[:, None]
    planted = across[:, None] * (length * (2 * delta).sin())[..., None]
    monkeypatch.setattr(profiles, "pair_forces", lambda *_, **__: planted[None])
    found = profiles.profile(net)
    size = planted.square().sum(dim=-1).mean().sqrt()
    expected = float(markers.scale(net.embeddings) / size)
    for kind in (0, 1):
        assert float(found.alignment[kind]) == pytest.approx(expected)
        assert float(found.first[kind]) == pytest.approx(0, abs=1e-9)


def test_pairs_that_meet_are_told_from_those_that_do_not():
    """Two markers of one sum whose residues are moved together by the end."""
    net = small(runs=1, n=5)
    last = net._replace(embeddings=net.embeddings.clone())
    counted = torch.ones(1, 15, dtype=torch.float64) / 15
    stays = profiles.followed(net, last, counted, 1e-9)
    assert float(stays.together) == 0
    assert math.isnan(float(stays.closing_together))
    everywhere = profiles.followed(net, last, counted, 1e9)
    assert float(everywhere.together) == 1
    assert float(everywhere.closing_together) == pytest.approx(float(stays.closing_apart))


def test_the_size_of_biases_is_theirs_over_the_weights():
    net = small(n=5)
    twice = net._replace(first_bias=2 * net.first_bias, embeddings=3 * net.embeddings)
    assert float(profiles.bias_size(twice) / profiles.bias_size(net)) == pytest.approx(2 / 3)
