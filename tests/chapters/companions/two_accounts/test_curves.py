"""Reading does not disturb training; pulls of the gradient against closed forms and zeros."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.companions.birth import memories, model, task
from chapters.companions.birth.training import train
from chapters.companions.two_accounts import PRESET, curves, readings, stages
from emergence.presets import choose
from emergence.training import train_minimal, train_tokens
from oracles.birth_counts import COUNTS

CPU = torch.device("cpu")
SMOKE = choose(PRESET, "smoke").settings
TINY = replace(
    SMOKE,
    minimal=replace(SMOKE.minimal, steps=12),
    tokens=replace(SMOKE.tokens, steps=25),
    stream=replace(SMOKE.stream, steps=22),
    densely=4,
)


def test_minimal_training_is_that_of_the_paper():
    found = curves.minimal(TINY, (0, 1), device=CPU)
    record = train_minimal(TINY.minimal, (0, 1), device=CPU)
    assert found.steps.tolist() == [0, 1, 2, 3, 4, 8, 12]
    gamma = record.pseudo[:, found.steps[:-1], -2]  # gamma_3
    assert found.of("coefficient")[0][:, :-1] == pytest.approx(gamma.numpy(), abs=1e-6)


def test_token_training_is_that_of_section_2():
    found = curves.tokens(TINY, (3,), device=CPU)
    record = train_tokens(TINY.tokens, 3, device=CPU)
    assert found.final[0] == pytest.approx(float(record.accuracy[-20:].mean()))
    last = readings.token_head(record.model)
    assert found.of("strength")[:, 0, -1] == pytest.approx(
        [float(part.table.detach().diagonal().mean()) for part in last], rel=1e-4
    )


def test_stream_training_is_that_of_chapter_7():
    found = curves.stream(TINY, COUNTS, (2,), device=CPU)
    record = train(TINY.stream, COUNTS, 2, n_layers=2, device=CPU)
    assert found.final[0] == pytest.approx(record.accuracy[-20:].mean())
    wanted = memories.Recalls(*record.readings[-1])
    assert found.of("recall")[:, 0, -1] == pytest.approx([wanted.ov2, wanted.kq2, wanted.kq1_early])


def test_pull_at_zero_weights_is_the_closed_form():
    """E[y . mean of 2N contents] = D/2N: the loss falls by 1/N for each unit of gamma_3."""
    settings = replace(SMOKE, pull_batches=200)
    pulls = stages.minimal(settings, (), seed=0, device=CPU)
    error = pulls[:, 0].std() / len(pulls) ** 0.5
    expected = settings.minimal.dim**-0.5 / settings.minimal.n_pairs
    assert abs(pulls[:, 0].mean() - expected) < 4 * error
    assert error < 0.05 * expected
    assert not pulls[:, 1:].any()


def test_without_match_nothing_pulls_at_the_previous_token():
    pulls = stages.minimal(TINY, (("gamma_3", 0.5),), seed=0, device=CPU)
    assert pulls[:, 1].mean() > 0
    assert not pulls[:, 2].any()


def test_the_first_step_moves_the_output_alone():
    assert stages.first_step(TINY.minimal, (0, 1), CPU) == 0
    later = train_minimal(replace(TINY.minimal, steps=2, snapshots=(2,)), (0,), device=CPU)
    assert later.snapshots[2].w2.any()  # so that a zero above means something


def test_pulls_in_the_stream():
    pulls, cosines = stages.stream(TINY, COUNTS, 0, device=CPU)
    assert pulls.shape == cosines.shape == (4, 3)
    assert pulls[0, 1] == cosines[0, 1] == 0  # no output, no gradient of layer 2's attention
    assert np.abs(cosines).max() <= 1


def test_pulls_are_what_the_loss_says():
    """A small step along a memory changes the loss by the pull times the step."""
    settings = replace(TINY, pull_batches=4)
    pulls, _ = stages.stream(settings, COUNTS, 1, device=CPU)
    what, draw = settings.stream, torch.Generator().manual_seed(1)
    chain = task.make(COUNTS, what.n_triggers)
    frozen, _ = model.initial(chain.n_tokens, what.length, what.dim, 2, generator=draw)
    batch = task.sample(chain, what.batch_size, what.length, generator=draw)
    frozen = model.Frozen(*(part.double() for part in frozen))
    head = stages.planted_head(frozen, chain.triggers, settings.planted, 1)
    direction = readings.stream_head(frozen, head, chain.triggers).match.target
    for_step = direction / direction.norm()

    def loss(step):
        kq = head.kq[0], head.kq[1] + step * for_step
        return model.loss_and_gradient(frozen, model.Trained(kq, head.o), batch).loss

    slope = (loss(1e-3) - loss(-1e-3)) / 2e-3
    # the memory of circuits is W / sqrt(d): its component carries that factor
    assert -slope == pytest.approx(pulls[1, 1] * what.dim**0.5, rel=1e-3)


def test_premature():
    pulls = np.array([[1, 0.1, 0.02], [1, 0.5, 0.3], [1, -0.4, 1.0], [1, 1, 1]])
    assert stages.premature(pulls) == pytest.approx(0.3)
