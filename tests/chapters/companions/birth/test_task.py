"""The counts are those of Shakespeare, and sequences follow the rule of the task."""

import hashlib
import math
from collections import Counter

import pytest
import torch

from chapters.companions.birth import bigrams, task
from oracles.birth_counts import COUNTS, WRITTEN

N = len(COUNTS.characters)


def draw(batch_size=400, length=60, seed=0, n_triggers=5, random_triggers=False):
    stream = torch.Generator().manual_seed(seed)
    what = task.make(COUNTS, n_triggers, random_triggers=random_triggers)
    return what, task.sample(what, batch_size, length, generator=stream)


def test_counts_are_the_stored_ones():
    assert hashlib.sha256(WRITTEN.encode()).hexdigest() == bigrams.COUNTS_SHA256
    assert COUNTS.sha256 == bigrams.COUNTS_SHA256
    assert N == 65
    assert COUNTS.counts.sum() == 1_115_393  # one less than the characters of the text
    assert "".join(COUNTS.characters[i] for i in COUNTS.most_frequent(5)) == " etoa"


def test_damaged_counts_are_refused():
    with pytest.raises(ValueError, match="checksum"):
        bigrams.read(WRITTEN.replace("27643", "27644"))


def test_count_by_hand():
    found = bigrams.count("abba,ab\n")
    pairs = Counter(["ab", "bb", "ba", "a,", ",a", "ab", "b\n"])
    assert found.characters == "\n,ab"
    wanted = [[pairs[first + second] for second in "\n,ab"] for first in "\n,ab"]
    assert found.counts.tolist() == wanted


def test_written_counts_come_back():
    found = bigrams.count("to be, or not to be")
    again = bigrams.read(bigrams.write(found), sha256=None)
    assert again.characters == found.characters
    assert (again.counts == found.counts).all()


def test_entropy_by_sum():
    rows, total = COUNTS.counts.tolist(), int(COUNTS.counts.sum())
    each = (value / total * math.log(value / sum(row)) for row in rows for value in row if value)
    assert COUNTS.entropy == pytest.approx(-sum(each), rel=1e-12)


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
    found = torch.bincount(after, minlength=N).double() / len(after)
    wanted = torch.from_numpy(COUNTS.conditional[q])
    assert (found - wanted).abs().max() < 4 * (0.25 / len(after)) ** 0.5
    assert not found[wanted == 0].any()


def test_scored_where_a_trigger_was_seen_before():
    what, batch = draw(50)
    for tokens, scored in zip(batch.tokens.tolist(), batch.scored.tolist(), strict=True):
        for t, token in enumerate(tokens):
            assert scored[t] == (token in what.triggers.tolist() and token in tokens[:t])


def test_same_seed_same_sequences():
    assert all(map(torch.equal, draw(9)[1], draw(9)[1]))
    assert not torch.equal(draw(9)[1].tokens, draw(9, seed=1)[1].tokens)


def test_baselines_by_hand():
    what, batch = draw(30)
    right, plain, excess, seen, likely, total = 0, 0, 0, 0.0, 0, 0
    for x, y, scored in zip(*(part.tolist() for part in batch), strict=True):
        for t in (t for t, flag in enumerate(scored) if flag):
            so_far = Counter(x[: t + 1])
            best = min(range(N), key=lambda z: (-so_far[z], z))
            mean = [(t + 1) * p for p in COUNTS.unigram.tolist()]
            above = max(range(N), key=lambda z: (so_far[z] - mean[z]) / mean[z] ** 0.5)
            known = {y[s] for s in range(t) if x[s] in what.triggers.tolist()}
            right += best == y[t]
            others = [z for z in range(N) if z not in what.triggers.tolist()]
            plain += min(others, key=lambda z: (-so_far[z], z)) == y[t]
            excess += above == y[t]
            seen += (y[t] in known) / len(known)
            likely += COUNTS.conditional[x[t]].argmax() == y[t]
            total += 1
    wanted = [count / total for count in (right, plain, excess, seen, likely)]
    assert task.baselines(what, COUNTS, batch) == pytest.approx(wanted)


def test_guesses_are_for_shared_triggers():
    what, batch = draw(200, 80, n_triggers=3, random_triggers=True)
    with pytest.raises(ValueError, match="share"):
        task.baselines(what, COUNTS, batch)


def test_each_sequence_draws_its_own_triggers():
    what, batch = draw(200, 80, n_triggers=3, random_triggers=True)
    assert what.triggers.tolist() == list(range(N))
    many = Counter()
    for row, (tokens, scored) in enumerate(zip(batch.tokens, batch.scored, strict=True)):
        own = set(tokens[scored].tolist())
        assert len(own) <= 3
        many.update(own)
        for q in own:
            places = (tokens == q).nonzero().flatten()
            assert scored[places].tolist() == [False] + [True] * (len(places) - 1)
            assert len(set(batch.targets[row][places].tolist())) == 1
    assert len(many) > 15  # not the same for all
    assert many.most_common(1)[0][0] == COUNTS.characters.index(" ")  # drawn by frequency


def test_fixed_triggers_draw_as_ever():
    """Stored runs and chapters rest on these sequences."""
    _, batch = draw(2, 12)
    text = ["".join(COUNTS.characters[i] for i in row) for row in batch.tokens.tolist()]
    assert text == ["rapapikiseoq", " &CHadeZAMad"]


def test_stuck_is_a_tail_of_triggers_longer_than_their_number():
    rows = torch.tensor([[0, 1, 1, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1, 1]]) == 1
    found = task.stuck(rows, 2)
    assert found.tolist() == [[False] * 4 + [True] * 3, [False] * 7, [False] * 7]


def test_stuck_sequences_repeat_to_the_end():
    what, batch = draw(600, 128)
    found = task.stuck(batch.scored, 5)
    assert 0.02 < found.any(dim=1).double().mean() < 0.2
    for tokens, tail in zip(batch.tokens, found, strict=True):
        cycle = tokens[tail].tolist()
        if cycle:
            assert set(cycle) <= set(what.triggers.tolist())
            period = next(k for k in range(1, 6) if cycle[-1 - k] == cycle[-1])
            assert cycle[-period:] == cycle[-2 * period : -period] or len(cycle) < 2 * period
