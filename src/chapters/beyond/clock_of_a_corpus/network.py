"""The two-layer attention-only language model whose positions are in queries and keys only.

Its heads are measured by their effect: scores, losses and ablation. In a knock-in of alpha the
previous-token step is given."""

from functools import cache
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, embedding, scaled_dot_product_attention

from emergence.models import allowed_positions, attention

LAYERS = 2


class CorpusTransformer(nn.Module):
    """Two attention layers, of one head each unless more are asked for, and an output layer (§2.1).

    It differs from `emergence.models.AttentionOnlyTransformer` in where positions enter: a layer
    adds positional vectors of its own to what queries and keys see, and values see tokens only.
    """

    def __init__(
        self,
        dim: int,  # width D of the residual stream
        vocabulary: int,  # number of tokens V
        context: int,  # number of positions C
        *,
        norm: float,  # of the embedding of a token and of a position at initialisation, nearly
        generator: torch.Generator,  # its device is that of the weights
        heads: int = 1,  # of a layer; they share the width D
    ) -> None:
        super().__init__()

        def normal(*shape: int) -> nn.Parameter:
            drawn = torch.randn(*shape, generator=generator, device=generator.device)
            return nn.Parameter(drawn * dim**-0.5)

        self.heads = heads
        self.norm = norm  # a factor outside the weights, so that AdamW's steps are of one size
        self.W_E = normal(vocabulary, dim)
        self.W_pos = normal(LAYERS, context, dim)
        self.W_Q, self.W_K, self.W_V, self.W_O = (normal(LAYERS, dim, dim) for _ in range(4))
        self.W_U = normal(vocabulary, dim)

    def forward(
        self, tokens: Int[Tensor, "batch length"], *, without: int | None = None
    ) -> Float[Tensor, "batch length vocabulary"]:
        """Logits of the next token at every position; layer `without` writes nothing."""
        x = self._embedded(tokens)
        for layer in range(LAYERS):
            if layer != without:
                q, k, v = self._heads(layer, x)
                attended = scaled_dot_product_attention(q, k, v, is_causal=True)
                x = x + _joined(attended) @ self.W_O[layer].T
        return x @ self.W_U.T

    def passes(
        self, tokens: Int[Tensor, "batch length"]
    ) -> tuple[Float[Tensor, "batch length vocabulary"], list[Tensor]]:
        """Logits and the attention pattern of each layer, computed as they are written."""
        x = self._embedded(tokens)
        allowed = allowed_positions(tokens.shape[1], "causal", tokens.device)
        patterns = []
        for layer in range(LAYERS):
            q, k, v = self._heads(layer, x)
            patterns.append(attention(q @ k.mT * q.shape[-1] ** -0.5, allowed))
            x = x + _joined(patterns[-1] @ v) @ self.W_O[layer].T
        return x @ self.W_U.T, patterns

    def copies(self) -> Float[Tensor, "vocabulary vocabulary"]:
        """What attention of all of layer 2 to a token, a column, adds to each logit, a row."""
        return self.norm * self.W_U @ self.W_O[1] @ self.W_V[1] @ self.W_E.T

    def _embedded(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch length dim"]:
        return self.norm * embedding(tokens, self.W_E)

    def _heads(self, layer: int, x: Float[Tensor, "batch length dim"]) -> tuple[Tensor, ...]:
        placed = x + self.norm * self.W_pos[layer, : x.shape[1]]
        query, key = placed @ self.W_Q[layer].T, placed @ self.W_K[layer].T
        return tuple(self._split(part) for part in (query, key, x @ self.W_V[layer].T))

    def _split(self, x: Float[Tensor, "batch length dim"]) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def _joined(found: Float[Tensor, "batch heads length part"]) -> Float[Tensor, "batch length dim"]:
    return found.transpose(1, 2).flatten(2)


Heads = Float[Tensor, "batch heads length part"]
SEQUENCES = 1024  # on which the best score of a head is computed
SHARPNESS = 100.0  # of the scores that are given; those of training are of order one


class GivenPrevious(CorpusTransformer):
    """The network whose first head of layer 1 attends to the previous token from the beginning.

    Queries and keys of this head are given and not trained, so that alpha does not have to grow.
    The first token attends to itself.
    """

    def _heads(self, layer: int, x: Float[Tensor, "batch length dim"]) -> tuple[Tensor, ...]:
        query, key, value = super()._heads(layer, x)
        return (*given_previous(query, key), value) if layer == 0 else (query, key, value)


def given_previous(query: Heads, key: Heads) -> tuple[Heads, Heads]:
    """Queries and keys; those of the first head are given, and attend to the previous place."""
    places = codes(query.shape[2] + 1, query.shape[3], query.device).expand(len(query), 1, -1, -1)
    return (
        torch.cat([SHARPNESS * places[:, :, :-1], query[:, 1:]], dim=1),
        torch.cat([places[:, :, 1:], key[:, 1:]], dim=1),
    )


@cache
def codes(length: int, dim: int, device: torch.device) -> Float[Tensor, "length dim"]:
    """A vector of norm one for each place, nearly orthogonal to those of all other places."""
    drawn = torch.randn(length, dim, generator=torch.Generator().manual_seed(0))
    return (drawn / drawn.norm(dim=1, keepdim=True)).to(device)


Windows = Int[Tensor, "windows length"]


class Effects(NamedTuple):
    """Measures of an induction head."""

    # attention of layer 2, on repeated sequences, to the token after the earlier copy, by the head
    # that attends to it most
    prefix: float
    previous: float  # attention of layer 1 there to the previous token, likewise
    copying: float  # share of tokens whose own logit their value in layer 2 raises most
    first: float  # loss in nats on the first half of repeated sequences
    second: float  # loss in nats on the second half
    repeated: float  # loss on held-out text where the same bigram occurred before in the window
    other: float  # loss elsewhere
    ablated_repeated: float  # the first of these without layer 2
    ablated_other: float  # the second without layer 2


def repeated_halves(
    tokens: Int[Tensor, " tokens"], sequences: int, context: int, *, generator: torch.Generator
) -> Int[Tensor, "sequences context"]:
    """Sequences of tokens drawn one by one from a text, whose second half repeats the first."""
    chosen = torch.randint(len(tokens), (sequences, context // 2), generator=generator)
    return tokens[chosen].repeat(1, 2)


def ceiling(tokens: Int[Tensor, " tokens"], context: int) -> float:
    """The prefix score of a head that attends to what followed each earlier copy of a token.

    The network is shown sequences of which the second half repeats the first. Where a token occurs
    more than once in a half, such a head cannot tell the copies apart.
    """
    stream = torch.Generator().manual_seed(0)
    halves = repeated_halves(tokens, SEQUENCES, context, generator=stream)
    places = torch.arange(context)
    earlier = places[None, :] < places[context // 2 :, None]
    copies = (halves[:, context // 2 :, None] == halves[:, None, :]) & earlier
    return float((1 / copies.sum(dim=-1)).mean())


def returns(windows: Windows) -> Bool[Tensor, "windows answers"]:
    """Where a token and the next one have occurred side by side before in the window."""
    now, following = windows[:, :-1], windows[:, 1:]
    same = (now[:, :, None] == now[:, None]) & (following[:, :, None] == following[:, None])
    return same.tril(-1).any(dim=-1)


@torch.no_grad()
def effects(
    model: CorpusTransformer, halves: Int[Tensor, "sequences context"], held_out: Windows
) -> Effects:
    """Measure a network on repeated sequences and on held-out windows of its text."""
    half = halves.shape[1] // 2
    logits, (first_layer, second_layer) = model.passes(halves)
    rows = torch.arange(half, halves.shape[1])
    losses = _losses(logits[:, :-1], halves[:, 1:])
    again = returns(held_out)
    whole = _losses(model(held_out[:, :-1]), held_out[:, 1:])
    ablated = _losses(model(held_out[:, :-1], without=1), held_out[:, 1:])
    copies = model.copies()
    copies_itself = copies.argmax(dim=0) == torch.arange(copies.shape[1])
    values = (
        second_layer[:, :, rows, rows - half + 1].mean(dim=(0, 2)).max(),
        first_layer[:, :, rows, rows - 1].mean(dim=(0, 2)).max(),
        copies_itself.float().mean(),
        losses[:, : half - 1].mean(), losses[:, half:].mean(),
        whole[again].mean(), whole[~again].mean(),
        ablated[again].mean(), ablated[~again].mean(),
    )  # fmt: skip
    return Effects(*(round(float(value), 4) for value in values))


def _losses(
    logits: Float[Tensor, "batch length vocabulary"], wanted: Int[Tensor, "batch length"]
) -> Float[Tensor, "batch length"]:
    flat = cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none")
    return flat.view(wanted.shape)
