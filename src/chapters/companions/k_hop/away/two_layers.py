"""A network of two layers taken apart: one idle head, and what draws its facts away from the end.

The same network as `retrieval.model`, which a test compares. Facts reach an answer in two ways
only: a query of layer 2 compares itself with them, and it adds up what they say. So the gradient
with respect to their attention in layer 1 has two parts, one through each.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, layer_norm

from chapters.companions.retrieval.model import Layer, Parameters
from chapters.companions.retrieval.task import Batch

Tokens = Float[Tensor, "runs batch _ dim"]
Scores = Float[Tensor, "runs batch heads rows facts"]


def embedded(parameters: Parameters, batch: Batch) -> Tokens:
    """Facts, and then queries, which are facts whose key is missing."""
    facts = _looked_up(parameters.keys, batch.keys) + _looked_up(parameters.values, batch.values)
    return torch.cat([facts, _looked_up(parameters.values, batch.query)], dim=2)


def _looked_up(
    table: Float[Tensor, "runs vocabulary dim"], symbols: Int[Tensor, "runs batch _"]
) -> Tokens:
    return table.gather(1, symbols.flatten(1)[..., None].expand(-1, -1, table.shape[2])).view(
        *symbols.shape, -1
    )


def _heads(
    tokens: Tokens, weights: Float[Tensor, "runs dim sent"], n_heads: int
) -> Float[Tensor, "runs batch heads _ _"]:
    sent = (tokens.flatten(1, 2) @ weights).view(*tokens.shape[:3], n_heads, -1)
    return sent.transpose(2, 3)


def compared(layer: Layer, rows: Tokens, facts: Tokens, n_heads: int) -> Scores:
    """The scores of facts, before the softmax."""
    dim = facts.shape[-1]
    query = _heads(rows, layer.attend[:, :, :dim], n_heads) * (dim // n_heads) ** -0.5
    return query @ _heads(facts, layer.attend[:, :, dim : 2 * dim], n_heads).mT


def heard(layer: Layer, stream: Tokens, scores: Scores, facts: Tokens, n_heads: int) -> Tokens:
    """The stream after a layer, whose rows attend to facts by these scores."""
    value = _heads(facts, layer.attend[:, :, 2 * facts.shape[-1] :], n_heads)
    taken = (scores.softmax(dim=-1) @ value).transpose(2, 3).flatten(3)
    stream = stream + (taken.flatten(1, 2) @ layer.merge).view_as(stream)
    hidden = (_normalised(stream).flatten(1, 2) @ layer.up + layer.up_bias).relu()
    return stream + (hidden @ layer.down + layer.down_bias).view_as(stream)


def _normalised(stream: Tokens) -> Tokens:
    return layer_norm(stream, stream.shape[-1:])


def first_scores(
    parameters: Parameters, batch: Batch, n_heads: int, *, idle: bool = False
) -> tuple[Tokens, Scores]:
    """What enters layer 1, and its scores; an idle last head attends to all facts evenly."""
    stream = embedded(parameters, batch)
    tokens, n_facts = _normalised(stream), batch.keys.shape[-1]
    scores = compared(parameters.layers[0], tokens, tokens[:, :, :n_facts], n_heads)
    if idle:
        scores = torch.cat([scores[:, :, :-1], torch.zeros_like(scores[:, :, -1:])], dim=2)
    return stream, scores


def logits(
    parameters: Parameters, batch: Batch, n_heads: int, *, idle: bool = False
) -> Float[Tensor, "runs batch chains vocabulary"]:
    """The answers of two layers."""
    stream, scores = first_scores(parameters, batch, n_heads, idle=idle)
    return _answered(parameters, batch, n_heads, stream, scores)


def _answered(
    parameters: Parameters,
    batch: Batch,
    n_heads: int,
    stream: Tokens,
    scores: Scores,
    *,
    by_score: bool = True,
    by_saying: bool = True,
) -> Float[Tensor, "runs batch chains vocabulary"]:
    """The same from the scores of layer 1; gradients pass through facts where they are wanted."""
    first, second = parameters.layers
    n_facts = batch.keys.shape[-1]
    tokens = _normalised(stream)
    stream = heard(first, stream, scores, tokens[:, :, :n_facts], n_heads)
    tokens, queries = _normalised(stream), stream[:, :, n_facts:]
    facts = tokens[:, :, :n_facts]
    matched = facts if by_score else facts.detach()
    said = facts if by_saying else facts.detach()
    scores = compared(second, tokens[:, :, n_facts:], matched, n_heads)
    answer = _normalised(heard(second, queries, scores, said, n_heads))
    return (answer.flatten(1, 2) @ parameters.readout).view(*batch.query.shape, -1)


def pulls_away(parameters: Parameters, batch: Batch, n_heads: int) -> Float[Tensor, "runs heads 2"]:
    """How questions draw the attention of fact 2 to fact 3, one step away from the end.

    Minus the gradient of a question's loss with respect to the score in layer 1, in the mean over
    chains: through the comparison of queries with fact 2, and through what fact 2 then says.
    """
    stream, scores = first_scores(parameters, batch, n_heads)
    stream, scores = stream.detach(), scores.detach().requires_grad_()
    entry = batch.places[..., 1] * batch.keys.shape[-1] + batch.places[..., 2]
    entry = entry[:, :, None].expand(-1, -1, n_heads, -1)
    found = []
    for by_score in (True, False):
        given = _answered(
            parameters, batch, n_heads, stream, scores, by_score=by_score, by_saying=not by_score
        )
        loss = cross_entropy(given.flatten(0, 2), batch.target.flatten(), reduction="sum")
        (gradient,) = torch.autograd.grad(loss, scores)
        found.append(-gradient.flatten(3).gather(3, entry).mean(dim=(1, 3)))
    return torch.stack(found, dim=-1)


def attention_away(
    parameters: Parameters, batch: Batch, n_heads: int
) -> Float[Tensor, "runs heads"]:
    """Mean attention of facts in layer 1 to the next fact away from the end."""
    weights = first_scores(parameters, batch, n_heads)[1].softmax(dim=-1)
    n_facts, places = batch.keys.shape[-1], batch.places
    entry = (places[..., :-1] * n_facts + places[..., 1:]).flatten(2)
    entry = entry[:, :, None].expand(-1, -1, n_heads, -1)
    return weights[..., :n_facts, :].flatten(3).gather(3, entry).mean(dim=(1, 3))


def carried(parameters: Parameters, n_heads: int) -> Float[Tensor, "runs heads 2"]:
    """Root mean square of what each head of layer 1 passes on of keys, and of values.

    Tables count by how much their symbols differ.
    """
    layer, dim = parameters.layers[0], parameters.keys.shape[-1]
    found = []
    for table in (parameters.keys, parameters.values):
        centred = table - table.mean(dim=1, keepdim=True)
        value = _heads(centred[:, None], layer.attend[:, :, 2 * dim :], n_heads)[:, 0]
        merge = layer.merge.view(len(table), n_heads, -1, dim)
        found.append((value @ merge).square().mean(dim=(2, 3)).sqrt())
    return torch.stack(found, dim=-1)
