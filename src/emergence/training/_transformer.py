"""Training of the attention-only transformer on token pairs (§2, App. E)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cross_entropy

from emergence import fast, tasks
from emergence.models import AttentionOnlyTransformer, Mask
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.graphs import recordable
from emergence.running.memo import resumable

from ._minimal import CPU, check_method
from ._settings import Method, Reader, Start, TokenTraining


class TokenRecord(NamedTuple):
    """The measurements of one training of the attention-only transformer (§2, App. E).

    Attributes:
        loss: cross-entropy of the query's label in nats, on each fresh batch before its update.
        accuracy: share of the batch whose label has the highest logit.
        model: the trained network.
        readings: what the reader returned, by the number of updates before it.
    """

    loss: Float[Tensor, " steps"]
    accuracy: Float[Tensor, " steps"]
    model: AttentionOnlyTransformer
    readings: dict[int, Any]


@resumable
def train_tokens(
    settings: TokenTraining,
    seed: int,
    *,
    device: torch.device = CPU,
    method: Method = "fast",
    build: Callable[[TokenTraining, torch.Generator], AttentionOnlyTransformer] | None = None,
    start: Start | None = None,
    read: Reader | None = None,
    label: str = "training",
) -> TokenRecord:
    """Train the attention-only transformer on the label of the query (§2, App. E).

    Args:
        settings: the network, its data, the optimiser and the number of steps.
        seed: the seed of the initial weights and of the data, which use one stream.
        device: where it is trained.
        method: `fast`, or `dense`, token by token; they agree up to rounding.
        build: a frozen dataclass that makes the network from settings and stream; or None.
        start: called with the model before the first update, as `knock_in.Given` is; or None.
        read: called with the model at regular updates and after the last; or None.
        label: the name of the training in messages.

    Returns:
        Loss and accuracy at each update, in main memory, and the trained network.

    Raises:
        ArithmeticError: if the run diverges.
        ValueError: if the method is unknown or the data are out of their range.

    Example:
        >>> settings = training.TokenTraining(dim=16, batch_size=8, steps=3)
        >>> len(training.train_tokens(settings, seed=0).loss)
        3
    """
    check_method(method)
    stream = generator(seed, device)
    model = (build or initial_transformer)(settings, stream)
    if start:
        start(model)
    optimiser = token_optimiser(settings, model)
    least = torch.full((), torch.inf, device=device)  # of the losses so far
    rows: list[tuple[int, Tensor, Tensor]] = []  # step, loss, accuracy
    readings: list[tuple[int, Any]] = []

    def step(recorded: bool) -> tuple[Tensor, tuple[Tensor, ...]]:
        row = token_step(settings, model, optimiser, stream, method)
        torch.minimum(least, row[0], out=least)
        return row[0], row

    def look(made: int) -> None:
        if read is not None and (not readings or readings[-1][0] < made):
            readings.append((made, read(model)))

    until = settings.until_loss
    made = loop.descend(
        settings.steps,
        label,
        step,
        rows=rows,
        ended=None if until is None else lambda: least <= until,
        stops=range(0, settings.steps, read.every) if read else (),
        at_stop=look,
        parameters=tuple(model.parameters()),
        optimiser=optimiser,
        stream=stream,
        least=least,
        found=readings,
    )
    look(made)
    _, *columns = zip(*rows, strict=True)
    losses, accuracies = (
        torch.stack([row.to(device) for row in column]).cpu() for column in columns
    )
    return TokenRecord(losses, accuracies, model, dict(readings))


def initial_transformer(
    settings: TokenTraining, stream: torch.Generator
) -> AttentionOnlyTransformer:
    """The initial network of a training with this stream (§2, App. E).

    Args:
        settings: sizes and initial values.
        stream: source of the random numbers; its device is that of the network.

    Returns:
        The network, with weights drawn from the stream.

    Raises:
        ValueError: if the initial maps are unknown.
    """
    return AttentionOnlyTransformer(
        settings.dim, settings.vocabulary, settings.block_size,
        embedding_scale=settings.embedding_scale, maps=settings.maps, scaled=settings.scaled,
        generator=stream,
    )  # fmt: skip


def token_optimiser(
    settings: TokenTraining, model: AttentionOnlyTransformer
) -> torch.optim.Optimizer:
    """The optimiser of a training, AdamW or plain gradient descent (§2, App. E).

    Args:
        settings: the kind of optimiser, its learning rate and its weight decay.
        model: the network whose parameters it updates.

    Returns:
        An optimiser before its first step.
    """
    if settings.optimiser == "sgd":
        return torch.optim.SGD(model.parameters(), lr=settings.learning_rate, fused=True)
    adamw = torch.optim.AdamW(
        model.parameters(),
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,
    )
    return recordable(adamw)


def token_step(
    settings: TokenTraining,
    model: AttentionOnlyTransformer,
    optimiser: torch.optim.Optimizer,
    stream: torch.Generator,
    method: Method,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """One update of the transformer on a fresh batch (§2, App. E).

    Args:
        settings: the sizes of the batch and the mask.
        model, optimiser: as `training.token_optimiser` takes and gives them, changed in place.
        stream: source of the random numbers; its device is that of the network.
        method: `fast`, or `dense`, token by token.

    Returns:
        The cross-entropy on the batch in nats and the share of right labels, before the update.

    Raises:
        ValueError: if a size is out of its range.
    """
    batch = tasks.token_pairs(
        settings.batch_size, settings.n_pairs, settings.vocabulary, settings.block_size,
        generator=stream,
    )  # fmt: skip
    logits = query_logits(model, batch, settings.mask, method)
    loss = cross_entropy(logits, batch.target)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.detach(), (logits.argmax(dim=1) == batch.target).double().mean()


def query_logits(
    model: AttentionOnlyTransformer, batch: tasks.TokenBatch, mask: Mask, method: Method
) -> Float[Tensor, "batch vocabulary"]:
    """The logits at the query item, the only position that is trained (App. E).

    Args:
        model: the network.
        batch: sequences, on the device of the network.
        mask, method: as `training.TokenTraining` and `training.train_tokens` take them.

    Returns:
        A logit for each token of the vocabulary.

    Raises:
        ValueError: if the mask is unknown.
    """
    if method == "dense":
        return model(batch.tokens, batch.positions, mask=mask)[:, -1]
    last = slice(-1, None)
    return fast.attention_only_logits(
        model, batch.tokens, batch.positions, mask=mask, rows=last
    ).squeeze(1)
