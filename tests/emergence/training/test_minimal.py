"""Trainings of the disentangled transformer against oracles, the theory and one another."""

import dataclasses

import numpy as np
import pytest
import torch

from asserts import refused
from draws import CPU, normal, stream
from emergence import models, tasks, training
from emergence.models import Weights
from emergence.subspace import INDUCTION_HEAD, NAMES, PseudoParameters, embed, project
from emergence.training import MinimalTraining, train_minimal
from emergence.training import _minimal as minimal
from oracles import elementwise as oracle

TINY = MinimalTraining(n_pairs=2, dim=4, batch_size=8, steps=20, learning_rate=0.5)


def change(**changes):
    return dataclasses.replace(TINY, **changes)


def train(settings, seeds=(0,), **options):
    return train_minimal(settings, seeds, device=CPU, **({"dtype": torch.float64} | options))


def index(*names):
    return [NAMES.index(name) for name in names]


def batches(settings, seed):
    """The batches that a run with this seed sees, after random weights from the same stream."""
    draw, dim = stream(seed), settings.dim
    if settings.initial_scale:
        for shape in ((2 * dim, 2 * dim), (4 * dim, 4 * dim), (8 * dim, dim)):
            normal(draw, *shape)
    for _ in range(settings.steps):
        yield tasks.gaussian_pairs(settings.batch_size, settings.n_pairs, dim, generator=draw)


@pytest.mark.parametrize(
    "change_of",
    [{"mask": "causal", "initial_scale": 0.2},
     {"data": "orthonormal", "query": "last", "trained": INDUCTION_HEAD},
     {"trained": ("alpha_3", "gamma_3"), "held": (("beta_2", 0.7),)}],
)  # fmt: skip
def test_dense_and_fast_training_agree(close, change_of):
    settings = change(**change_of, snapshots=(20,))
    dense, fast = (train(settings, (0, 1), method=name) for name in ("dense", "fast"))
    assert dense.loss.std() > 1e-3
    close(*((*run[1:4], *run.snapshots[20]) for run in (fast, dense)), 1e-9)


@pytest.mark.parametrize(
    "change_of",
    [{}, {"learning_rate": 0.3}, {"trained": INDUCTION_HEAD},
     {"trained": ("alpha_3", "gamma_3"), "held": (("beta_2", 0.2),)},
     {"mask": "causal"}, {"mask": "causal", "learning_rate": 0.3, "trained": INDUCTION_HEAD}],
)  # fmt: skip
def test_the_prediction_is_training_on_orthogonal_inputs(change_of, close, monkeypatch):
    """Without overlaps, and with the last query, each batch has the gradient of the population."""

    def stretched(batch_size, n_pairs, dim, **options):
        inputs, target, query = tasks.orthonormal_pairs(batch_size, n_pairs, dim, **options)
        return tasks.Batch(inputs * dim**0.5, target * dim**0.5, query)

    settings = MinimalTraining(3, 12, 2, 40, query="last", trained=NAMES)
    settings = dataclasses.replace(settings, **change_of)
    monkeypatch.setitem(minimal.SAMPLERS, "gaussian", stretched)
    record, path = train(settings), training.predict_minimal(settings)
    assert np.abs(path.pseudo[-1, index(*settings.trained)]).max() > 0.1
    close(record.pseudo[0], torch.tensor(path.pseudo[record.steps]), 1e-9)
    close(record.loss[0], torch.tensor(path.loss[record.steps]), 1e-9)


def test_the_prediction_refuses_what_it_does_not_cover():
    others = {"data": "orthonormal", "copies": 2, "windows": (None, 2), "initial_scale": 0.1}
    for name, value in others.items():
        settings = change(**{name: value})
        refused(ValueError, "prediction is for Gaussian", training.predict_minimal, settings)


def test_seeds_trained_together_do_not_mix(close):
    settings = change(steps=8, snapshots=(8,))
    together = train(settings, (0, 1, 2))
    for i in range(3):
        alone = train(settings, (i,))
        close(
            [part[i] for part in (*together[1:4], *together.snapshots[8])],
            tuple(part[0] for part in (*alone[1:4], *alone.snapshots[8])),
        )
    assert (together.loss[0] - together.loss[1]).abs().min() > 1e-6


@pytest.mark.parametrize("mask", ["strict", "causal"])
@pytest.mark.parametrize("method", ["dense", "fast"])
def test_a_step_goes_down_the_gradient(close, mask, method):
    """W(6) = W(5) - L dL/dW, with the loss of the oracle and its finite differences."""
    settings = MinimalTraining(2, 2, 3, 6, learning_rate=0.7, mask=mask, snapshots=(0, 5, 6))
    record = train(settings, (4,), method=method)
    before, after = ([w[0].numpy() for w in record.snapshots[k]] for k in (5, 6))
    *_, batch = batches(settings, 4)
    assert all(torch.all(weight == 0) for weight in record.snapshots[0])

    def loss(weights):
        pairs = zip(batch.inputs.numpy(), batch.target.numpy(), strict=True)
        losses = [oracle.loss(*weights, x, y, mask == "strict") for x, y in pairs]
        return np.mean(losses) / settings.dim

    assert float(record.loss[0, 5]) == pytest.approx(loss(before), rel=1e-12)
    for k in range(3):

        def along(array, k=k):
            return loss([*before[:k], array, *before[k + 1 :]])

        gradient = oracle.finite_difference(along, before[k], 1e-4)
        assert np.abs(gradient).max() > 1e-3
        close((before[k] - after[k]) / 0.7, gradient, 1e-5)


@pytest.mark.parametrize("trained", [INDUCTION_HEAD, ("gamma_1", "gamma_4", "beta_7", "alpha_1")])
def test_constrained_training_moves_what_it_names(close, trained):
    """Projecting the gradient is descent in the named coordinates, slowed by |I|^2 = |M|^2 = D."""
    settings = change(trained=trained, snapshots=(20,), learning_rate=2.0)
    record = train(settings, (3,))
    idle = [i for i, name in enumerate(NAMES) if name not in trained]
    assert torch.all(record.pseudo[..., idle] == 0)
    assert record.outside.max() < 1e-14
    values = torch.zeros(19, dtype=torch.float64)
    moving = torch.tensor([float(name in trained) for name in NAMES], dtype=torch.float64)
    for step, batch in enumerate(batches(settings, 3)):
        close(record.pseudo[0, step], values)
        leaf = values.clone().requires_grad_()
        weights = embed(PseudoParameters.unstack(leaf), settings.dim)
        output = models.disentangled_output(weights, batch.inputs)
        (gradient,) = torch.autograd.grad((output - batch.target).square().mean(), leaf)
        values = values - 2.0 / settings.dim * moving * gradient
    assert (values.abs() > 1e-6).sum() == len(trained)
    final = embed(PseudoParameters.unstack(values), settings.dim)
    close([part[0] for part in record.snapshots[20]], final)


def test_records_say_when(close):
    """A record is of the weights before its step, a snapshot of those after so many updates."""
    settings = change(steps=7, record_every=3, snapshots=(0, 3, 7))
    record = train(settings, (0, 1))
    assert record.steps.tolist() == [0, 3, 6]
    assert sorted(record.snapshots) == [0, 3, 7]
    in_full = train(change(steps=7), (0, 1))
    for thinned, full in zip(record[1:4], in_full[1:4], strict=True):
        assert torch.equal(thinned, full[:, ::3])
    pseudo, outside = project(record.snapshots[3])
    assert outside.min() > 1e-3
    close((record.pseudo[:, 1], record.outside[:, 1]), (pseudo.stacked(), outside))


@pytest.mark.parametrize("trained", [(), ("alpha_3", "gamma_3")])
def test_held_parameters_stay_and_the_others_learn(close, trained):
    record = train(change(held=(("beta_2", 0.7), ("gamma_4", -0.2)), trained=trained), (0, 1))
    held = record.pseudo[..., index("beta_2", "gamma_4")]
    close(held, torch.tensor([0.7, -0.2], dtype=torch.float64).expand_as(held))
    moved = record.pseudo[:, -1] - record.pseudo[:, 0]
    assert moved[:, index("alpha_3", "gamma_3")].abs().min() > 1e-4


def test_holding_moves_nothing_else(close):
    """One update of a held run is the free update from the same weights, without one coordinate."""
    once = {"steps": 1, "snapshots": (0, 1), "initial_scale": 0.3, "learning_rate": 2.0}
    held = train(change(held=(("beta_2", 0.7),), **once))
    start = Weights(*(w[0] for w in held.snapshots[0]))
    (batch,) = batches(change(**once), 0)
    leaves = [w.clone().requires_grad_() for w in start]
    output = models.disentangled_output(Weights(*leaves), batch.inputs)
    gradient = torch.autograd.grad((output - batch.target).square().mean(), leaves)
    only = torch.eye(19, dtype=torch.float64)[NAMES.index("beta_2")]
    unit = embed(PseudoParameters.unstack(only), 4)
    for old, new, slope, direction in zip(start, held.snapshots[1], gradient, unit, strict=True):
        along = (slope * direction).sum() / direction.square().sum().clamp(min=1)
        close(new[0], old - 2.0 * (slope - along * direction))


def test_random_weights_have_their_scale_and_their_seed_and_may_diverge():
    settings = change(dim=16, steps=1, snapshots=(0,), initial_scale=0.3)
    weights = train(settings, (0, 1)).snapshots[0]
    for weight in weights:
        assert float(weight.std()) == pytest.approx(0.3, rel=0.05)
        assert not torch.equal(weight[0], weight[1])
    assert torch.equal(train(settings, (1,)).snapshots[0].w2[0], weights.w2[1])
    with pytest.raises(ArithmeticError, match=r"wild: the loss is not finite at step \d"):
        train(change(learning_rate=1e6), label="wild", dtype=torch.float32)


def test_training_ends_once_every_run_is_below_the_level():
    settings = MinimalTraining(2, 8, 64, 60, until_loss=0.6)
    record = train(settings, (0, 1), dtype=torch.float32)
    in_full = train(dataclasses.replace(settings, until_loss=None), (0, 1), dtype=torch.float32)
    assert 1 < len(record.steps) < 60
    assert torch.equal(record.loss, in_full.loss[:, : len(record.steps)])
    assert record.loss.amin(dim=1).max() <= 0.6
    assert record.loss[:, :-1].amin(dim=1).max() > 0.6


@pytest.mark.usefixtures("unchecked")
def test_bad_settings_raise():
    refused(ValueError, "data should be 'gaussian' or 'orthonormal'", change, data="images")
    refused(ValueError, "'delta_1'", change, trained=("delta_1",))
    refused(ValueError, "snapshot at step 21", change, snapshots=(21,))
    refused(ValueError, "'delta_1'", change, held=(("delta_1", 1.0),))
    both = {"held": (("beta_2", 1.0),), "trained": ("beta_2",)}
    refused(ValueError, "both trained and held", change, **both)
    refused(ValueError, "initial_scale should be at least 0", change, initial_scale=-0.1)
    refused(ValueError, "learning_rate should be greater than 0", change, learning_rate=-1.0)
    refused(ValueError, "neither copies nor windows", change, supervision="every", copies=2)
    refused(ValueError, "initial_scale must", change, initial_scale=0.1, trained=("beta_2",))


def test_gradient_samples_are_the_step_that_training_takes(close):
    settings = change(steps=4, snapshots=(2,), trained=NAMES)
    record, draw = train(settings, (5,)), stream(5)
    for _ in range(2):  # the batches of steps 0 and 1
        minimal.stacked_batches(settings, [draw], torch.float64)
    weights = Weights(*(part[0] for part in record.snapshots[2]))
    sample = training.gradient_samples(settings, weights, 1, stream=draw)
    close(record.pseudo[0, 3] - record.pseudo[0, 2], -settings.learning_rate * sample[0])
