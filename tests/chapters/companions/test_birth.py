"""Counts and sequences, the network, its memories and attention, training, and their order."""

import hashlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.companions.birth import Settings, model, stored, task
from oracles.birth_counts import COUNTS, WRITTEN

N = len(COUNTS.characters)


def draw(batch_size=400, length=60, seed=0, n_triggers=5, random_triggers=False):
    stream = torch.Generator().manual_seed(seed)
    what = task.make(COUNTS, n_triggers, random_triggers=random_triggers)
    return what, task.sample(what, batch_size, length, generator=stream)


def test_counts_are_the_stored_ones():
    assert hashlib.sha256(WRITTEN.encode()).hexdigest() == task.COUNTS_SHA256
    assert COUNTS.sha256 == task.COUNTS_SHA256
    assert N == 65
    assert COUNTS.counts.sum() == 1_115_393  # one less than the characters of the text
    assert "".join(COUNTS.characters[i] for i in COUNTS.most_frequent(5)) == " etoa"


def test_damaged_counts_are_refused():
    with pytest.raises(ValueError, match="checksum"):
        task.read(WRITTEN.replace("27643", "27644"))


def test_count_by_hand():
    result = task.count("abba,ab\n")
    pairs = Counter(["ab", "bb", "ba", "a,", ",a", "ab", "b\n"])
    assert result.characters == "\n,ab"
    wanted = [[pairs[first + second] for second in "\n,ab"] for first in "\n,ab"]
    assert result.counts.tolist() == wanted


def test_triggers_have_one_successor_in_a_sequence():
    what, batch = draw()
    for tokens, targets in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        assert tokens[1:] == targets[:-1]
        for q in what.triggers.tolist():
            assert len({y for x, y in zip(tokens, targets, strict=True) if x == q}) <= 1


def test_outputs_are_uniform():
    _, batch = draw(6000, 12)
    space = COUNTS.characters.index(" ")
    pairs = zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True)
    outputs = [targets[tokens.index(space)] for tokens, targets in pairs if space in tokens]
    expected = len(outputs) / N
    counts = Counter(outputs)
    chi = sum((counts[i] - expected) ** 2 / expected for i in range(N))
    assert abs(chi - (N - 1)) < 4 * (2 * (N - 1)) ** 0.5


def test_other_tokens_follow_the_bigrams():
    _, batch = draw(4000, 60)
    q = COUNTS.characters.index("h")
    after = batch.targets[batch.tokens == q]
    result = torch.bincount(after, minlength=N).double() / len(after)
    wanted = torch.from_numpy(COUNTS.conditional[q])
    assert (result - wanted).abs().max() < 4 * (0.25 / len(after)) ** 0.5
    assert not result[wanted == 0].any()


def test_scored_where_a_trigger_was_seen_before():
    what, batch = draw(50)
    for tokens, scored in zip(batch.tokens.tolist(), batch.scored.tolist(), strict=True):
        for t, token in enumerate(tokens):
            assert scored[t] == (token in what.triggers.tolist() and token in tokens[:t])


def test_baselines_by_hand():
    what, batch = draw(30)
    right, excess, likely, total = 0, 0, 0, 0
    for x, y, scored in zip(*(part.tolist() for part in batch), strict=True):
        for t in (t for t, flag in enumerate(scored) if flag):
            so_far = Counter(x[: t + 1])
            best = min(range(N), key=lambda z: (-so_far[z], z))
            mean = [(t + 1) * p for p in COUNTS.unigram.tolist()]
            above = max(range(N), key=lambda z: (so_far[z] - mean[z]) / mean[z] ** 0.5)
            right += best == y[t]
            excess += above == y[t]
            likely += COUNTS.conditional[x[t]].argmax() == y[t]
            total += 1
    wanted = [count / total for count in (right, excess, likely)]
    assert task.baselines(what, COUNTS, batch) == pytest.approx(wanted)


def test_each_sequence_draws_its_own_triggers():
    what, batch = draw(200, 80, n_triggers=3, random_triggers=True)
    assert what.triggers.tolist() == list(range(N))
    many = Counter()
    for row, (tokens, scored) in enumerate(zip(batch.tokens, batch.scored, strict=True)):
        triggers = set(tokens[scored].tolist())
        assert len(triggers) <= 3
        many.update(triggers)
        for q in triggers:
            places = (tokens == q).nonzero().flatten()
            assert scored[places].tolist() == [False] + [True] * (len(places) - 1)
            assert len(set(batch.targets[row][places].tolist())) == 1
    assert len(many) > 15  # not the same for all
    assert many.most_common(1)[0][0] == COUNTS.characters.index(" ")  # drawn by frequency


@pytest.mark.parametrize("n_layers", [1, 2])
def test_model_by_loops(n_layers, close):
    stream = torch.Generator().manual_seed(0)
    frozen, trained = model.initial(65, 5, 6, n_layers, generator=stream)
    frozen = model.Frozen(*(part.double() for part in frozen))
    trained = model.Trained(tuple(2 * kq.double() for kq in trained.kq), trained.o.double())
    batch = torch.randint(65, (2, 5), generator=stream)
    logits, _ = model.forward(frozen, trained, batch)
    for tokens, result in zip(batch, logits, strict=True):
        x = [frozen.e[z] + frozen.p[t] for t, z in enumerate(tokens)]
        values = [frozen.ov1, trained.o @ frozen.v][-n_layers:]
        for kq, ov in zip(trained.kq, values, strict=True):
            rows = []
            for t in range(len(x)):
                scores = torch.stack([x[t] @ kq @ x[s] / 6**0.5 for s in range(t + 1)])
                seen = sum(w * x[s] for s, w in enumerate(scores.softmax(dim=0)))
                rows.append(x[t] + ov @ seen)
            x = rows
        close(result, torch.stack([frozen.u @ row for row in x]))


CPU = torch.device("cpu")
TINY = Settings(length=20, dim=16, batch_size=16, steps=12)


def planted(dim=400, length=40):
    """Random embeddings, in which the induction head is written by hand."""
    stream = torch.Generator().manual_seed(0)
    frozen, trained = model.initial(65, length, dim, 2, generator=stream)
    triggers = task.make(COUNTS, 5).triggers
    asking = frozen.e[triggers]
    previous = frozen.p[1:].T @ frozen.p[:-1]
    match = asking.T @ (asking @ frozen.ov1.T)
    copy = frozen.u.T @ frozen.e @ torch.linalg.inv(frozen.v)
    return frozen, trained, model.Trained((previous, match), copy), triggers


def some_sequences(count):
    what = task.make(COUNTS, 5)
    return what, task.sample(what, count, 40, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("part", range(3))
def test_each_recall_is_of_its_own_matrix(part):
    frozen, random, head, triggers = planted()
    reader = model.MemoryReader.of(*some_sequences(2))
    assert reader(frozen, head, triggers)[:4] == (1, 1, 1, 1)
    mixed = [*model.matrices_of(head)]
    mixed[part] = model.matrices_of(random)[part]
    result = reader(frozen, model.from_matrices(mixed), triggers)
    by_part = result.kq1, result.kq2, result.ov2
    assert [value == 1 for value in by_part] == [i != part for i in range(3)]


def test_a_part_moves_from_its_release_on():
    """Until then it keeps every bit, without decay; the others move from the start."""
    free = stored.train(TINY, COUNTS, 0, n_layers=2, device=CPU)
    start = model.initial(65, 20, 16, 2, generator=torch.Generator().manual_seed(0))[1]
    for still in range(3):  # W_KQ^1, W_KQ^2, W_O^2, the reverse of `released`
        late = replace(TINY, released=tuple(12 if i == 2 - still else 0 for i in range(3)))
        held = stored.train(late, COUNTS, 0, n_layers=2, device=CPU).trained
        same = [*map(torch.equal, model.matrices_of(held), model.matrices_of(start))]
        assert same == [part == still for part in range(3)]
    again = stored.train(replace(TINY, released=(0, 0, 11)), COUNTS, 0, n_layers=2, device=CPU)
    assert free.loss[0] == again.loss[0]
    assert free.loss[-1] != again.loss[-1]


def test_followers_by_hand():
    result = model.followers(torch.tensor([[7, 3, 7, 7, 5]]))[0]
    wanted = torch.zeros(5, 5, dtype=torch.bool)
    wanted[2, 1] = wanted[3, 1] = wanted[3, 3] = True  # what stands after the sevens before
    assert torch.equal(result, wanted)


def test_focus_of_uniform_attention_and_of_the_head():
    frozen, trained, head, triggers = planted()
    what, batch = some_sequences(40)
    reader = model.MemoryReader.of(what, batch)
    nothing = model.Trained(tuple(0 * kq for kq in trained.kq), trained.o)
    uniform = reader(frozen, nothing, triggers)
    rows = torch.arange(1, 41.0).expand_as(batch.scored)
    expected = (model.followers(batch.tokens).sum(2) / rows)[batch.scored].mean()
    assert abs(uniform.match - float(expected)) < 1e-5
    assert abs(uniform.previous - float((1 / rows[:, 1:])[batch.scored[:, :-1]].mean())) < 1e-5
    strong = model.Trained(tuple(3 * kq / kq.std() / 20 for kq in head.kq), head.o)
    result = reader(frozen, strong, triggers)
    assert result.previous_top > 0.95
    assert result.match_top > 0.8
    assert result.match > 3 * uniform.match
    assert uniform.matched < result.matched == 1


def made(ov2, kq2, kq1, *, early=None, matched=None, drawn=True):
    """A run whose recalls are given at steps 0, 10, ..."""
    recalls = [np.array(curve, dtype=float) for curve in (ov2, kq2, kq1, early or kq1)]
    looks = [np.zeros(len(ov2))] * 4
    curves = model.Readings(*recalls, *looks, np.array(matched or kq2, dtype=float))
    settings = replace(stored.RANDOM, random_triggers=drawn)
    steps = 10 * np.arange(len(ov2))
    return stored.BirthRun("made", 0, settings, np.zeros(1), np.zeros(1), 0.0, steps, curves)


def test_arrivals_stay():
    run = made([0, 0.6, 0.2, 1, 1], [0, 0, 0, 0.1, 0.8], [0, 0, 0, 0, 0])
    result = stored.arrivals(run)
    assert result.begun == (10, 30, np.inf)
    assert result.half == (30, 40, np.inf)
    assert result.levels[0] == (10, 40, np.inf)  # a tenth beyond chance is more than .1
    assert result.levels[8] == (30, np.inf, np.inf)


def test_order_of_what_is_decided():
    right = made([0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1])
    wrong = made([0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1])
    open_ = made([0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0])
    assert stored.compare([right]) == (1, 1, 1, 1, 1)
    assert stored.compare([wrong]) == (0, 0, 0, 1, 0)
    result = stored.compare([open_])
    assert result.output_first == 1
    assert np.isnan([result.begun, result.half, result.levels, result.match_first]).all()
    assert stored.compare([right, wrong, open_]).levels == 0.5
    assert stored.follows((5.0, 5.0, 9.0)) is False
    assert stored.follows((5.0, np.inf, 9.0)) is False
    assert stored.follows((5.0, 9.0, np.inf)) is True
