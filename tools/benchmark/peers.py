"""Other ways to compute the same: TransformerLens, torch.compile, PyTorch's fused attention.

Each is checked against the reference before it is timed, and says why where it cannot be.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from emergence import models, tasks
from emergence.models import AttentionOnlyTransformer
from emergence.training import Full, Method, TokenTraining, initial_transformer
from running import devices

from .cases import Section2, Section4, Step


class NotMeasured(Exception):
    """Why something could not be measured."""


def as_hooked(ours: AttentionOnlyTransformer, block_size: int) -> Any:
    """The attention-only model of TransformerLens with these weights; float32, as it is made.

    Raises NotMeasured where TransformerLens is not installed.
    """
    try:
        from transformer_lens import HookedTransformer, HookedTransformerConfig
    except ImportError as error:
        raise NotMeasured(f"TransformerLens is not installed ({error.name})") from error
    dim, vocabulary = ours.W_E.shape
    theirs = HookedTransformer(
        HookedTransformerConfig(
            n_layers=2, n_heads=1, d_model=dim, d_head=dim, attn_only=True,
            n_ctx=block_size, d_vocab=vocabulary, normalization_type=None,
            device=ours.W_E.device.type,
        )
    )  # fmt: skip
    with torch.no_grad():
        theirs.embed.W_E.copy_(ours.W_E.T)
        theirs.pos_embed.W_pos.copy_(ours.W_pos.T)
        theirs.unembed.W_U.copy_(ours.W_U.T)
        theirs.unembed.b_U.zero_()
        for i, block in enumerate(theirs.blocks):
            for name, part in (("W_Q", ours.W_Q), ("W_K", ours.W_K), ("W_V", ours.W_V)):
                getattr(block.attn, name)[0].copy_(part[i].T)
            block.attn.W_O[0].copy_(ours.W_O[i].T)
    return theirs


def transformer_lens(case: Section2, device: torch.device) -> dict[str, Step]:
    """A fast step of §2, and one by the attention-only model of TransformerLens, from its weights.

    Its sequences start at position 0, since it draws no offsets.
    """
    settings = TokenTraining(dim=case.dim)
    stream = devices.generator(0, device)
    ours = initial_transformer(settings, stream)
    theirs = as_hooked(ours, settings.block_size)
    batch = tasks.token_pairs(
        settings.batch_size, settings.n_pairs, settings.vocabulary, 2 * settings.n_pairs + 1,
        generator=stream,
    )  # fmt: skip
    with torch.no_grad():
        few = batch.tokens[:8]
        _agree(theirs(few), ours(few, batch.positions[:8]))
    optimiser = torch.optim.AdamW(theirs.parameters(), lr=settings.learning_rate, fused=True)

    def step() -> None:
        loss = cross_entropy(theirs(batch.tokens)[:, -1], batch.target)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return {"ours": case.step("fast", device), "theirs": step}


def with_compiler(case: Section4, method: Method, device: torch.device) -> dict[str, Step]:
    """A step of §4 as it is, and with a compiled network: all but the loss and the descent.

    Of a whole step the compiler would leave out the gradient, which the step asks for itself.
    """
    from torch._dynamo.utils import counters  # with the compiler, which takes seconds

    try:
        kind = type("Compiled", (Full,), {"output": torch.compile(Full.output)})
        step = case.step(method, device, kind)
        step()
    except Exception as error:
        raise NotMeasured(f"torch.compile failed: {type(error).__name__}") from error
    if breaks := counters["graph_break"]:
        raise NotMeasured(f"torch.compile took it in {len(breaks) + 1} parts")
    return {"ours": case.step(method, device), "theirs": step}


def attention_steps(case: Section4, device: torch.device) -> dict[str, Step]:
    """Layer 1 of §4 forward and backward, plain and with PyTorch's fused attention.

    With the ordinary mask: the strict one leaves the first row empty, which becomes NaN there.
    """
    stream = devices.generator(0, device)
    inputs = case.sample(stream).inputs
    width = 2 * case.dim
    w1 = (0.05 * torch.randn(width, width, generator=stream, device=device)).requires_grad_()
    allowed = models.allowed_positions(inputs.shape[1], "causal", device)

    def plain() -> torch.Tensor:
        return models.attention(inputs @ w1 @ inputs.mT, allowed) @ inputs

    def fused() -> torch.Tensor:
        return scaled_dot_product_attention(inputs @ w1, inputs, inputs, attn_mask=allowed, scale=1)

    def step(layer: Callable[[], torch.Tensor]) -> Step:
        return lambda: torch.autograd.grad(layer().square().mean(), w1)

    with torch.no_grad():
        _agree(fused(), plain())
    return {"ours": step(plain), "theirs": step(fused)}


def _agree(one: torch.Tensor, two: torch.Tensor) -> None:
    if float((one - two).abs().max()) > 1e-4 * max(1.0, float(two.abs().max())):
        raise NotMeasured("its output differs from the reference")
