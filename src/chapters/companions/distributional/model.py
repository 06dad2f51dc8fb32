"""The noisy bigram task, and the source's transformer of two layers with feed-forward layers.

One trigger's output gives way to a noise token now and then. Queries are the stream itself.
Embeddings and output stay as they were drawn; all else is trained.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from chapters.companions.birth import task as birth
from chapters.companions.birth.model import linear
from chapters.companions.birth.task import Bigrams

NOISE = 2  # the source's, an ordinary character: "!"


class Batch(NamedTuple):
    """Sequences z_1 ... z_T, what follows each token, and the output o of each sequence."""

    tokens: Int[Tensor, "batch T"]
    targets: Int[Tensor, "batch T"]
    outputs: Int[Tensor, " batch"]


def make(bigrams: Bigrams, device: torch.device | None = None) -> birth.BigramTask:
    """The task with the most frequent character as trigger."""
    return birth.make(bigrams, 1, device)


def sample(
    task: birth.BigramTask,
    batch_size: int,
    length: int,
    alpha: float,
    *,
    generator: torch.Generator,
) -> Batch:
    """Draw sequences: after the trigger comes noise with probability alpha, else o.

    o is uniform over all tokens and fixed within a sequence; after any other token, noise too,
    comes its row of the chain.
    """
    n, device = task.n_tokens, generator.device
    outputs = torch.randint(n, (batch_size,), generator=generator, device=device)
    make: dict[str, Any] = {"generator": generator, "device": device, "dtype": torch.float64}
    uniform = torch.rand(length + 1, batch_size, **make)
    noisy = torch.rand(length + 1, batch_size, **make) < alpha
    z = torch.empty(length + 1, batch_size, dtype=torch.long, device=device)
    z[0] = torch.searchsorted(task.start, uniform[0], right=True).clamp(max=n - 1)
    for t in range(length):
        follower = torch.searchsorted(task.chain, uniform[t + 1] + z[t], right=True) - n * z[t]
        answer = torch.where(noisy[t + 1], NOISE, outputs)
        z[t + 1] = torch.where(z[t] == task.triggers[0], answer, follower.clamp(0, n - 1))
    return Batch(z[:-1].T.contiguous(), z[1:].T.contiguous(), outputs)


def shares(
    logits: Float[Tensor, "K N"], targets: Int[Tensor, " K"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Mean probability of the noise token, and how often the target has the greatest logit."""
    hit = logits.argmax(dim=-1) == targets
    return logits.softmax(dim=-1)[:, NOISE].mean(), hit.to(logits.dtype).mean()


def looks(
    pattern: Float[Tensor, "batch R T"], batch: Batch, real: Bool[Tensor, "batch R"], trigger: int
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Mean attention mass on what followed a trigger: on o where it is not noise, and on noise."""
    after = torch.nn.functional.pad(batch.tokens[:, :-1] == trigger, (1, 0))
    noise = after & (batch.tokens == NOISE)
    output = after & (batch.tokens == batch.outputs[:, None]) & ~noise

    def mass(where: Bool[Tensor, "batch T"]) -> Float[Tensor, ""]:
        return (pattern * where[:, None]).sum(dim=-1)[real].mean()

    return mass(output), mass(noise)


class Layer(NamedTuple):
    """Attention with the scores x_s . k x_t, then x + w_out relu(w_in x); (outputs, inputs)."""

    k: Float[Tensor, "d d"]
    v: Float[Tensor, "d d"]
    o: Float[Tensor, "d d"]
    w_in: Float[Tensor, "m d"]
    w_out: Float[Tensor, "d m"]

    def feed_forward(self, x: Float[Tensor, "*any d"]) -> Float[Tensor, "*any d"]:
        """What the feed-forward layer adds to the stream."""
        return (x @ self.w_in.T).relu() @ self.w_out.T

    def write(self, x: Float[Tensor, "*any d"]) -> Float[Tensor, "*any d"]:
        """What attention adds to the stream where x is the mean that it takes."""
        return x @ self.v.T @ self.o.T


class Model(NamedTuple):
    """Embeddings are rows; they and u stay as they were drawn."""

    e: Float[Tensor, "N d"]  # e_z, input
    p: Float[Tensor, "T d"]  # p_t, positional
    u: Float[Tensor, "N d"]  # u_y, output
    first: Layer
    last: Layer

    @property
    def trained(self) -> list[Tensor]:
        """The matrices that training moves."""
        return [*self.first, *self.last]

    def cast(self, dtype: torch.dtype) -> "Model":
        """The model with another number format, but for u, in whose format logits are summed."""
        layers = (Layer(*(w.to(dtype) for w in layer)) for layer in (self.first, self.last))
        return Model(self.e.to(dtype), self.p.to(dtype), self.u, *layers)


class LastLayer(NamedTuple):
    """The stream where the last feed-forward layer finds it, and where attention looked."""

    stream: Float[Tensor, "batch R d"]
    pattern: Float[Tensor, "batch R T"]


def draw(n_tokens: int, length: int, dim: int, width: int, *, generator: torch.Generator) -> Model:
    """Embeddings N(0, 1), matrices U(-1, 1)/sqrt(inputs): PyTorch's defaults, as in the code."""
    e, p = (
        torch.randn(rows, dim, generator=generator, device=generator.device)
        for rows in (n_tokens, length)
    )
    u = linear(n_tokens, dim, generator)
    sizes = *((dim, dim),) * 3, (width, dim), (dim, width)
    first, last = (Layer(*(linear(*size, generator) for size in sizes)) for _ in range(2))
    return Model(e, p, u, first, last)


def after_first(model: Model, tokens: Int[Tensor, "batch T"]) -> Float[Tensor, "batch T d"]:
    """The stream after the first layer, at all positions."""
    layer = model.first
    x = model.e[tokens] + model.p[: tokens.shape[1]]
    head, keys = x[:, None], (x @ layer.k.T)[:, None]
    x = x + layer.write(scaled_dot_product_attention(head, keys, head, is_causal=True)[:, 0])
    return x + layer.feed_forward(x)


def ask(model: Model, x: Float[Tensor, "batch T d"], at: Int[Tensor, "batch R"]) -> LastLayer:
    """The last layer's attention at some positions of the stream after the first layer."""
    asking = x.gather(1, at[..., None].expand(-1, -1, x.shape[2]))
    scores = (asking @ model.last.k @ x.mT).to(model.u.dtype) * x.shape[2] ** -0.5
    later = torch.arange(x.shape[1], device=at.device) > at[..., None]
    pattern = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
    written = model.last.write(pattern.to(x.dtype) @ x)
    return LastLayer(asking.to(pattern.dtype) + written.to(pattern.dtype), pattern)


def answer(model: Model, stream: Float[Tensor, "*any d"]) -> Float[Tensor, "*any N"]:
    """Next-token logits: the last feed-forward layer and the output."""
    update = model.last.feed_forward(stream.to(model.last.w_in.dtype))
    return (stream + update.to(stream.dtype)) @ model.u.T


def logits(
    model: Model,
    tokens: Int[Tensor, "batch T"],
    at: Int[Tensor, "batch R"],
    real: Bool[Tensor, "batch R"],
) -> Float[Tensor, "K N"]:
    """Next-token logits at K positions, those of `at` that are real, in order."""
    return answer(model, ask(model, after_first(model, tokens), at).stream[real])


def truncated(model: Model, layer: str, matrix: str, share: float) -> Model:
    """One matrix with a share of its singular values, the greatest; their number is rounded down.

    Of w_in or w_out, a share of 0 removes the feed-forward layer.
    """
    weights = getattr(model, layer)
    left, values, right = torch.linalg.svd(getattr(weights, matrix), full_matrices=False)
    kept = slice(int(share * len(values)))
    w = (left[:, kept] * values[kept]) @ right[kept]
    return model._replace(**{layer: weights._replace(**{matrix: w})})
