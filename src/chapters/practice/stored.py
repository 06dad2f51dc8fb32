"""The trainings of the experiment, stored in data/practice.json, the cheapest first."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch
from torch.optim.lr_scheduler import LambdaLR

from chapters.beyond.every_position.stored import crossed
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.running.records import StoredRuns

from .model import PLAIN, Positions, Shape, Transformer
from .queries import CPU, PER_PAIR, Asked, Cell, Kind, Place, batch_loss, probe

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
    stream = generator(seed, CPU)
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
    rate = cell.learning_rate
    if cell.optimiser == "sgd":
        return torch.optim.SGD(model.parameters(), lr=rate, fused=True)
    if cell.optimiser == "adamw":
        return torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
    return torch.optim.AdamW(
        model.parameters(), lr=rate, betas=BETAS, weight_decay=DECAY, fused=True
    )


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
        found[name] = [crossed(steps, -curve, -share * level) for share in SHARES]
    shares = [float(curve[-1] / level) for curve, level in zip(curves, cell.levels, strict=True)]
    diverged = not all(map(math.isfinite, shares))
    last = None if diverged else [round(share, 3) for share in shares]
    return found | {"losses": last, "updates": int(steps[-1])}


FOUR: tuple[Kind, ...] = ("full", "every", "inverse", "prefix")
PLACES: tuple[Place, ...] = ("tied", "free")
REPEATS: tuple[Kind, ...] = ("repeats last", "repeats mixed")
SMALL, MIDDLE, LARGE = (8, 16), (8, 16, 32), 64
ADAMW, OTHERS = 3e-3, (1e-2, 1e-3)
SGD = {8: 0.25, 16: 0.125}  # with 16 pairs some runs diverge at twice this rate
PER_PAIR_AND_RATE = {"adamw": 1.2, "practice": 1.2, "sgd": 150.0}  # limits: updates per pair / rate
ROTARY = Shape(positions="rotary")


def declared(kind: Kind, n_pairs: int, place: Place = "free", **more: Any) -> Cell:
    """A cell with a limit that suits its rate, and five seeds where the place is tied, else three.

    Where all rests on the place, single runs differ more.
    """
    cell = Cell(kind, n_pairs, place, **more)
    limit = round(PER_PAIR_AND_RATE[cell.optimiser] * n_pairs / cell.learning_rate)
    several = place != "free" and cell.shape == PLAIN and cell.optimiser != "sgd"
    return replace(cell, limit=limit, seeds=cell.seeds if several else cell.seeds[:3])


def at_equal_tokens(n_pairs: int) -> int:
    """Contexts with one query each that hold as many tokens as 32 with N queries."""
    return round(32 * 3 * n_pairs / (2 * n_pairs + 1))


def deep(layers: int, positions: Positions) -> dict[str, Any]:
    """A transformer with MLPs and norms; rotary positions tell nothing of the place."""
    place = "tied" if positions == "rotary" else "free"
    return {"place": place, "shape": Shape(layers, blocks=True, positions=positions)}


def _sizes() -> Iterator[Cell]:
    for kind, place in product(FOUR, PLACES):
        for n in (4, *MIDDLE):
            for rate in (ADAMW, *OTHERS):
                yield declared(kind, n, place, learning_rate=rate)
            yield declared(kind, n, place, optimiser="practice")
    for kind, place in product(FOUR[:3], PLACES):
        for rate in (ADAMW, OTHERS[0]):
            yield replace(declared(kind, LARGE, place, learning_rate=rate), seeds=(0, 1, 2))
    for kind, place in product(FOUR[:2], PLACES):
        yield declared(kind, 16, place, optimiser="practice", learning_rate=OTHERS[0])
        yield declared(kind, 16, place, optimiser="practice", learning_rate=OTHERS[1])
    for place in PLACES:
        for kind in FOUR[:2]:
            cell = declared(kind, LARGE, place, optimiser="practice")
            yield replace(cell, seeds=(0, 1, 2))
    for kind in FOUR[:2]:
        yield replace(declared(kind, 2 * LARGE), seeds=(0,))


def _budgets() -> Iterator[Cell]:
    kinds: tuple[Kind, ...] = ("one", "random")
    for n in (4, *MIDDLE):
        for kind, contexts in product(kinds, (32, at_equal_tokens(n), 32 * n)):
            yield declared(kind, n, contexts=contexts)
            if n < MIDDLE[-1]:
                yield declared(kind, n, contexts=contexts, optimiser="practice")
            if n in SMALL:
                for rate in OTHERS:
                    yield declared(kind, n, contexts=contexts, learning_rate=rate)


def _optimisers_and_masks() -> Iterator[Cell]:
    strict = Shape(mask="strict")
    for kind, n, place in product(FOUR, SMALL, PLACES):
        for optimiser in ("adamw", "practice"):
            yield declared(kind, n, place, optimiser=optimiser, shape=strict)
        for shape in (PLAIN, strict):
            yield declared(kind, n, place, optimiser="sgd", learning_rate=SGD[n], shape=shape)
    for kind, n, factor in product(FOUR[:2], SMALL, (0.5, 2.0)):
        yield declared(kind, n, optimiser="sgd", learning_rate=factor * SGD[n])


def _controls() -> Iterator[Cell]:
    kinds: tuple[Kind, ...] = ("full redrawn", "random redrawn", "upper", "short", "end")
    by: tuple[Place, ...] = ("by 1", "by 2")
    for n in MIDDLE:
        for kind in kinds:
            yield declared(kind, n)
        yield declared("end", n, "tied")
        for kind, place in product(FOUR[:2], by):
            yield declared(kind, n, place)
    for kind, n, place in product(FOUR[:2], (*MIDDLE, LARGE), PLACES):
        yield replace(declared(kind, n, place, given=True), seeds=(0, 1, 2))
    for n, place in product(SMALL, PLACES):
        yield declared("not last", n, place)
        yield replace(declared("end", n, place, given=True), seeds=(0, 1, 2))


def _ordinary() -> Iterator[Cell]:
    for kind, n in product(REPEATS, MIDDLE):
        yield declared(kind, n)
        yield declared(kind, n, "tied", shape=ROTARY)
        if n in SMALL:
            yield declared(kind, n, all_tokens=True)
            for rate in OTHERS:
                yield declared(kind, n, learning_rate=rate)
    for kind, n in product(FOUR[:2], MIDDLE):
        yield declared(kind, n, "tied", shape=ROTARY)


def _depths() -> Iterator[Cell]:
    positions: tuple[Positions, ...] = ("learned", "rotary")
    for kind, n, layers in product((*FOUR[:2], *REPEATS), SMALL, (2, 4, 6)):
        for how in positions:
            yield declared(kind, n, **deep(layers, how))
    four = deep(4, "rotary")
    for kind in (*FOUR[:2], *REPEATS):
        for rate in OTHERS:
            yield declared(kind, 16, learning_rate=rate, **four)
        yield declared(kind, 16, optimiser="practice", **four)
    for kind in REPEATS:
        yield declared(kind, 16, all_tokens=True, **four)
        yield declared(kind, 32, **four)


def effort(cell: Cell) -> float:
    """About what a cell costs, in units of its own: layers, tokens a step, and steps as N."""
    per_layer = 3 if cell.shape.blocks else 1
    steps = cell.n_pairs * (10.0 if cell.optimiser == "sgd" else ADAMW / cell.learning_rate)
    return per_layer * cell.shape.layers * cell.tokens * steps * len(cell.seeds)


PARTS = _sizes, _budgets, _optimisers_and_masks, _controls, _ordinary, _depths
RUNS = StoredRuns(
    run, tuple(sorted(dict.fromkeys(cell for part in PARTS for cell in part()), key=effort))
)
