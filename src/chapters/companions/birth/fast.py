"""Fast loss and gradient: exact, with no vector of length d for any token.

The stream of a two-layer model stays in the span of n = N + T embeddings and of their n images
under W_OV^1. Weights act on it only through inner products with these 2n vectors, the basis, in
three tables. Z is the one-hot matrix of a sequence's tokens, K the scores of the n embeddings as
queries against the keys that are there. Rows of tokens come first in every table, rows of positions
after them.

A token is the vector of its coefficients in the basis of `tables`. Before layer 1 two of them
are 1; after it a row has, beyond these, its attention weights and their sums by token. The loss
needs layer 2 at the scored rows only, and T(Xv) replaces (TX)v as in `emergence.fast`. Sequences
are taken in small groups with about as many scored rows, which fit in a cache; gradients add up.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from .model import Frozen, Measured, Trained, from_parts, parts
from .task import Batch, rows_of


class Tables(NamedTuple):
    """The trained part of a network of two layers; rows are queries (outputs), columns keys."""

    kq1: Float[Tensor, "n n"]
    kq2: Float[Tensor, "m m"]
    out: Float[Tensor, "N m"]  # logits of what the last layer retrieves


class OneLayerTables(NamedTuple):
    """The trained part of a network of one layer, over the n embeddings alone."""

    kq1: Float[Tensor, "n n"]
    out: Float[Tensor, "N n"]


def bases(frozen: Frozen) -> tuple[Float[Tensor, "n d"], Float[Tensor, "2*n d"]]:
    """The embeddings, tokens first; the same followed by their images under W_OV^1."""
    x = torch.cat([frozen.e, frozen.p])
    return x, torch.cat([x, x @ frozen.ov1.T])


def tables(frozen: Frozen, trained: Trained) -> Tables | OneLayerTables:
    """All inner products that occur; differentiable."""
    x, both = bases(frozen)
    scale = x.shape[-1] ** -0.5
    first = x @ trained.kq[0] @ x.T * scale
    if len(trained.kq) == 1:
        return OneLayerTables(first, frozen.u @ (trained.o @ (frozen.v @ x.T)))
    second = both @ trained.kq[1] @ both.T * scale
    return Tables(first, second, frozen.u @ (trained.o @ (frozen.v @ both.T)))


class Rows(NamedTuple):
    """The scored positions of a group of sequences, padded to the greatest number of them."""

    at: Int[Tensor, "b R"]
    token: Int[Tensor, "b R"]
    target: Int[Tensor, "b R"]
    weight: Float[Tensor, "b R"]  # 1 over the number in the batch, 0 where padded


class OneLayer:
    """Only the scored rows attend."""

    def __init__(self, present: Tables | OneLayerTables, straight: Float[Tensor, "N m"]) -> None:
        self.n_tokens, self.n = len(straight), len(present.kq1)
        length = self.n - self.n_tokens
        self.future = torch.full_like(present.kq1[:length, :length], -torch.inf).triu(1)
        self.by_token = present.kq1[:, : self.n_tokens].T.contiguous()
        self.by_position = present.kq1[:, self.n_tokens :].clone()
        self.by_position[self.n_tokens :] += self.future
        self.straight, self.out = straight.T.contiguous(), present.out.T.contiguous()
        self.d_by_token = torch.zeros_like(self.by_token)
        self.d_by_position = torch.zeros_like(self.by_position)
        self.d_out = torch.zeros_like(self.out)

    def forward(self, tokens: Int[Tensor, "b T"], rows: Rows) -> Float[Tensor, "b R N"]:
        """Logits at the scored rows."""
        self.tokens, self.z, keys = self._keys(tokens)
        flat = keys.flatten(0, 1)
        scores = flat[_in_group(rows.token, self.n)]
        scores += flat[_in_group(rows.at + self.n_tokens, self.n)]
        self.rows, self.a = rows, scores.softmax(dim=-1)
        self.c = torch.cat([self.a @ self.z, self.a], dim=-1)
        straight = self.straight[rows.token] + self.straight[rows.at + self.n_tokens]
        return straight + self.c @ self.out

    def backward(self, d_logits: Float[Tensor, "b R N"]) -> None:
        """Add what this group contributes to the gradient."""
        self.d_out.addmm_(self.c.flatten(0, 1).T, d_logits.flatten(0, 1))
        d_c = d_logits @ self.out.T
        d_a = torch.baddbmm(d_c[..., self.n_tokens :], d_c[..., : self.n_tokens], self.z.mT)
        d_scores = _softmax_backward(d_a, self.a).flatten(0, 1)
        d_keys = self.by_token.new_zeros(len(self.tokens) * self.n, self.a.shape[-1])
        d_keys.index_add_(0, _in_group(self.rows.token, self.n).flatten(), d_scores)
        places = _in_group(self.rows.at + self.n_tokens, self.n).flatten()
        d_keys.index_add_(0, places, d_scores)
        self._keys_backward(d_keys.view(len(self.tokens), self.n, -1))

    def gradient(self) -> Tables | OneLayerTables:
        """The sum over all groups."""
        return OneLayerTables(self._first(), self.d_out.T)

    def _keys(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The tokens, Z and K; the mask is in the rows of positions."""
        z = one_hot(tokens, self.n_tokens).to(self.by_token.dtype)
        return tokens, z, self.by_token[tokens].mT + self.by_position

    def _keys_backward(self, d_keys: Float[Tensor, "b n T"]) -> None:
        self.d_by_position += d_keys.sum(dim=0)
        by_key = d_keys.mT.reshape(-1, self.n)
        self.d_by_token.index_add_(0, self.tokens.flatten(), by_key)

    def _first(self) -> Tensor:
        return torch.cat([self.d_by_token.T, self.d_by_position], dim=1)


class TwoLayers(OneLayer):
    """All rows attend in layer 1, whose pattern is A; the scored ones in layer 2, pattern a.

    A scored row's query is a vector v over the 2n basis vectors as keys: w over what keys hold
    themselves, h over what layer 1 wrote for them, so that its scores are w + h A^T.
    """

    def __init__(self, present: Tables, straight: Float[Tensor, "N m"]) -> None:
        super().__init__(present, straight)
        self.query = torch.cat([present.kq2, self.straight], dim=1)  # and the direct logits
        self.d_query = torch.zeros_like(self.query)

    def forward(self, tokens: Int[Tensor, "b T"], rows: Rows) -> Float[Tensor, "b R N"]:
        """Logits at the scored rows."""
        n_tokens, n, self.rows = self.n_tokens, self.n, rows
        self.tokens, self.z, keys = self._keys(tokens)
        scores = keys.flatten(0, 1)[_in_group(tokens, n)]
        scores += keys[:, n_tokens:]
        self.pattern = scores.softmax(dim=-1)
        own = self.pattern.flatten(0, 1)[_in_group(rows.at, n - n_tokens)]
        self.c = torch.cat([own @ self.z, own], dim=-1)
        v = torch.addmm(
            self.query[rows.token.flatten()], self.c.flatten(0, 1), self.query[n:]
        ).view(*rows.at.shape, -1)
        v += self.query[rows.at + n_tokens]
        w, self.h = self._spread(v)
        w += self.future[rows.at]
        self.a = torch.baddbmm(w, self.h, self.pattern.mT).softmax(dim=-1)
        self.found = self._gather(self.a, self.a @ self.pattern)
        return v[..., 2 * n :] + self.found @ self.out

    def backward(self, d_logits: Float[Tensor, "b R N"]) -> None:
        """Add what this group contributes to the gradient."""
        n_tokens, n = self.n_tokens, self.n
        self.d_out.addmm_(self.found.flatten(0, 1).T, d_logits.flatten(0, 1))
        d_a, d_through = self._spread(d_logits @ self.out.T)
        d_a = torch.baddbmm(d_a, d_through, self.pattern.mT)
        d_scores = _softmax_backward(d_a, self.a)
        d_h = d_scores @ self.pattern
        left = torch.cat([self.a, d_scores], dim=1)
        d_pattern = left.mT @ torch.cat([d_through, self.h], dim=1)

        d_v = torch.cat([self._gather(d_scores, d_h), d_logits], dim=-1).flatten(0, 1)
        self.d_query.index_add_(0, self.rows.token.flatten(), d_v)
        self.d_query.index_add_(0, self.rows.at.flatten() + n_tokens, d_v)
        self.d_query[n:].addmm_(self.c.flatten(0, 1).T, d_v)
        d_c = (d_v @ self.query[n:].T).view(*self.rows.at.shape, n)
        d_own = torch.baddbmm(d_c[..., n_tokens:], d_c[..., :n_tokens], self.z.mT)
        places = _in_group(self.rows.at, n - n_tokens).flatten()
        d_pattern.flatten(0, 1).index_add_(0, places, d_own.flatten(0, 1))

        d_scores = _softmax_backward(d_pattern, self.pattern)
        self._keys_backward(torch.cat([self.z.mT @ d_scores, d_scores], dim=1))

    def gradient(self) -> Tables:
        """The sum over all groups."""
        return Tables(self._first(), self.d_query[:, : 2 * self.n], self.d_out.T)

    def _spread(self, v: Float[Tensor, "b R m"]) -> tuple[Tensor, Tensor]:
        """From the basis to positions: what they hold themselves, and what was written there."""
        n_tokens, n, count = self.n_tokens, self.n, v.shape[1]
        by_token = torch.cat([v[..., :n_tokens], v[..., n : n + n_tokens]], dim=1)
        both = by_token @ self.z.mT
        own, written = both[:, :count], both[:, count:]
        own += v[..., n_tokens:n]
        written += v[..., n + n_tokens : 2 * n]
        return own, written

    def _gather(self, own: Float[Tensor, "b R T"], written: Float[Tensor, "b R T"]) -> Tensor:
        """From positions to the basis, the transpose of `_spread`."""
        by_token = torch.cat([own, written], dim=1) @ self.z
        first, second = by_token.split(own.shape[1], dim=1)
        return torch.cat([first, own, second, written], dim=-1)


def _in_group(index: Int[Tensor, "b any"], size: int) -> Int[Tensor, "b any"]:
    """Where an index of each sequence lies when the first two dimensions are one."""
    return index + size * torch.arange(len(index), device=index.device)[:, None]


def _softmax_backward(d_out: Float[Tensor, "b R T"], out: Float[Tensor, "b R T"]) -> Tensor:
    return torch._softmax_backward_data(d_out, out, -1, out.dtype)


GROUP = 8  # sequences at once


def loss_and_gradient(frozen: Frozen, trained: Trained, batch: Batch) -> Measured:
    """As `model.loss_and_gradient`; ValueError if no position is scored."""
    free = [part.detach().requires_grad_() for part in parts(trained)]
    with torch.enable_grad():
        products = tables(frozen, from_parts(free))
    present = type(products)(*(part.detach() for part in products))
    straight = frozen.u @ bases(frozen)[len(trained.kq) - 1].T  # before the last layer
    loss, accuracy, gradient = table_gradient(present, straight, batch)
    gradients = torch.autograd.grad([*products], free, [*gradient])
    return Measured(loss, accuracy, from_parts(gradients))


@torch.no_grad()
def table_gradient(
    present: Tables | OneLayerTables, straight: Float[Tensor, "N m"], batch: Batch
) -> tuple[float, float, Tables | OneLayerTables]:
    """Loss, accuracy and the gradient with respect to the tables."""
    counts = batch.scored.sum(dim=1)
    total = int(counts.sum())
    if not total:
        raise ValueError("no position of the batch is scored")
    group = (
        TwoLayers(present, straight) if isinstance(present, Tables) else OneLayer(present, straight)
    )
    order = counts.argsort()
    order = order[counts[order] > 0]
    loss, hits = straight.new_zeros(()), counts.new_zeros(())
    weight = straight.new_ones(()) / total
    for which in order.split(GROUP):
        tokens, targets, scored = (part[which] for part in batch)
        at, real = rows_of(scored)
        rows = Rows(at, tokens.gather(1, at), targets.gather(1, at), real * weight)
        values = group.forward(tokens, rows)
        logp = values.log_softmax(dim=-1)
        chosen = rows.target[..., None]
        loss -= (logp.gather(-1, chosen).squeeze(-1) * rows.weight).sum()
        hits += ((values.argmax(dim=-1) == rows.target) & (rows.weight > 0)).sum()
        pull = logp.exp_()
        pull.scatter_add_(-1, chosen, pull.new_full((), -1).expand(chosen.shape))
        group.backward(pull.mul_(rows.weight[..., None]))
    return float(loss), float(hits / total), group.gradient()
