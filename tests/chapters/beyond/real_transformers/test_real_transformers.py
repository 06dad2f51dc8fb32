"""Powers of times, the stored grid, and several transformers that are trained as one program."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from asserts import refused
from chapters.beyond.real_transformers import side_by_side, token_grid
from chapters.beyond.real_transformers.powers import fit_power_law, is_a_power, local_slopes
from chapters.beyond.real_transformers.side_by_side import noise_share, train_side_by_side
from chapters.beyond.real_transformers.token_grid import GRID, Cell, stored_settings
from draws import CPU, stream
from emergence import training
from emergence.training import TokenTraining, initial_transformer
from tools.this_book import ROOT

SIZES = np.array([2.0, 4.0, 8.0, 16.0])
SPREAD = np.exp(0.05 * np.linspace(-1, 1, 4))  # of four seeds, the same at every size


def test_local_slopes_tell_a_power_and_fits_take_complete_sizes():
    slopes = local_slopes(SIZES, 3 * SIZES[:, None] ** 1.5 * SPREAD)
    assert np.allclose(slopes.slope, 1.5)
    assert (slopes.low < 1.5).all()
    assert (slopes.high > 1.5).all()
    assert is_a_power(slopes)
    steepening = local_slopes(SIZES, np.exp(0.2 * SIZES[:, None]) * SPREAD)
    assert not is_a_power(steepening)
    refused(ValueError, "never emerged", local_slopes, [1, 2], np.array([[1.0], [np.inf]]))
    sizes = (2, 4, 8, 16)
    times = np.array([[3.0 * n**1.5] * 2 for n in sizes])
    assert fit_power_law(sizes, times).exponent.slope == pytest.approx(1.5)
    times[3, 1] = np.inf
    fit = fit_power_law(sizes, times)
    assert (list(fit.sizes), fit.never) == ([2, 4, 8], 1)
    assert fit.exponent.slope == pytest.approx(1.5)
    times[2, 0] = np.inf
    refused(ValueError, "three sizes at which all runs emerged, got 2", fit_power_law, sizes, times)


pytestmark = pytest.mark.usefixtures("unchecked")


def test_stored_cells_pass_levels_in_order_and_the_others_are_told():
    stored = token_grid.read(ROOT / "data/token_grid.json")
    assert len(token_grid.not_run(stored, GRID)) == len(GRID) - len(stored)
    for entry in stored:
        for run in entry["runs"]:
            steps = [np.inf if t is None else t for t in run["steps"]]
            assert steps == sorted(steps)
            assert run["taken"] <= entry["cell"]["limit"]


def test_waits_are_read_by_what_varies():
    def entry(n, steps):
        cell = stored_settings(Cell("proportional", n, 4 * n, "sgd", (0.5,), 9, seeds=(0,)))
        return {"cell": cell, "runs": [{"rate": 0.5, "seed": 0, "steps": steps}]}

    cells = [entry(4, [1, None]), entry(2, [1, 3])]
    assert token_grid.waits(cells, 0.5, lambda cell: True).times.tolist() == [[1], [1]]
    result = token_grid.waits(cells, 0.5, lambda cell: True, level=1)
    assert result.values.tolist() == [2, 4]
    assert result.times.tolist() == [[3], [np.inf]]
    emerged = result.emerged()
    assert (emerged.values.tolist(), emerged.times.tolist()) == ([2], [[3]])
    assert emerged.cells == [cells[1]["cell"]]
    refused(ValueError, "twice", token_grid.waits, [*cells, *cells], 0.5, lambda cell: True)
    refused(ValueError, "nothing", token_grid.waits, cells, 0.1, lambda cell: True)


SMALL = TokenTraining(16, 12, 9, 3, 16, 8, 3e-3, embedding_scale=1.0)


@pytest.mark.parametrize(("optimiser", "rate"), [("adamw", 3e-3), ("sgd", 0.3)])
def test_a_run_is_the_training_with_its_seed_and_rate(optimiser, rate):
    settings = replace(SMALL, optimiser=optimiser)
    rates = [rate, 2 * rate]
    streams = [stream(seed) for seed in (5, 6)]
    models = [initial_transformer(settings, stream) for stream in streams]
    weights = side_by_side.stacked(models)
    descent = side_by_side.StackedDescent(settings, weights, torch.tensor(rates))
    for _ in range(settings.steps):
        side_by_side.update(settings, descent, (0, 1), streams)
    for run, seed in enumerate((5, 6)):
        alone = training.train_tokens(replace(settings, learning_rate=rates[run]), seed, device=CPU)
        expected = side_by_side.stacked([alone.model])
        for mine, other in zip(descent.weights, expected, strict=True):
            assert torch.allclose(mine[run], other[0], atol=2e-5)


def test_a_run_does_not_know_who_trains_beside_it():
    """Runs leave when they are done; the others go on as if alone, also past that."""
    settings = replace(SMALL, n_pairs=2, vocabulary=8, block_size=5, steps=60)
    levels = [0.9 * np.log(2), 0.5 * np.log(2)]
    both = train_side_by_side(settings, [0, 1], [0.05, 0.01], levels=levels, device=CPU)
    alone = train_side_by_side(settings, [1], [0.01], levels=levels, device=CPU)
    assert np.allclose(both.steps[1], alone.steps[0], rtol=1e-3)
    assert np.isclose(both.taken[1], alone.taken[0])


def test_settings_that_are_not_computed_here_are_refused():
    train = partial(train_side_by_side, levels=[0.1], device=CPU)
    refused(ValueError, "causal", train, replace(SMALL, mask="strict"), [0], [0.1])
    refused(ValueError, "a rate a seed", train, SMALL, [0, 1], [0.1])


def test_a_larger_batch_has_a_smaller_share_of_noise():
    """Sixteen times the sequences: by AdamW's clock the share falls, and stays in (0, 1)."""
    few, many = (
        float(noise_share(replace(SMALL, batch_size=size, steps=20), [0], device=CPU)[0])
        for size in (8, 512)
    )
    assert 0 < many < few < 1.2
    assert many < few - 0.2
