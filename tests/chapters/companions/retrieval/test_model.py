"""The stacked network against a plain one written token by token, values and gradients."""

import math

import numpy as np
import pytest
import torch

from chapters.companions.retrieval import model
from chapters.companions.retrieval.model import Architecture, Cut, forward, initial

SMALL = Architecture(n_layers=3, n_heads=2, dim=8, hidden=16, vocabulary=12)


def batch_of(seeds, size=3):
    batches = []
    for seed in seeds:
        stream = torch.Generator().manual_seed(seed)
        hops = torch.randint(1, 4, (size, 2), generator=stream)
        batches.append(model.draw_contexts(hops, 3, 12, stream))
    return model.stacked(batches)


def double(parameters):
    def free(tensor):
        return tensor.detach().double().requires_grad_()

    layers = tuple(type(layer)(*map(free, layer)) for layer in parameters.layers)
    return type(parameters)(*map(free, parameters[:2]), layers, free(parameters.readout))


def plain(parameters, run, keys, values, query, n_heads, cut=None):
    """One context of one run with one question, all rows of all layers, head by head."""

    def norm(x):
        centred = x - x.mean(-1, keepdim=True)
        return centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + 1e-5)

    key, value = parameters.keys[run], parameters.values[run]
    tokens = [key[k] + value[v] for k, v in zip(keys.tolist(), values.tolist(), strict=True)]
    x = torch.stack([*tokens, value[query]])
    maps = []
    for number, layer in enumerate(parameters.layers, start=1):
        q, k, v = (norm(x) @ part for part in layer.attend[run].chunk(3, dim=1))
        width = x.shape[1] // n_heads
        heard = []
        for head in range(n_heads):
            part = slice(head * width, (head + 1) * width)
            weights = (q[:, part] @ k[:-1, part].T / math.sqrt(width)).softmax(-1)
            if cut and cut.layer == number:
                rows = [len(weights) - 1] if cut.rows == "queries" else range(len(weights) - 1)
                weights[list(rows)] = 1 / weights.shape[1]
            maps.append(weights)
            heard.append(weights @ v[:-1, part])
        x = x + torch.cat(heard, dim=1) @ layer.merge[run]
        hidden = (norm(x) @ layer.up[run] + layer.up_bias[run]).clamp(min=0)
        x = x + hidden @ layer.down[run] + layer.down_bias[run]
    return norm(x)[-1] @ parameters.readout[run], maps


@pytest.mark.parametrize("n_layers", [1, 3])
def test_values_and_gradients_as_by_the_plain_network(n_layers, close):
    architecture = Architecture(n_layers, 2, 8, 16, 12)
    streams = [torch.Generator().manual_seed(seed) for seed in (0, 1)]
    parameters = double(initial(architecture, streams))
    for layer in parameters.layers:  # biases that matter
        layer.up_bias.data.normal_(generator=streams[0])
        layer.down_bias.data.normal_(generator=streams[0])
    batch = batch_of((4, 5))
    result = forward(parameters, batch, 2)
    expected = torch.empty(2, 3, 2, 12, dtype=torch.float64)
    for run, i, chain in np.ndindex(2, 3, 2):
        context = batch.keys[run, i], batch.values[run, i], batch.query[run, i, chain]
        logits, maps = plain(parameters, run, *context, 2)
        expected[run, i, chain] = logits
        for number, weights in enumerate(result.attention):
            theirs = torch.stack(maps[2 * number : 2 * number + 2])
            close(weights[run, i, :, chain - 2], theirs[:, -1])
            if number < n_layers - 1:
                close(weights[run, i, :, :-2], theirs[:, :-1])
    close(result.logits, expected)
    probe = torch.randn(2, 3, 2, 12, dtype=torch.float64, generator=streams[0])
    ours = torch.autograd.grad((result.logits * probe).sum(), parameters.tensors())
    theirs = torch.autograd.grad((expected * probe).sum(), parameters.tensors())
    for mine, other in zip(ours, theirs, strict=True):
        close(mine, other, 1e-10)


@pytest.mark.parametrize(
    "cut", [Cut(1, "facts"), Cut(2, "facts"), Cut(2, "queries"), Cut(3, "queries")]
)
@torch.no_grad()
def test_a_look_is_taken_away_as_from_the_plain_network(cut, close):
    parameters, batch = double(initial(SMALL, [torch.Generator().manual_seed(0)])), batch_of((4,))
    result, whole = (forward(parameters, batch, 2, each).logits for each in (cut, None))
    assert float((result - whole).abs().max()) > 1e-3
    for i, chain in np.ndindex(3, 2):
        context = batch.keys[0, i], batch.values[0, i], batch.query[0, i, chain]
        close(result[0, i, chain], plain(parameters, 0, *context, 2, cut)[0])
