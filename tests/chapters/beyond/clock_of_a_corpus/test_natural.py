"""Trainings on long natural texts: the null, the ceiling of the score, the knock-in, the cells."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from chapters.beyond.clock_of_a_corpus import (
    corpora,
    natural_heads,
    natural_outcomes,
    natural_predictions,
    network,
    reading,
    training,
)
from chapters.beyond.clock_of_a_corpus.corpora import Synthetic
from chapters.beyond.clock_of_a_corpus.network import CorpusTransformer
from chapters.beyond.clock_of_a_corpus.training import Cell, Training
from emergence import clock
from emergence.running.records import Entry, written
from tools.emulation import emulated

DATA = Path(__file__).parents[4] / "data"


def drawn(size: int, vocabulary: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, vocabulary, size=size)


def test_the_null_has_the_successors_of_its_text_and_pulls_on_no_head() -> None:
    """A text that repeats whole stretches teaches a head, and its null does not."""
    stretches = drawn(2**12, 40).reshape(-1, 64)
    text = np.concatenate([np.tile(stretch, 2) for stretch in np.tile(stretches, (8, 1))])
    resampled = corpora.null(text)
    assert len(resampled) == len(text) // corpora.CHAIN * corpora.CHAIN
    tables = [
        np.bincount(t[:-1] * 40 + t[1:], minlength=1600) / len(t) for t in (text, resampled)
    ]  # fmt: skip
    assert np.abs(tables[0] - tables[1]).sum() < 0.2
    whole, without = (clock.pulls(t, 128, windows=128) for t in (text, resampled))
    assert whole.match[0] > 5 * abs(without.match[0])


def test_the_ceiling_is_the_share_of_the_copy_that_follows_half_a_window_before() -> None:
    """Beside the copy that is meant, each other token is one with probability 1/V."""
    assert network.ceiling(torch.arange(10**7), 32) == pytest.approx(1, abs=1e-4)
    assert network.ceiling(torch.zeros(9, dtype=torch.long), 8) == pytest.approx(
        np.mean([1 / t for t in range(4, 8)])
    )
    share = network.ceiling(torch.as_tensor(drawn(10**5, 1000)), 128)
    # of 63 other tokens of the half, one that came already has two copies
    assert share == pytest.approx(1 - 63 / 2 * (1 / 2 + 2 / 3) / 1000, abs=0.003)


@pytest.mark.parametrize("heads", [1, 4])
def test_the_previous_token_step_is_given_and_stays(heads: int) -> None:
    stream = torch.Generator().manual_seed(0)
    model = network.GivenPrevious(128, 11, 128, norm=4.0, generator=stream, heads=heads)
    tokens = torch.randint(11, (2, 128), generator=stream)
    logits, (first, _) = model.passes(tokens)
    assert first[:, 0].diagonal(-1, 1, 2).mean() > 0.98
    assert torch.allclose(model(tokens), logits, atol=1e-4)
    logits.square().sum().backward()
    part = 128 // heads
    assert model.W_Q.grad[0, :part].abs().max() == 0
    assert model.W_Q.grad[1].abs().max() > 0
    other = CorpusTransformer(
        128, 11, 128, norm=4.0, generator=torch.Generator().manual_seed(0), heads=heads
    )
    if heads == 4:  # the other heads are those of a network without a knock-in
        assert torch.allclose(other.passes(tokens)[1][0][:, 1:], first[:, 1:], atol=1e-5)


def test_every_training_has_its_prediction() -> None:
    cells = natural_heads.RUNS.cells
    assert len(set(cells)) == len(cells) == 24 + 2 + 8 + 8
    asked = {(cell.text, cell.context) for cell in natural_predictions.RUNS.cells}
    assert {(each.text, each.cell.context) for each in cells} == asked


def test_a_missing_long_text_and_another_version_are_told(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(corpora, "TEXTS", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"is missing: python -m .*corpora"):
        corpora.tokens_of("kernel", 256)
    (tmp_path / "kernel.txt").write_text("In the beginning", encoding="utf-8")
    with pytest.raises(ValueError, match="another version"):
        corpora.tokens_of("kernel", 256)


def test_bytes_are_numbered_without_gaps_and_files_are_joined(tmp_path: Path, monkeypatch) -> None:
    for n, text in enumerate(("a\r\nb\r", "c" * 9)):
        (tmp_path / str(n)).write_text(text, encoding="utf-8", newline="")
    monkeypatch.setattr(corpora, "CHARACTERS", 8)
    text = corpora.joined(sorted(tmp_path.iterdir()))
    assert text == "a\nb\ncc"
    monkeypatch.setattr(corpora, "TEXTS", tmp_path)
    (tmp_path / "kernel.txt").write_bytes(text.encode())
    source = corpora.Source("", "", "", "", corpora.hashlib.sha256(text.encode()).hexdigest())
    monkeypatch.setitem(corpora.SOURCES, "kernel", source)
    assert corpora.tokens_of("kernel", 256).tolist() == [1, 0, 2, 0, 3, 3]


def entries(results: dict[Any, Any]) -> str:
    return written(Entry(c, None, None, None, {}, 60.0, None, r) for c, r in results.items())


def a_result(steps: float, score: float) -> dict[str, Any]:
    flat = [1.0, 1.0]
    return {
        "steps": [0, steps], "prefix": [0.0, score], "ceiling": 0.4, "first": flat,
        "second": flat, "repeated": flat, "other": flat, "ablated_repeated": flat,
        "ablated_other": flat, "previous": [0.0, 1.0],
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pulls = [0.01, 0.3], [0.003, 0.2], [0.0002, 0.1]
    counts = [128, 9, *pulls, 0.4, 0.3, 0.1, 0.02]
    prediction = {
        "tokens": 9, "counts": dict(zip(clock.Pulls._fields, counts, strict=True)),
        "clock": 3e6, "null": None, "published": 16e6, "ceiling": 0.4,
    }  # fmt: skip
    predictions = entries(dict.fromkeys(natural_predictions.RUNS.cells, prediction))
    (tmp_path / "natural_predictions.json").write_text(predictions, encoding="utf-8")
    (tmp_path / "natural_heads.json").write_text(entries({}), encoding="utf-8")
    return tmp_path


def test_what_has_been_run_stands_beside_the_predictions(folder: Path) -> None:
    """The score passes a fifth of its ceiling, 0.08, half way to 0.16, and for a third not."""
    text, whole = natural_heads.NATURAL[0].text, natural_heads.NATURAL[0]
    results = {
        whole: a_result(20_000, 0.16),
        natural_heads.head_training(text, 2): a_result(46_875, 0.07),
        Training(whole.cell, "null"): a_result(46_875, 0.01),
        natural_heads.KNOCK_INS[1]: a_result(5000, 0.16),
        natural_heads.CONTROL: a_result(1000, 0.4),
    }
    (folder / "natural_heads.json").write_text(entries(results), encoding="utf-8")
    some = natural_outcomes.Outcomes(folder)
    assert some.tokens(text, "whole") == "10.2, none"
    assert some.tokens(text, "null") == some.tokens(text, "whole", "halves")[:4] == "none"
    assert some.tokens(natural_heads.NATURAL[1].text, "whole") == "not run"
    assert some.tokens(natural_heads.CONTROL.text, "whole") == "0.2"
    assert [run.formed for run in some.runs] == [True, False]
    assert some.runs[0].steps["previous"] == 10_000
    assert some.late() == {reading.text_in_words(text): pytest.approx(4)}
    laws = some.laws(reading.StoredCells(DATA).runs)
    assert laws["the published constant"].ratio == pytest.approx(10.24 / 16.05, abs=0.01)
    assert laws["the published constant"].right == 1
    assert np.isnan(laws["the clock"].rank)


def test_a_law_is_judged_by_order_ratio_and_budget(folder: Path) -> None:
    text = natural_heads.NATURAL[0].text
    results = {
        natural_heads.head_training(text, n): a_result(20_000 + 9000 * n, 0.16) for n in (0, 1, 2)
    }
    (folder / "natural_heads.json").write_text(entries(results), encoding="utf-8")
    runs = natural_outcomes.Outcomes(folder).runs
    steps = [run.measured for run in runs]
    assert natural_outcomes.judged([2 * at for at in steps], runs) == (pytest.approx(1), 0.5, 3)
    assert natural_outcomes.judged([-at for at in steps], runs).rank == pytest.approx(-1)
    assert natural_outcomes.judged([np.inf] * 3, runs).right == 0


def shortened(kind: training.Kind, seed: int) -> Training:
    """A training of 150 steps, on one of two texts."""
    text = Synthetic(64, 0.5, 0.9, memory=seed)
    return Training(Cell(text, 32, 4, 150 * 32 * 4, seed, 4, 2e-3), kind)


def alone(which: Training) -> list[tuple[float, ...]]:
    """The looks of one training, by the network as it is defined and steps as PyTorch has them."""
    cell, begun = which.cell, training.Started.of(which, training.training_tokens(which))
    optimiser = torch.optim.AdamW(
        begun.model.parameters(), lr=cell.learning_rate, weight_decay=0.01, betas=(0.9, 0.99)
    )
    looks, due = [], training.looks_at(cell.steps)
    for step in range(1, cell.steps + 1):
        batch = begun.read[begun.starts()[:, None] + torch.arange(cell.context + 1)]
        loss = cross_entropy(begun.model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step in due:
            looks.append((step, *network.effects(begun.model, begun.halves, begun.unseen)))
    return looks


@pytest.mark.parametrize("on_gpu", [False, True])
@pytest.mark.parametrize("kinds", [("whole", "whole", "null"), ("knock-in", "knock-in")])
def test_many_trainings_together_have_the_results_of_each_alone(
    kinds: tuple[training.Kind, ...], on_gpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One text lacks tokens that the other one has; on an emulated GPU the step is recorded."""
    texts = [drawn(2**14, 41), drawn(2**14, 57), drawn(2**14, 41)]
    monkeypatch.setattr(training, "text_tokens", lambda text: texts[text.memory])
    monkeypatch.setenv("GRAPHS", "1")
    trainings = [shortened(kind, seed) for seed, kind in enumerate(kinds)]
    with emulated() if on_gpu else nullcontext():
        device = torch.device("cuda" if on_gpu else "cpu")
        together = list(training.train_together(trainings, device))
    assert [which for which, _ in together] == trainings
    for which, result in together:
        names = "steps", *network.Effects._fields
        for name, values in zip(names, zip(*alone(which), strict=True), strict=True):
            assert result[name] == pytest.approx(list(values), abs=2e-3)
