"""The language model, the made-up texts, the measures, and the stored runs of the clock."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from chapters.beyond.clock_of_a_corpus import (
    corpora,
    counted,
    natural_outcomes,
    rates,
    reading,
    stored,
    training,
)
from chapters.beyond.clock_of_a_corpus.corpora import LENGTH, Synthetic, Untaught
from chapters.beyond.clock_of_a_corpus.network import CorpusTransformer, effects, returns
from chapters.beyond.clock_of_a_corpus.stored import CELLS, PILOTS
from chapters.beyond.clock_of_a_corpus.training import Cell
from draws import stream
from emergence import clock
from emergence.clock import _limits

DATA = Path(__file__).parents[4] / "data"


def network():
    return CorpusTransformer(16, 11, 9, norm=4.0, generator=stream())


def drawn(*shape, vocabulary=11):
    return torch.randint(vocabulary, shape, generator=stream(1))


def test_the_fast_pass_is_the_written_one_and_causal():
    model, tokens = network(), drawn(3, 9)
    logits, patterns = model.passes(tokens)
    assert torch.allclose(model(tokens), logits, atol=1e-4)
    assert all(torch.allclose(p.sum(-1), torch.ones(3, 9), atol=1e-5) for p in patterns)
    changed = tokens.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % 11
    assert torch.allclose(model(tokens)[:, :5], model(changed)[:, :5], atol=1e-5)
    assert not torch.allclose(model(tokens)[:, 5:], model(changed)[:, 5:], atol=1e-2)


def test_values_see_no_positions_and_copies_are_read_off_the_weights():
    """With uniform attention the output does not know the order of what precedes."""
    model, tokens = network(), drawn(3, 9)
    torch.nn.init.zeros_(model.W_Q)
    turned = torch.cat([tokens[:, :8].flip(1), tokens[:, 8:]], dim=1)
    logits, other = (model(t, without=1)[:, -1] for t in (tokens, turned))
    assert torch.allclose(logits, other, atol=1e-4)
    torch.nn.init.zeros_(model.W_V)
    assert torch.allclose(model(tokens), model.norm * model.W_E[tokens] @ model.W_U.T, atol=1e-4)
    # what attention to a token adds
    model, tokens = network(), torch.full((1, 9), 4)
    with torch.no_grad():
        model.W_V[0].zero_()
    added = model(tokens) - model(tokens, without=1)
    assert torch.allclose(added[0, -1], model.copies()[:, 4], atol=1e-3)


def test_a_made_up_text_has_the_frequency_and_the_reliability_that_were_asked_for():
    text = Synthetic(64, 0.0, 0.6, memory=16).text(2**17, seed=0).reshape(-1, LENGTH)
    seen, right = 0, 0
    for piece in text[:64]:
        for t in range(17, LENGTH - 1):
            before = piece[t - 15 : t]
            at = np.flatnonzero(before == piece[t])
            if len(at):
                seen += 1
                right += piece[t + 1] == piece[t - 15 + at[-1] + 1]
    chance = 0.6 + 0.4 / 64
    assert right / seen == pytest.approx(chance, abs=4 * (chance * (1 - chance) / seen) ** 0.5)
    assert np.bincount(text.ravel()).std() / np.bincount(text.ravel()).mean() < 0.1


def test_returning_pairs_are_found():
    tokens = drawn(4, 30, vocabulary=4)
    result = returns(tokens)
    for row, is_there in zip(tokens.tolist(), result.tolist(), strict=True):
        pairs = list(pairwise(row))
        assert is_there == [pair in pairs[:t] for t, pair in enumerate(pairs)]


def test_a_head_made_by_hand_has_the_scores_of_one():
    """Orthogonal embeddings, layer 1 copies the previous token, layer 2 matches and copies."""
    vocabulary, context, dim = 8, 12, 64
    model = CorpusTransformer(dim, vocabulary, context, norm=1.0, generator=stream())
    eye = torch.eye(dim)
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
        model.W_E[:] = eye[:vocabulary]
        model.W_pos[0] = eye[vocabulary : vocabulary + context]
        places = range(vocabulary + 1, vocabulary + context)
        for place in places:  # a position asks for the one before
            model.W_Q[0, place - 1, place] = 1000.0
        model.W_K[0] = eye
        for token in range(vocabulary):  # and writes its token beside, where layer 2 finds it
            model.W_V[0, token, token] = 1.0
            model.W_O[0, 32 + token, token] = 1.0
            model.W_Q[1, token, token] = 1000.0
            model.W_K[1, token, 32 + token] = 1.0
            model.W_V[1, token, token] = 1.0
            model.W_O[1, 48 + token, token] = 30.0
            model.W_U[token, 48 + token] = 1.0
    draw = stream()
    half = torch.stack([torch.randperm(vocabulary, generator=draw)[:6] for _ in range(5)])
    result = effects(model, half.repeat(1, 2), half.repeat(1, 3)[:, : context + 1])
    # the first position can attend to itself alone, and so looks like its own successor
    assert result.prefix == pytest.approx((5 + 0.5) / 6, abs=1e-3)
    assert result.previous > 0.95
    assert result.copying == 1
    assert result.second < 0.2 < result.first
    assert result.ablated_repeated - result.repeated > 1


def test_a_short_training_lowers_the_loss_on_pairs_that_return(monkeypatch):
    monkeypatch.setattr(training, "text_tokens", lambda text: text.text(2**14, seed=0))
    monkeypatch.setattr(training, "ENOUGH", 0.9)
    result = stored.run(Cell(Synthetic(32, 0.5, 0.9), 16, 8, budget=80 * 16 * 8))
    assert result["steps"][-1] == 80
    assert min(result["repeated"]) < result["repeated"][0] - 0.2
    assert np.isfinite(result["loss"])


def test_when_a_measure_passes_and_how_well_pairs_are_told_apart():
    flat = [1.0, 1.0, 1.0]
    result = {
        "steps": [10, 20, 40], "prefix": [0.0, 0.1, 0.3], "first": flat, "second": flat,
        "repeated": [1.0, 0.4, 0.4], "other": flat,
        "ablated_repeated": flat, "ablated_other": flat,
    }  # fmt: skip
    steps = reading.passed(result)
    assert steps["prefix"] == pytest.approx(30)
    assert steps["halves"] == np.inf
    assert steps["ablation"] == pytest.approx(10 + 10 * 0.5 / 0.6)
    assert reading.told_apart([1.0, 2.0], [3.0, np.inf]) == 1
    assert reading.told_apart([1.0, 4.0], [3.0]) == 0.5
    assert reading.told_apart([np.inf], [np.inf]) == 0.5
    assert reading.rank_correlation([1.0, 5.0, 9.0], [2.0, 3.0, 70.0]) == pytest.approx(1)


def test_heads_share_the_width_and_one_of_them_is_the_whole():
    single = network()
    many = CorpusTransformer(16, 11, 9, norm=4.0, generator=stream(), heads=4)
    many.load_state_dict(single.state_dict())
    tokens = drawn(2, 9)
    logits, patterns = many.passes(tokens)
    assert patterns[0].shape == (2, 4, 9, 9)
    torch.testing.assert_close(many(tokens), logits)
    with torch.no_grad():  # where only the first four dimensions of queries and keys are used
        for model in (single, many):
            for weights in (model.W_Q, model.W_K, model.W_V):
                weights[:, 4:] = 0
        many.W_Q *= 4**-0.5  # a part's scores are divided by the root of its own width
    torch.testing.assert_close(many(tokens), single(tokens))


def test_stored_cells_and_what_the_command_says_of_them():
    counts = counted.RUNS.read((DATA / "clock_counts.json").read_text(encoding="utf-8"))
    assert {counted.Count(cell.text, cell.context) for cell in CELLS} == set(counts)
    assert len(set(CELLS)) == len(CELLS)
    groups = reading.by_setting(reading.StoredCells(DATA).runs)
    pilots = [same for same in groups if same[0].pilot]
    assert [[run.cell.seed for run in same] for same in pilots] == [[0, 1, 2]] * len(PILOTS)
    assert all(run.pilot for same in pilots for run in same)
    assert len(pilots) < len(groups)


def test_the_command_says_how_right_the_clock_was_about_the_stored_trainings():
    assert rates.rates_of(DATA) == clock.RATES
    wrong, ratios = (clock.RATES["natural"][name] for name in ("wrong", "ratios"))
    assert wrong[1] < wrong[0]  # so that the page and the command withdraw the prediction
    assert ratios[0] >= 1
    runs, natural = reading.StoredCells(DATA).runs, natural_outcomes.Outcomes(DATA)
    assert natural.at_all_levels()[0] == sum(run.formed for run in natural.runs)
    both = [*runs, *natural.runs]
    for name, (_, least, most) in _limits.TRAINED.items():
        of = [getattr(run.pulls if name == "vocabulary" else run.cell, name) for run in both]
        assert (min(of), max(of)) == (least, most)


def test_texts_that_teach_nothing_are_what_their_names_say():
    deck, chain = (Untaught(kind, 32, 1) for kind in ("deck", "chain"))
    assert (np.sort(deck.text(320).reshape(10, 32)) == np.arange(32)).all()
    halves = np.split(chain.text(32 * 4096), 2)
    rows = [np.bincount(part[1:][part[:-1] == 5], minlength=32) / (part[:-1] == 5).sum()
            for part in halves]  # fmt: skip
    assert np.abs(rows[0] - rows[1]).max() < 0.05 < 0.2 < rows[0].max()


def test_a_deck_is_said_to_teach_no_head_and_what_came_of_it_is_counted(monkeypatch):
    monkeypatch.setattr(corpora, "UNTAUGHT_TOKENS", 2**14)
    monkeypatch.setattr(rates, "WINDOWS", 64)
    monkeypatch.setattr(rates, "BUDGET", 40 * 512)
    result = rates.run(Untaught("deck", 64, 0))
    assert result["no"]
    assert not rates.formed(result)
    assert result["steps"][-1] == 40
    assert rates.formed({"prefix": [0.0, 0.5]})
    assert len(rates.RUNS.cells) >= 20
