"""The transformer of §2 with more layers, MLPs, norms and rotary positions."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, gelu

from emergence.models import AttentionOnlyTransformer, Mask, allowed_positions, attention

Positions = Literal["learned", "rotary"]
Rows = Float[Tensor, "batch rows dim"]
Places = Int[Tensor, "batch rows"]
Heads = tuple[Tensor, Tensor, Tensor]  # queries, keys and values of some rows
DIM, EMBEDDING_NORM = 64, 4.0  # as in the grid of chapter Real transformers
WIDER = 4  # times as wide as the stream is an MLP
GIVEN = 4.0  # in logits, of the previous place above all others
BASE = 10_000.0  # of rotary positions: Su et al., 2104.09864


@dataclass(frozen=True)
class Shape:
    """The shape of a transformer with one head a layer and D = 64."""

    layers: int = 2  # attention layers
    blocks: bool = False  # LayerNorms before attention, an MLP after it, and a last LayerNorm
    positions: Positions = "learned"  # or `rotary`: of queries and keys
    mask: Mask = "causal"  # whether a position attends to itself


PLAIN = Shape()


class Transformer(AttentionOnlyTransformer):
    """The transformer of §2.1, with more layers and the parts of language models.

    A layer is z = x + A(Nx) Nx W_V^T W_O^T, and with blocks z + MLP(Nz); N is a LayerNorm, or the
    identity without blocks. Two layers without blocks are the network of §2.1 with its weights.
    """

    turns: Float[Tensor, "places 2 half"]  # cosines and sines of rotary positions

    def __init__(
        self, shape: Shape, vocabulary: int, block_size: int, *, generator: torch.Generator
    ) -> None:
        scale = EMBEDDING_NORM / DIM**0.5
        super().__init__(DIM, vocabulary, block_size, embedding_scale=scale, generator=generator)
        self.shape = shape

        def linear(rows: int, columns: int) -> nn.Parameter:
            drawn = 2 * torch.rand(rows, columns, generator=generator, device=generator.device) - 1
            return nn.Parameter(drawn * columns**-0.5)

        for _ in range(2, shape.layers):
            for maps in (self.W_Q, self.W_K, self.W_V, self.W_O):
                maps.append(linear(DIM, DIM))
        if shape.blocks:
            self.norms = nn.ModuleList(nn.LayerNorm(DIM) for _ in range(2 * shape.layers + 1))
            self.W_in = nn.ParameterList(linear(WIDER * DIM, DIM) for _ in range(shape.layers))
            self.W_out = nn.ParameterList(linear(DIM, WIDER * DIM) for _ in range(shape.layers))
        if shape.positions == "rotary":
            del self.W_pos
            rates = BASE ** -(torch.arange(0, DIM, 2) / DIM)
            turns = torch.arange(block_size)[:, None] * rates
            self.register_buffer("turns", torch.stack([turns.cos(), turns.sin()], dim=1))

    @torch.no_grad()
    def give_previous(self) -> None:
        """Add scores to layer 1 by which a place attends to the one before, a knock-in of alpha."""
        places = self.W_pos / self.W_pos.norm(dim=0)
        size = GIVEN / (self.score_scale * EMBEDDING_NORM**2)
        self.W_Q[0] += size * places[:, :-1] @ places[:, 1:].T
        self.W_K[0] += torch.eye(DIM)

    def sequence_logits(
        self, tokens: Int[Tensor, "batch rows"], places: Places
    ) -> Float[Tensor, "batch rows vocabulary"]:
        """Logits of the next token at every position of a sequence."""
        x = self._embedded(tokens, places)
        for layer in range(self.shape.layers):
            x = self._written(layer, x, self._in_context(*self._read(layer, x, places)))
        return self._unembedded(x)

    def query_logits(
        self,
        context: Int[Tensor, "batch rows"],
        places: Places,
        queries: Int[Tensor, "batch asked"],
        asked_at: Int[Tensor, "batch asked"],
        sizes: Int[Tensor, "batch asked"],
    ) -> Float[Tensor, "batch asked vocabulary"]:
        """Logits after each query, as if it stood alone after the first 2n tokens of its context.

        A query sees these tokens and, under the causal mask, itself. No token sees a query.
        """
        x, y = self._embedded(context, places), self._embedded(queries, asked_at)
        seen = torch.arange(context.shape[1], device=context.device) < 2 * sizes[..., None]
        for layer in range(self.shape.layers):
            of_context = self._read(layer, x, places)
            mixed = self._of_prefixes(self._read(layer, y, asked_at), of_context, seen)
            y = self._written(layer, y, mixed)
            if layer + 1 < self.shape.layers:  # nothing reads what the last makes of the context
                x = self._written(layer, x, self._in_context(*of_context))
        return self._unembedded(y)

    def _embedded(self, tokens: Places, places: Places) -> Rows:
        x = embedding(tokens, self.W_E.T.contiguous())
        if self.shape.positions == "rotary":
            return x
        return x + embedding(places, self.W_pos.T.contiguous())

    def _read(self, layer: int, x: Rows, places: Places) -> Heads:
        """Queries, keys and values, of which W_O W_V makes what a layer writes."""
        normed, w_q, w_k = self._normed(2 * layer, x), self.W_Q[layer], self.W_K[layer]
        if self.shape.positions == "learned":  # one product for both
            return normed @ (w_q.T @ w_k), normed, normed
        return self._turned(normed @ w_q.T, places), self._turned(normed @ w_k.T, places), normed

    def _turned(self, x: Rows, places: Places) -> Rows:
        """Queries or keys, turned by their places."""
        cos, sin = self.turns[places].unbind(dim=-2)
        one, other = x.chunk(2, dim=-1)
        return torch.cat([one * cos - other * sin, one * sin + other * cos], dim=-1)

    def _in_context(self, queries: Rows, keys: Rows, values: Rows) -> Rows:
        """What the rows of a context retrieve."""
        allowed = allowed_positions(queries.shape[1], self.shape.mask, queries.device)
        return attention(queries @ keys.mT * self.score_scale, allowed) @ values

    def _of_prefixes(
        self, own: Heads, context: Heads, seen: Bool[Tensor, "batch asked rows"]
    ) -> Float[Tensor, "batch asked dim"]:
        """What queries retrieve from their prefixes and, under the causal mask, from themselves."""
        (queries, own_key, own_value), (_, keys, values) = own, context
        scores = (queries @ keys.mT * self.score_scale).masked_fill(~seen, -torch.inf)
        if self.shape.mask == "strict":
            return scores.softmax(dim=-1) @ values
        own_score = (queries * own_key).sum(dim=-1, keepdim=True) * self.score_scale
        share = torch.cat([scores, own_score], dim=-1).softmax(dim=-1)
        return share[..., :-1] @ values + share[..., -1:] * own_value

    def _written(self, layer: int, x: Rows, mixed: Rows) -> Rows:
        """The residual stream after a layer."""
        x = x + mixed @ (self.W_O[layer] @ self.W_V[layer]).T
        if not self.shape.blocks:
            return x
        hidden = gelu(self._normed(2 * layer + 1, x) @ self.W_in[layer].T)
        return x + hidden @ self.W_out[layer].T

    def _normed(self, place: int, x: Rows) -> Rows:
        return self.norms[place](x) if self.shape.blocks else x

    def _unembedded(self, x: Rows) -> Float[Tensor, "batch rows vocabulary"]:
        return self._normed(-1, x) @ self.W_U.T
