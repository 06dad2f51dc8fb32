"""What is trained in §2: settings, records, and a run that can be put down between two steps."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from . import fast, tasks
from .knock_in import Part, install
from .minimal import Method
from .models import AttentionOnlyTransformer, Mask

Optimiser = Literal["adamw", "sgd"]


@dataclass(frozen=True)
class TokenTraining:
    """Training of the attention-only transformer on token pairs (§2, App. E).

    Stochastic gradient descent has neither momentum nor weight decay. Parts of the circuit that
    are `given` start in place. Training ends early after a batch loss of at most `until_loss`.
    """

    dim: int = 2048
    vocabulary: int = 32
    block_size: int = 32
    n_pairs: int = 8
    batch_size: int = 512
    steps: int = 300
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    embedding_scale: float = 0.05  # decides whether 300 steps suffice: book/beyond/07_knock_in.md
    mask: Mask = "causal"
    optimiser: Optimiser = "adamw"
    given: tuple[Part, ...] = ()
    given_strength: float = 8.0  # in logits: e^8 outweighs all other entries of a context
    until_loss: float | None = None

    def __post_init__(self) -> None:
        if self.optimiser not in get_args(Optimiser):
            raise ValueError(
                f"optimiser must be one of {get_args(Optimiser)}, got {self.optimiser!r}"
            )


class TokenRecord(NamedTuple):
    """One run: loss and accuracy of each fresh batch before its update, and the trained model."""

    loss: Float[Tensor, " steps"]
    accuracy: Float[Tensor, " steps"]
    model: AttentionOnlyTransformer


class TokenRun:
    """A training under way: model, optimiser, the stream of its data, what was measured so far."""

    def __init__(
        self, settings: TokenTraining, stream: torch.Generator, method: Method, label: str
    ) -> None:
        self.settings, self.stream, self.method, self.label = settings, stream, method, label
        self.step, self.ended = 0, False
        self.model = AttentionOnlyTransformer(
            settings.dim, settings.vocabulary, settings.block_size,
            embedding_scale=settings.embedding_scale, generator=stream,
        )  # fmt: skip
        install(self.model, settings.given, settings.given_strength)
        self.optimiser = _optimiser(settings, self.model)
        self.losses: list[Tensor] = []
        self.accuracies: list[Tensor] = []

    def advance(self) -> None:
        """Measure a fresh batch and descend; ArithmeticError when the loss is not finite."""
        settings = self.settings
        batch = tasks.token_pairs(
            settings.batch_size, settings.n_pairs, settings.vocabulary, settings.block_size,
            generator=self.stream,
        )  # fmt: skip
        logits = query_logits(self.model, batch, settings.mask, self.method)
        loss = torch.nn.functional.cross_entropy(logits, batch.target)
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.losses.append(loss.detach())
        self.accuracies.append((logits.argmax(dim=1) == batch.target).double().mean())
        if not torch.isfinite(loss):
            raise ArithmeticError(f"{self.label}: the loss is not finite at step {self.step}")
        self.step += 1
        early = settings.until_loss is not None and bool(loss <= settings.until_loss)
        self.ended = early or self.step == settings.steps

    def record(self) -> TokenRecord:
        """What the run has left behind."""
        losses, accuracies = torch.stack(self.losses), torch.stack(self.accuracies)
        return TokenRecord(losses.cpu(), accuracies.cpu(), self.model)

    def state(self) -> dict[str, Any]:
        """Weights, moments of the optimiser, the stream, and what was measured."""
        moments = self.optimiser.state_dict()["state"]
        return {
            "step": self.step,
            "ended": self.ended,
            "weights": dict(self.model.state_dict()),
            "moments": {str(place): dict(values) for place, values in moments.items()},
            "stream": self.stream.get_state(),
            "losses": torch.stack(self.losses),
            "accuracies": torch.stack(self.accuracies),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.step, self.ended = state["step"], state["ended"]
        self.model.load_state_dict({k: torch.tensor(v) for k, v in state["weights"].items()})
        moments = {
            int(place): {name: torch.tensor(value) for name, value in values.items()}
            for place, values in state["moments"].items()
        }
        self.optimiser.load_state_dict(self.optimiser.state_dict() | {"state": moments})
        self.stream.set_state(torch.tensor(state["stream"]))
        self.losses, self.accuracies = (
            list(torch.tensor(state[name], device=self.stream.device).unbind())
            for name in ("losses", "accuracies")
        )


def _optimiser(settings: TokenTraining, model: AttentionOnlyTransformer) -> torch.optim.Optimizer:
    if settings.optimiser == "sgd":
        return torch.optim.SGD(model.parameters(), lr=settings.learning_rate, fused=True)
    return torch.optim.AdamW(
        model.parameters(),
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,
    )


def query_logits(
    model: AttentionOnlyTransformer, batch: tasks.TokenBatch, mask: Mask, method: Method
) -> Float[Tensor, "batch vocabulary"]:
    """The logits at the query item, the only position that is trained."""
    if method == "dense":
        return model(batch.tokens, batch.positions, mask=mask)[:, -1]
    last = slice(-1, None)
    return fast.attention_only_logits(
        model, batch.tokens, batch.positions, mask=mask, rows=last
    ).squeeze(1)
