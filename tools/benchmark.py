"""What the fast methods cost beside the dense ones, and the floor that this machine implies.

python -m tools.benchmark measures both in one run: see `make record WHAT=benchmark`.
"""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
import torch
from jaxtyping import Float
from torch.utils.benchmark import Measurement, Timer, timer
from torch.utils.flop_counter import FlopCounterMode

from bookbuild.results.machine import machine_name
from chapters.paper import induction_heads
from emergence import analysis, tasks, theory
from emergence.presets import choose
from emergence.running.devices import generator
from emergence.training import (
    Full,
    Method,
    MinimalTraining,
    TokenTraining,
    initial_transformer,
    minimal_step,
    token_optimiser,
    token_step,
)

Step = Callable[[], object]
Name = TypeVar("Name", bound=str)
Row = dict[str, Any]

CPU = torch.device("cpu")  # `tools.gpu_check` times what a GPU replays
LEARNING_RATE = 1e-3  # the weights stay as drawn
METHODS: tuple[Method, ...] = ("dense", "fast")
MOST_REPEATS = 41
ROUNDS = 10  # of quick steps
SIZES = ((4, 16, 512), (16, 16, 512), (32, 16, 512), (16, 32, 256), (64, 64, 256))


@dataclass(frozen=True)
class Section2:
    """The attention-only transformer: loss at the query, backward, AdamW."""

    dim: int

    @property
    def name(self) -> str:
        return f"§2, D = {self.dim}"

    def step(self, method: Method) -> Step:
        settings = TokenTraining(dim=self.dim)
        stream = generator(0, CPU)
        model = initial_transformer(settings, stream)
        optimiser = token_optimiser(settings, model)
        # a batch of its own each time: one learned by heart leaves denormal gradients
        return lambda: token_step(settings, model, optimiser, stream, method)

    def array_bytes(self) -> int:
        """AdamW reads weights, gradients and two moments, and writes all but the gradients."""
        settings = TokenTraining(dim=self.dim)
        columns = 2 * settings.vocabulary + settings.block_size
        return 7 * 4 * (8 * self.dim**2 + columns * self.dim)


@dataclass(frozen=True)
class Section4:
    """The disentangled transformer: mean squared error, its gradient, descent, on a given batch."""

    n_pairs: int
    dim: int
    batch_size: int

    @property
    def name(self) -> str:
        return f"§4, N = {self.n_pairs}, D = {self.dim}, B = {self.batch_size}"

    def step(self, method: Method) -> Step:
        stream = generator(0, CPU)
        batch = tasks.gaussian_pairs(
            self.batch_size, self.n_pairs, self.dim, generator=stream, dtype=torch.float32
        )
        settings = MinimalTraining(
            self.n_pairs, self.dim, self.batch_size, 1, LEARNING_RATE, initial_scale=0.05
        )
        network = Full(settings, method)
        weights = network.start([stream], torch.float32)
        inputs, target = batch.inputs[None], batch.target[None]

        def step() -> None:
            _, gradient = minimal_step(network, weights, inputs, target)
            network.descend(weights, gradient)

        return step

    def array_bytes(self) -> int:
        """The inputs read forward and backward; layer 1's attention and its gradient, each
        written once and read once."""
        length = 2 * self.n_pairs + 1
        return 4 * self.batch_size * (2 * length * 2 * self.dim + 4 * length**2)


Case = Section2 | Section4


def section2_steps() -> int:
    """The steps that the chapter on §2 takes in all its settings, at the paper's sizes."""
    preset, grid = (choose(one, "paper") for one in (induction_heads.PRESET, induction_heads.GRID))
    runs = induction_heads.planned(preset, grid.settings, 0, CPU)
    return sum(run.settings.steps for planned in runs.values() for run in planned)


def peak(case: Case, method: Method) -> int | None:
    """Bytes by which the first step raises the peak; None where the system does not tell.

    A process that is killed, for want of memory say, raises BrokenProcessPool here.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        return fresh.submit(growth, case, method).result()


def growth(case: Case, method: Method) -> int | None:
    """The same in this process, which must be fresh."""
    step = case.step(method)
    before = _resident("VmRSS")
    if before is None:
        return None
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    step()
    highest = _resident("VmHWM")
    return None if highest is None else highest - before


def _resident(field: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


def spread(values: Sequence[float] | Float[np.ndarray, " repeats"]) -> Row:
    """Median and quartiles of the repeats, in seconds or as a ratio."""
    low, median, high = map(float, np.quantile(values, [0.25, 0.5, 0.75]))
    return {"median": median, "low": low, "high": high, "repeats": len(values)}


def measured(step: Step, least: float) -> Measurement:
    """The seconds of a call, among calls that take at least so long, as in training.

    One more call before them refills the caches.
    """
    threads = torch.get_num_threads()  # a Timer would take one
    clock = Timer("step()", globals={"step": step}, num_threads=threads)
    return clock.blocked_autorange(min_run_time=least)


def take_turns(
    steps: Mapping[Name, Step], budget: float
) -> dict[Name, Float[np.ndarray, " repeats"]]:
    """Time each step in turn, round after round, so that a drift of the machine meets all alike.

    The number of rounds, at least three, is what `budget` seconds allow. In a round each step is
    repeated for as long as the slowest one takes, so that all meet the same stretch of the machine.
    """
    least = budget / (ROUNDS * len(steps))
    least = max(least, *(measured(step, least).mean for step in steps.values()))
    end = timer() + budget
    rows: list[list[float]] = []
    while len(rows) < 3 or (timer() < end and len(rows) < MOST_REPEATS):
        rows.append([measured(step, least).mean for step in steps.values()])
    return dict(zip(steps, np.transpose(rows), strict=True))


def describe_machine(budget: float, *, size: int, count: int) -> Row:
    """Name, threads and versions of this machine, and its rates in operations and bytes a second.

    The rates are those of a square product of this size, in which a multiplication and an addition
    are two operations, and of a copy of so many numbers, which are read and written.
    """
    left, right, out = (torch.randn(size, size) for _ in range(3))
    source, copy = torch.zeros(count), torch.zeros(count)
    product = measured(lambda: torch.mm(left, right, out=out), budget).median
    return {
        "device": "cpu",
        "name": machine_name(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "product_rate": 2 * size**3 / product,
        "copy_rate": 2 * 4 * count / measured(lambda: copy.copy_(source), budget).median,
    }


def operations(step: Step) -> int:
    """Operations of the matrix products of a step; a multiplication and an addition are two."""
    with FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops()


def compared(cases: Sequence[Case], machine: Mapping[str, Any], budget: float) -> list[Row]:
    """Dense against fast at each size, and, when all is timed, the memory of both, two at once."""
    rows = [_turns(case, machine, budget) for case in cases]
    both = [(case, method) for case in cases for method in METHODS]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda one: peak(*one), both)
        return [row | {"peak_bytes": {m: next(found) for m in METHODS}} for row in rows]


def _turns(case: Case, machine: Mapping[str, Any], budget: float) -> Row:
    """Dense against fast at one size, with the floor that the machine's rates imply.

    The floor is the fast step's products at the rate of a large product, plus its arrays once at
    the rate of a copy.
    """
    both = {method: case.step(method) for method in METHODS}
    counted = {method: operations(step) for method, step in both.items()}
    times = take_turns(both, budget)
    floor = counted["fast"] / machine["product_rate"] + case.array_bytes() / machine["copy_rate"]
    return {
        "case": case.name,
        "sizes": vars(case),
        **{method: spread(values) for method, values in times.items()},
        "ratio": spread(times["dense"] / times["fast"]),
        "operations": counted,
        "floor": floor,
        "over_floor": float(np.median(times["fast"])) / floor,
    }


def emergence(n_pairs: int, budget: float) -> Row:
    """All emergence times of the reduced model at one N."""
    times = measured(lambda: theory.emergence_times(n_pairs), budget).times
    return {"n_pairs": n_pairs, "times": spread(times)}


def scaling(cases: Sequence[Section4], over: str, budget: float) -> Row:
    """Time of a step of §4 against one size, with the exponents of a fit."""
    rows = [take_turns({m: case.step(m) for m in METHODS}, budget) for case in cases]
    medians = {m: [float(np.median(times[m])) for times in rows] for m in METHODS}
    sizes = np.array([getattr(case, over) for case in cases])
    fits = {m: analysis.exponent(sizes, np.array(v))._asdict() for m, v in medians.items()}
    return {"over": over, "sizes": sizes.tolist(), "medians": medians, "exponents": fits}


@click.command()
@click.option(
    "--threads",
    type=click.IntRange(1),
    help="the number of threads for a step; by default one for each core",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="the file to which the JSON is written"
)
@click.option("--quick", is_flag=True, help="use toy sizes, to test that everything runs")
def main(threads: int | None, output: Path | None, quick: bool) -> None:
    """Measure what the fast methods cost beside the dense ones, in one run on one machine."""
    if threads:
        torch.set_num_threads(threads)
    results = measure(quick)
    path = output or Path("_build", "benchmark", "cpu.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for row in results["section2"] + results["section4"]:
        ratio, floor = row["ratio"]["median"], row["over_floor"]
        click.echo(f"{row['case']}: dense over fast {ratio:.1f}, fast over its floor {floor:.2f}")
    click.echo(f"written to {path}")


def measure(quick: bool) -> dict[str, Any]:
    """Every measurement of one run."""
    budget = 0.01 if quick else 2.0  # seconds a measurement
    size, count = (256, 2**20) if quick else (2048, 2**26)
    machine = describe_machine(budget, size=size, count=count)
    section2 = [Section2(dim) for dim in ((16,) if quick else (256, 1024, 2048))]
    section4 = [Section4(*sizes) for sizes in (SIZES[:1] if quick else SIZES)]
    batch_size = 2 if quick else 128
    over_pairs = [Section4(n, 16, batch_size) for n in (8, 16, 32, 64)]
    over_dim = [Section4(16, d, batch_size) for d in (16, 32, 64, 128)]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine,
        "section2": compared(section2, machine, 3 * budget),
        "section2_steps": section2_steps(),
        "section4": compared(section4, machine, 3 * budget),
        "emergence": [emergence(10 if quick else 10**6, budget)],
        "scaling": [scaling(over_pairs, "n_pairs", budget), scaling(over_dim, "dim", budget)],
    }


if __name__ == "__main__":
    main()
