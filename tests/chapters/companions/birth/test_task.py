"""The counts are those of Shakespeare, and sequences follow the rule of the task."""

import hashlib
from collections import Counter

import pytest
import torch

from chapters.companions.birth import task
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
