"""Trainings of the experiment on supervision, and when they pass its tests."""

import math
from typing import Any

import numpy as np
import torch
from torch.optim.lr_scheduler import LambdaLR

from emergence.running import loop
from emergence.running.memo import resumable

from .model import Transformer
from .queries import PER_PAIR, Asked, Cell, batch_loss, probe

TESTS = "full", "prefixes"
SHARES = 0.9, 0.5  # of the loss without a head: the head appears, and has formed
PATIENCE = 1.5  # times the steps to the test on full contexts that the other one may take
WARM_UP, BETAS, DECAY, LARGEST_NORM = 100, (0.9, 0.95), 0.1, 1.0  # of the practice of trainers


@resumable
def train_supervised(
    cell: Cell, seed: int, *, label: str = "training"
) -> list[tuple[float, float, float]]:
    """Train until both tests are passed, or the first alone for long, or the run diverges.

    Returns:
        Updates before each look, and the losses on full contexts and on prefixes; infinite losses
        at the last look of a run that diverges.
    """
    stream = torch.Generator().manual_seed(seed)
    model = Transformer(cell.shape, PER_PAIR * cell.n_pairs, cell.block_size, generator=stream)
    if cell.given:
        model.give_previous()
    optimiser = optimiser_of(cell, model)
    practice = cell.optimiser == "practice"
    warm_up = LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / WARM_UP) if practice else 1.0)
    fixed, due = probe(cell), {*loop.ever_rarer(cell.limit)}
    whole, of_prefixes = (SHARES[-1] * level for level in cell.levels)
    looks: list[tuple[float, float, float]] = []

    def ended() -> bool:
        formed = [look[0] for look in looks if look[1] <= whole]
        both = bool(formed) and any(look[2] <= of_prefixes for look in looks)
        late = bool(formed) and looks[-1][0] >= PATIENCE * formed[0]
        return both or late or math.isinf(looks[-1][1])

    for step in loop.steps(
        cell.limit + 1, label, ended=ended, parameters=tuple(model.parameters()),
        optimiser=optimiser, warm_up=warm_up, stream=stream, looks=looks,
    ):  # fmt: skip
        if step in due:
            looks.append((float(step), *_look(model, fixed)))
        if ended() or step == cell.limit:
            continue
        loss = batch_loss(cell, model, stream)
        if not loss.isfinite():
            looks.append((float(step), math.inf, math.inf))
            continue
        optimiser.zero_grad()
        loss.backward()
        if practice:
            torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_NORM)
        optimiser.step()
        warm_up.step()
    return looks


def optimiser_of(cell: Cell, model: Transformer) -> torch.optim.Optimizer:
    """The optimiser of a cell before its first step."""
    common: dict[str, Any] = {"lr": cell.learning_rate, "fused": True}
    if cell.optimiser == "sgd":
        return torch.optim.SGD(model.parameters(), **common)
    if cell.optimiser == "practice":
        common |= {"betas": BETAS, "weight_decay": DECAY}
    return torch.optim.AdamW(model.parameters(), **common)


@torch.no_grad()
def _look(model: Transformer, fixed: Asked) -> tuple[float, float]:
    prefixes, full = fixed.losses(model).mean(dim=0).chunk(2)
    return float(full.mean()), float(prefixes.mean())


def run(cell: Cell) -> list[dict[str, Any]]:
    """What is stored of a cell: one row per seed, with the steps at which each test is passed."""
    label = f"{cell.kind}, {cell.place}: {cell.optimiser}, N = {cell.n_pairs}"
    return [
        {"seed": seed} | passed(cell, train_supervised(cell, seed, label=label))
        for seed in cell.seeds
    ]


def passed(cell: Cell, looks: list[tuple[float, float, float]]) -> dict[str, Any]:
    """The steps at which the tests are passed, the last losses by those without a head, the end."""
    steps, *curves = np.array(looks).T
    found: dict[str, Any] = {}
    for name, curve, level in zip(TESTS, curves, cell.levels, strict=True):
        found[name] = [_fallen(steps, curve, share * level) for share in SHARES]
    shares = [float(curve[-1] / level) for curve, level in zip(curves, cell.levels, strict=True)]
    diverged = not all(map(math.isfinite, shares))
    last = None if diverged else [round(share, 3) for share in shares]
    return found | {"losses": last, "updates": int(steps[-1])}


def _fallen(steps: np.ndarray, curve: np.ndarray, level: float) -> float | None:
    """When a loss first falls to a level, on a line between two looks; None for never."""
    below = np.flatnonzero(curve <= level)
    if not below.size:
        return None
    near = slice(max(0, below[0] - 1), below[0] + 1)
    return round(float(np.interp(-level, -curve[near], steps[near])), 3)
