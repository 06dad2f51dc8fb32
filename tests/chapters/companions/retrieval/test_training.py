"""Training: what a run depends on, what it records, and that it learns the shortest chains."""

import math
from dataclasses import replace

import pytest
import torch

from chapters.companions.retrieval import PRESET, training
from chapters.companions.retrieval.model import Architecture
from emergence.presets import choose

CPU = torch.device("cpu")
TINY = training.RetrievalTraining(
    stages=((1, 2),),
    steps=6,
    architecture=Architecture(2, 2, 16, 16, 12),
    n_hops=2,
    n_chains=2,
    batch_size=16,
    warm_up=3,
    record_every=4,
    test_size=32,
)


def test_a_run_depends_on_its_own_seed_only(close):
    both, alone, again = (
        training.train(TINY, seeds, device=CPU).parameters.tensors()
        for seeds in ((0, 1), (1,), (0, 1))
    )
    for one, other in zip(both, alone, strict=True):
        close(one[1], other[0], 1e-4)  # batched products round differently
    assert all(map(torch.equal, both, again))


def test_records_start_untrained_and_end_trained():
    record = training.train(TINY, (0, 1), device=CPU)
    assert record.moments.tolist() == [0, 4, 6]
    assert record.accuracy.shape == (2, 3, 2)
    assert record.maps.shape == (2, 3, 2, 2, 3, 2)
    tests = training.contexts(TINY, (0, 1), TINY.test_size, device=CPU)
    accuracy, maps = training.examine(record.parameters, tests, 2)
    assert torch.equal(accuracy, record.accuracy[:, -1])
    torch.testing.assert_close(maps, record.maps[:, -1], equal_nan=True)
    assert [set(test.hops.flatten().tolist()) for test in tests] == [{1}, {2}]


def test_tests_are_not_training_data():
    seen = TINY.draw((1,), 32, [torch.Generator().manual_seed(0)])
    tests = training.contexts(TINY, (0,), 32, device=CPU)
    assert not torch.equal(tests[0].keys, seen.keys)


def test_rate_rises_and_falls():
    settings = replace(TINY, steps=1000, warm_up=200, learning_rate=1.0)
    assert settings.rate(0) == pytest.approx(1 / 200)
    half_way = 0.1 + 0.9 * (1 + math.cos(math.pi / 2)) / 2
    assert settings.rate(500) == pytest.approx(half_way)
    assert settings.rate(1000) == pytest.approx(0.1)


def test_untrained_loss_is_that_of_a_wild_guess_and_one_hop_is_learnt():
    """One hop with one layer is look-up, which a small network learns in seconds."""
    settings = replace(
        TINY, architecture=Architecture(1, 1, 32, 32, 12), stages=((1,),), n_hops=1, steps=250,
        batch_size=32, warm_up=20, learning_rate=1e-2, record_every=250, test_size=200,
    )  # fmt: skip
    record = training.train(settings, (0,), device=CPU)
    assert float(record.accuracy[0, 0, 0]) < 0.4
    assert float(record.accuracy[0, -1, 0]) > 0.9


def test_losses_are_cross_entropies():
    streams = [torch.Generator().manual_seed(seed) for seed in (0, 1)]
    parameters = training.initial(TINY.architecture, streams)
    batch = training.contexts(TINY, (0, 1), 5, device=CPU)[1]
    with torch.no_grad():
        given = training.forward(parameters, batch, 2).logits.softmax(-1)
        right = given.gather(-1, batch.target[..., None]).squeeze(-1)
        expected = -right.log().mean(dim=(1, 2))
        found = training.losses(parameters, batch, 2)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"record_every": 0}, "must be positive"),
        ({"stages": ((1,), ())}, "every stage asks"),
        ({"stages": ((1,), (2,))}, "stage_steps"),
    ],
)
def test_bad_settings_raise_one_sentence(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **changes)


@pytest.mark.parametrize(
    ("rate", "seeds", "error", "message"),
    [
        (2e-3, (), ValueError, "at least one seed"),
        (1e30, (0,), ArithmeticError, r"broken: the loss is not finite at step \d"),
    ],
)
def test_a_training_that_fails_says_why(rate, seeds, error, message):
    with pytest.raises(error, match=message):
        training.train(replace(TINY, learning_rate=rate), seeds, device=CPU, label="broken")


def test_stages_follow_one_another_and_the_last_one_stays():
    settings = replace(TINY, stages=((2,), (1,), (1, 2)), stage_steps=3)
    assert [settings.asked(step) for step in (0, 2, 3, 6, 90)] == [(2,), (2,), (1,), (1, 2), (1, 2)]


def test_training_ends_once_every_run_has_learned():
    easy = replace(TINY, until=0.0, record_every=2)
    assert training.train(easy, (0, 1), device=CPU).moments.tolist() == [0, 2]
    late = replace(easy, stages=((1,), (1, 2)), stage_steps=3)
    assert training.train(late, (0, 1), device=CPU).moments.tolist() == [0, 2, 4]
    never = training.train(replace(easy, until=1.1), (0,), device=CPU)
    assert never.moments.tolist() == [0, 2, 4, 6]


def test_looks_are_taken_away_at_each_record():
    record = training.train(replace(TINY, causal=True), (0, 1), device=CPU)
    assert record.cut.shape == (2, 3, 3, 2)  # facts and queries of layer 1, queries of layer 2
    assert training.train(TINY, (0,), device=CPU).cut.shape == (1, 3, 0, 2)


def test_presets():
    paper, smoke = (choose(PRESET, profile) for profile in ("paper", "smoke"))
    assert paper.n_seeds == 5
    assert smoke.settings.training().steps < 50
    run = paper.settings.training()
    assert (run.stages, run.n_hops, run.architecture.n_layers) == (((1, 2, 3, 4),), 4, 3)
    assert run.rate(run.steps) == run.learning_rate
