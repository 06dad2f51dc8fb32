"""Other people's libraries as witnesses, where they are installed.

TransformerLens trains §2's transformer from our weights on our batches. diffrax, with derivatives
by JAX, integrates the flow of the three parameters; its loss is written out position by position,
and shares no line with the closed forms. Both need `pip install -r requirements.peers.lock`.
"""

import numpy as np
import pytest
import torch
from scipy.optimize import brentq
from torch.nn.functional import cross_entropy

from draws import stream
from emergence import tasks, theory
from emergence.models import AttentionOnlyTransformer

pytestmark = pytest.mark.filterwarnings("ignore")

DIM, VOCABULARY, N_PAIRS, BATCH_SIZE, STEPS = 66, 16, 4, 128, 120


def as_hooked(ours, block_size):
    """The attention-only model of TransformerLens with these weights, in single precision."""
    lens = pytest.importorskip("transformer_lens")
    dim, vocabulary = ours.W_E.shape
    theirs = lens.HookedTransformer(
        lens.HookedTransformerConfig(
            n_layers=2, n_heads=1, d_model=dim, d_head=dim, attn_only=True,
            n_ctx=block_size, d_vocab=vocabulary, normalization_type=None, device="cpu",
        )
    )  # fmt: skip
    with torch.no_grad():
        theirs.embed.W_E.copy_(ours.W_E.T)
        theirs.pos_embed.W_pos.copy_(ours.W_pos.T)
        theirs.unembed.W_U.copy_(ours.W_U.T)
        theirs.unembed.b_U.zero_().requires_grad_(False)  # §2 has no biases
        for i, block in enumerate(theirs.blocks):
            for name, part in (("W_Q", ours.W_Q), ("W_K", ours.W_K), ("W_V", ours.W_V)):
                getattr(block.attn, name)[0].copy_(part[i].T)
            block.attn.W_O[0].copy_(ours.W_O[i].T)
            for name in ("b_Q", "b_K", "b_V", "b_O"):
                getattr(block.attn, name).requires_grad_(False)
    return theirs


def test_transformer_lens_takes_our_steps_and_its_head_emerges_with_ours():
    draw, length = stream(), 2 * N_PAIRS + 1
    ours = AttentionOnlyTransformer(DIM, VOCABULARY, length, embedding_scale=0.5, generator=draw)
    theirs = as_hooked(ours, length).double()
    ours.double()
    models = [
        (ours, lambda batch: ours(batch.tokens, batch.positions)[:, -1]),
        (theirs, lambda batch: theirs(batch.tokens)[:, -1]),
    ]
    trained = [[p for p in model.parameters() if p.requires_grad] for model, _ in models]
    optimisers = [torch.optim.AdamW(parts, lr=5e-3) for parts in trained]
    losses = [[], []]
    for _ in range(STEPS):
        batch = tasks.token_pairs(BATCH_SIZE, N_PAIRS, VOCABULARY, length, generator=draw)
        for (_, logits), optimiser, path in zip(models, optimisers, losses, strict=True):
            loss = cross_entropy(logits(batch), batch.target)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            path.append(float(loss))
    assert np.abs(np.subtract(*losses)).max() < 1e-8
    emerged = [int((np.array(path) <= np.log(N_PAIRS) / 2).argmax()) for path in losses]
    assert emerged[0] == emerged[1] > 0


@pytest.mark.parametrize(("query", "n_pairs"), [("last", 8), ("last", 16), ("uniform", 8)])
def test_diffrax_finds_our_emergence_times(query, n_pairs):
    diffrax, jax = pytest.importorskip("diffrax"), pytest.importorskip("jax")
    jnp = jax.numpy
    jax.config.update("jax_enable_x64", True)
    rows = jnp.arange(2 * n_pairs)  # item 0, label 0, item 1, ...
    earlier = rows[None, :] < rows[:, None]
    to_item = (rows[:, None] % 2 == 1) & (rows[None, :] == rows[:, None] - 1)
    asked = jnp.arange(n_pairs) if query == "uniform" else jnp.array([n_pairs - 1])

    def loss(state):
        """Eq. 1 on orthonormal inputs, both layers of attention as written."""
        alpha, beta, gamma = state
        pays = jnp.where(earlier, alpha * to_item, -1e9)
        share = jax.nn.softmax(pays, axis=1) * earlier
        held = share[:, 2 * asked].T  # what each row has of the queried item
        retrieved = jax.nn.softmax(beta * held, axis=1)  # every row its own content
        target = rows[None, :] == 2 * asked[:, None] + 1
        return jnp.sum((gamma * retrieved - target) ** 2, axis=1).mean()

    ours = theory.times_in(theory.landscape_of(n_pairs, query))[:3]
    end = 1.05 * max(ours)
    path = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: -jax.grad(loss)(y)), diffrax.Tsit5(),
        t0=0.0, t1=end, dt0=1e-3, y0=jnp.zeros(3), saveat=diffrax.SaveAt(dense=True),
        stepsize_controller=diffrax.PIDController(rtol=1e-10, atol=1e-13), max_steps=16_384,
    )  # fmt: skip

    def ahead(t, place):
        return float(path.evaluate(t)[place]) - 0.5

    theirs = [brentq(ahead, 0.0, end, args=(place,), rtol=1e-12) for place in range(3)]
    assert theirs == pytest.approx(ours, rel=1e-7)
