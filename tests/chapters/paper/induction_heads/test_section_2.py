"""§2: what is left open, what its runs keep, MLPs, and architectures in each other's weights."""

import dataclasses

import numpy as np
import pytest
import torch

from chapters.paper import induction_heads
from chapters.paper.induction_heads import described, feed_forward
from chapters.paper.induction_heads.products import products_of
from emergence.experiments.silences import (
    TRANSFORMER,
    TRANSFORMER_PAIRS,
    variations,
)
from emergence.models import AttentionOnlyTransformer
from emergence.training import TokenTraining

CPU = torch.device("cpu")
TINY = TokenTraining(
    dim=80, vocabulary=8, block_size=8, n_pairs=2, batch_size=32, steps=10, learning_rate=0.01,
    embedding_scale=0.5,
)  # fmt: skip


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def test_variations_differ_in_one_silence_or_in_a_pair():
    base = TokenTraining()
    result = variations(base, TRANSFORMER, TRANSFORMER_PAIRS)
    assert result["base"] == base
    assert len(set(result.values())) == len(result) == 12
    pairs = [{a.setting, b.setting} for a, b in TRANSFORMER_PAIRS]
    for settings in result.values():
        silent, other = dataclasses.asdict(base), dataclasses.asdict(settings)
        changed = {name for name in silent if silent[name] != other[name]}
        assert len(changed) <= 1 or changed in pairs
    assert result["embeddings 0.02, unscaled scores"] == dataclasses.replace(
        base, embedding_scale=0.02, scaled=False
    )


def test_a_setting_fits_if_every_seed_knows_the_task_at_the_end():
    level = induction_heads.level(TINY)
    assert level == pytest.approx(np.log(2) / 2)
    low, high = (np.r_[np.ones(50), np.full(10, level + gap)] for gap in (-0.01, 0.01))
    late = np.r_[np.zeros(50), np.ones(10)]  # learned, and lost again
    assert induction_heads.learns([{"loss": low}, {"loss": low}], TINY)
    assert not induction_heads.learns([{"loss": low}, {"loss": high}], TINY)
    assert not induction_heads.learns([{"loss": late}], TINY)


def test_a_run_keeps_what_the_weights_would_say():
    result = described.describe_run(described.TransformerRun(TINY, 1))
    assert list(result["moments"]) == [0, 2, 4, 6, 8, 10]
    start = induction_heads.picture(result, 0)
    model = AttentionOnlyTransformer(80, 8, 8, embedding_scale=0.5, generator=stream(1))
    for product, expected in zip(start, products_of(model), strict=True):
        np.testing.assert_array_equal(product, expected)
    assert not np.allclose(start.layer1, induction_heads.picture(result).layer1)
    assert result["error"] < 1e-12
    values = result["singular"]
    assert (values > 1e-10 * values[0]).sum() <= 4 * (8 + 8) < len(values)


def test_a_run_that_diverges_says_so():
    result = described.describe_run(
        described.TransformerRun(dataclasses.replace(TINY, learning_rate=1e30), 0)
    )
    assert np.all(np.isinf(result["loss"]))
    assert not induction_heads.learns([result], TINY)


def test_mlps_leave_the_space_of_the_stream():
    """The rank that bounds the stream of §2.2 is no identity of any network."""
    few = described.unseen(TINY, 32, 0)
    plain = AttentionOnlyTransformer(80, 8, 8, embedding_scale=0.5, generator=stream()).double()
    mixed = feed_forward.MLPTransformer(TINY, 0, stream()).double()
    ranks = []
    for model in (plain, mixed):
        values = described.singular_values(model, few, "causal")
        ranks.append(int((values > 1e-10 * values[0]).sum()))
    assert ranks[0] <= 64 < ranks[1]


def test_mlps_change_nothing_else(close):
    """Same sequences, same other weights; and an MLP of zeros is none."""
    with_mlp, without = (
        feed_forward.train_mlp(feed_forward.MLPRun(TINY, 0, mlp)) for mlp in (True, False)
    )
    assert with_mlp["loss"].shape == (10,)
    assert with_mlp["loss"][0] != without["loss"][0]
    plain = AttentionOnlyTransformer(80, 8, 8, embedding_scale=0.5, generator=stream())
    mixed = feed_forward.MLPTransformer(TINY, 0, stream())
    batch = described.unseen(TINY, 4, 0)
    with torch.no_grad():
        assert not torch.allclose(
            mixed(batch.tokens, batch.positions), plain(batch.tokens, batch.positions)
        )
        for parameter in (*mixed.W_out, *mixed.b_out):
            parameter.zero_()
        close(mixed(batch.tokens, batch.positions), plain(batch.tokens, batch.positions), 1e-6)
