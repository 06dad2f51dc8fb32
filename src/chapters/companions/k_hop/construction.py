"""A network that composes k functions by pointer doubling in one-hot addresses, without error.

The context gives f_1 .. f_k on {0 .. N - 1}. An address (i, v) stands for a value v to which f_i is
applied next; (k + 1, v) is an answer v. There is a token for each address: its near end is the
address itself, its far end is (i + 1, f_i(v)), and an answer's far end is its own. A query for x
has the far end (1, x) and no near end, so no token attends to it.

The residual stream has L + 2 blocks, each of one address: block 0 is the near end, block l the far
end before layer l. In layer l each token attends to the token whose near end is its own far end,
and copies that token's far end into block l + 1. All numbers are 0 or 1 and their sums are small
whole numbers, so double precision is exact.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

Functions = Int[Tensor, "batch k n"]


class LayerWeights(NamedTuple):
    """One layer: the score of a token with another one, and what it copies from it."""

    match: Float[Tensor, "dim dim"]  # W_KQ: key' W query is the score
    copy: Float[Tensor, "dim dim"]  # W_OV


def weights(
    layer: int, n_layers: int, n_addresses: int, device: torch.device | None = None
) -> LayerWeights:
    """The weights of layer 1 .. L: two identities, each in one place of a block matrix."""
    if not 1 <= layer <= n_layers:
        raise ValueError(f"layer must be between 1 and {n_layers}, got {layer}")
    identity = torch.eye(n_addresses, dtype=torch.float64, device=device)
    places = identity.new_zeros(2, n_layers + 2, n_layers + 2)
    places[0, 0, layer] = places[1, layer + 1, layer] = 1
    return LayerWeights(*(torch.kron(place, identity) for place in places))


def embedded(functions: Functions, n_layers: int) -> Float[Tensor, "batch tokens dim"]:
    """A token for each address, then the queries for 0 .. N - 1; blocks from 2 on are empty."""
    batch, k, n = functions.shape
    n_addresses = (k + 1) * n
    next_level = torch.arange(1, k + 1, device=functions.device).view(-1, 1) * n
    answers = torch.arange(k * n, n_addresses, device=functions.device).expand(batch, n)
    starts = torch.arange(n, device=functions.device).expand(batch, n)
    far = torch.cat([(next_level + functions).flatten(1), answers, starts], dim=1)
    identity = torch.eye(n_addresses, dtype=torch.float64, device=functions.device)
    stream = identity.new_zeros(batch, n_addresses + n, n_layers + 2, n_addresses)
    stream[:, :n_addresses, 0] = identity
    stream[:, :, 1] = one_hot(far, n_addresses).double()
    return stream.flatten(2)


def attend(
    stream: Float[Tensor, "batch tokens dim"], layer: LayerWeights
) -> Float[Tensor, "batch tokens dim"]:
    """Add what each token copies from those with the greatest score, the mean if they are many."""
    scores = stream @ layer.match.T @ stream.mT
    greatest = (scores == scores.amax(dim=-1, keepdim=True)).double()
    attention = greatest / greatest.sum(dim=-1, keepdim=True)
    return stream + attention @ (stream @ layer.copy.T)


class QueryPlace(NamedTuple):
    """Where each query stands after each layer: f_place is applied next, to value."""

    place: Int[Tensor, "layers_and_start batch n"]
    value: Int[Tensor, "layers_and_start batch n"]


def compose(functions: Functions, n_layers: int) -> QueryPlace:
    """Run the network and read all blocks of the queries but the first."""
    _, k, n = functions.shape
    n_addresses = (k + 1) * n
    stream = embedded(functions, n_layers)
    for layer in range(1, n_layers + 1):
        stream = attend(stream, weights(layer, n_layers, n_addresses, stream.device))
    blocks = stream[:, n_addresses:].unflatten(2, (n_layers + 2, n_addresses))[:, :, 1:]
    address = blocks.argmax(dim=-1).permute(2, 0, 1)
    return QueryPlace(address // n + 1, address % n)


def composed(functions: Functions) -> Int[Tensor, "batch n"]:
    """The composition by looking up one function after another."""
    values = torch.arange(functions.shape[2], device=functions.device).expand(len(functions), -1)
    for i in range(functions.shape[1]):
        values = functions[:, i].gather(1, values)
    return values


def random_functions(
    count: int, k: int, n: int, *, generator: torch.Generator, permutations: bool = False
) -> Functions:
    """Functions drawn uniformly from all, or from the permutations."""
    shape, device = (count, k, n), generator.device
    if permutations:
        return torch.rand(shape, generator=generator, device=device).argsort(dim=-1)
    return torch.randint(n, shape, generator=generator, device=device)


def enough_layers(k: int) -> int:
    """The least whole number that is at least log2(k), plus 1, in whole numbers."""
    return (k - 1).bit_length() + 1


def least_layers(k: int) -> int:
    """The least t with 2^t > k: what this construction needs, since it reaches 2^t - 1 hops."""
    return k.bit_length()
