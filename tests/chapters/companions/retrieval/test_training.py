"""Training: what a run depends on, what it records, and that it learns the shortest chains."""

from dataclasses import replace

import torch

from chapters.companions.retrieval import training
from chapters.companions.retrieval.model import Architecture

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


def test_tests_are_not_training_data():
    seen = TINY.draw((1,), 32, [torch.Generator().manual_seed(0)])
    tests = training.contexts(TINY, (0,), 32, device=CPU)
    assert not torch.equal(tests[0].keys, seen.keys)


def test_training_ends_once_every_run_has_learned():
    easy = replace(TINY, until=0.0, record_every=2)
    assert training.train(easy, (0, 1), device=CPU).moments.tolist() == [0, 2]
    late = replace(easy, stages=((1,), (1, 2)), stage_steps=3)
    assert training.train(late, (0, 1), device=CPU).moments.tolist() == [0, 2, 4]
    never = training.train(replace(easy, until=1.1), (0,), device=CPU)
    assert never.moments.tolist() == [0, 2, 4, 6]
