"""Several transformers trained as one program are those that are trained one at a time."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.beyond.real_transformers.side_by_side.networks import StackedDescent, stacked
from chapters.beyond.real_transformers.side_by_side.noise import noise_share
from chapters.beyond.real_transformers.side_by_side.train import train_side_by_side, update
from emergence import training
from emergence.running.devices import generator
from emergence.training import TokenTraining, initial_transformer
from interruption import assert_resumes

CPU = torch.device("cpu")
SMALL = TokenTraining(16, 12, 9, 3, 16, 8, 3e-3, embedding_scale=1.0)
pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.mark.parametrize(("optimiser", "rate"), [("adamw", 3e-3), ("sgd", 0.3)])
def test_a_run_is_the_training_with_its_seed_and_rate(optimiser, rate):
    """Eight updates of two runs at unlike rates against `train_tokens`, one at a time."""
    settings = replace(SMALL, optimiser=optimiser)
    rates = [rate, 2 * rate]
    streams = [generator(seed, CPU) for seed in (5, 6)]
    models = [initial_transformer(settings, stream) for stream in streams]
    descent = StackedDescent(settings, stacked(models), torch.tensor(rates))
    for _ in range(settings.steps):
        update(settings, descent, (0, 1), streams)
    for run, seed in enumerate((5, 6)):
        alone = training.train_tokens(replace(settings, learning_rate=rates[run]), seed, device=CPU)
        for mine, expected in zip(descent.weights, stacked([alone.model]), strict=True):
            assert torch.allclose(mine[run], expected[0], atol=2e-5)


def test_a_run_does_not_know_who_trains_beside_it():
    """Runs leave when they are done; the others go on as if alone, also past that."""
    settings = replace(SMALL, n_pairs=2, vocabulary=8, block_size=5, steps=60)
    levels = [0.9 * np.log(2), 0.5 * np.log(2)]
    both = train_side_by_side(settings, [0, 1], [0.05, 0.01], levels=levels, device=CPU)
    alone = train_side_by_side(settings, [1], [0.01], levels=levels, device=CPU)
    assert np.allclose(both.steps[1], alone.steps[0], rtol=1e-3)
    assert np.isclose(both.taken[1], alone.taken[0])


@pytest.mark.parametrize(("kill_after", "optimiser"), [(20, "adamw"), (45, "sgd")])
def test_a_killed_training_ends_in_the_same_bits(optimiser, kill_after):
    """One run leaves at once, for it diverges, one on the way, and one stays to the end."""
    settings = replace(SMALL, n_pairs=2, vocabulary=8, block_size=5, steps=60, optimiser=optimiser)
    rates = [1e6, 0.05, 1e-4]
    assert_resumes(
        lambda: train_side_by_side(
            settings, [0, 1, 2], rates, levels=[1.01 * np.log(2), 0.6], device=CPU
        ),
        kill_after,
    )


def test_settings_that_are_not_computed_here_are_refused():
    with pytest.raises(ValueError, match="causal"):
        train_side_by_side(replace(SMALL, mask="strict"), [0], [0.1], levels=[0.1], device=CPU)
    with pytest.raises(ValueError, match="a rate a seed"):
        train_side_by_side(SMALL, [0, 1], [0.1], levels=[0.1], device=CPU)


def test_a_larger_batch_has_a_smaller_share_of_noise():
    """Sixteen times the sequences: by AdamW's clock the share falls, and stays in (0, 1)."""
    few, many = (
        float(noise_share(replace(SMALL, batch_size=size, steps=20), [0], device=CPU)[0])
        for size in (8, 512)
    )
    assert 0 < many < few < 1.2
    assert many < few - 0.2
