"""The two-layer attention-only language model whose positions are in queries and keys only."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, scaled_dot_product_attention

from emergence.models import allowed_positions, attention

LAYERS = 2


class CorpusTransformer(nn.Module):
    """Two attention layers, of one head each unless more are asked for, and an output layer (§2.1).

    It differs from `emergence.models.AttentionOnlyTransformer` in where positions enter: a layer
    adds positional vectors of its own to what queries and keys see, and values see tokens only.

    Args:
        dim: width D of the residual stream.
        vocabulary: number of tokens V.
        context: number of positions C.
        norm: norm of the embedding of a token and of a position at initialisation, nearly.
        heads: of a layer; they share the width D.
        generator: source of the random numbers; its device is that of the weights.
    """

    def __init__(
        self,
        dim: int,
        vocabulary: int,
        context: int,
        *,
        norm: float,
        generator: torch.Generator,
        heads: int = 1,
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
