"""What a GPU gives, in minutes and unattended: python -m tools.gpu_check [--output FOLDER].

Each part has a process and a limit of its own. One that fails is told, and the next one runs. What
is found goes to `check.jsonl` as it is found, a line each, and what it means to `summary.md`. The
exit code is 1 where bits differ or a part fails. Without a GPU there is nothing to check.
"""

import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import click
import torch

from bookbuild.reporting import provenance
from bookbuild.results import executed
from bookbuild.results.keys import chapter_key
from bookbuild.results.machine import gpu, pin
from bookbuild.settings import BuildSettings, default_jobs
from bookbuild.source.chapters import read_chapters, read_toc
from emergence.running import devices, graphs, loop
from tools.emulation import Kernels, emulated

ROOT = Path(__file__).parents[1]
Row = dict[str, Any]
LIMITS = {"machine": 30, "graphs": 150, "twice": 90, "resumed": 90, "bench": 150, "chapters": 400}
EMULATED = ("graphs", "twice", "resumed")
STEPS = 60
FEW = {"walked": 40, "replayed": 500, "dense": 20}  # steps of the shorter of two timed trainings
FEWER = 200  # of a training of the tests, some of which diverge later
USED = "seconds", "gpu_seconds", "gpu_memory", "memory", "stepwise"
LARGE = 2**26  # bytes of an array that no cache holds
NODES = 1000  # of the graph that times one
DENSE = {"method": "dense"}


def trainings() -> dict[str, Callable[[int, torch.device], Any]]:
    """The trainings of the tests."""
    sys.path.insert(0, str(ROOT / "tests"))
    from trainings import TRAININGS

    return TRAININGS


def digest(result: Any) -> str:
    """A checksum of a result's bits."""
    from interruption import bits

    return hashlib.sha256(repr(bits(result)).encode()).hexdigest()[:16]


def stepwise(run: Callable[[], Any], walked: bool) -> tuple[Any, float]:
    """What a run gives walked step by step, or replayed, and its seconds."""
    os.environ["GRAPHS"] = "0" if walked else "1"
    start = time.perf_counter()
    result = run()
    torch.cuda.synchronize()
    return result, time.perf_counter() - start


def each(check: Callable[[Callable[[], Any]], Row]) -> Iterator[Row]:
    """What a check finds of each training, or why it fails."""
    for name, train in trainings().items():
        try:
            found = check(partial(train, STEPS, torch.device("cuda")))
        except Exception as error:  # whatever it is, the others are tried
            found = {"equal": False, "error": f"{type(error).__name__}: {error}"[:300]}
        yield {"training": name} | found


def part_graphs() -> Iterator[Row]:
    """Whether replayed trainings have the bits of walked ones, and what they say."""

    def compared(run: Callable[[], Any]) -> Row:
        graphs.stepwise.clear()
        (eager, slow), (again, fast) = stepwise(run, True), stepwise(run, False)
        times = {"walked_ms": 1e3 * slow / STEPS, "replayed_ms": 1e3 * fast / STEPS}
        told = {"bits": digest(again), "refused": list(graphs.stepwise)}
        return {"equal": digest(eager) == told["bits"], **told, **times}

    yield from each(compared)
    if torch.version.cuda:  # emulated, it is an error
        yield {"training": "a value is read", **_after_a_slip()}


def _after_a_slip() -> Row:
    """A step that cannot be recorded is walked, and its stream draws what it would have drawn."""

    def run() -> Any:
        device = torch.device("cuda")
        x, stream = torch.ones(2, device=device), devices.generator(0, device)

        def step(recorded: bool) -> tuple[torch.Tensor, None]:
            x.add_(torch.randn(2, generator=stream, device=device))
            return x.sum() + x.sum().item(), None

        loop.descend(40, "slip", step, rows=[], x=x, stream=stream)
        return x, torch.randn(3, generator=stream, device=device)

    (eager, _), (again, _) = stepwise(run, True), stepwise(run, False)
    return {"equal": digest(eager) == digest(again), "refused": list(graphs.stepwise)}


def part_twice() -> Iterator[Row]:
    """The same bits, to be compared with those of another process."""
    yield from each(lambda run: {"bits": digest(stepwise(run, False)[0])})


def part_resumed() -> Iterator[Row]:
    """Whether a training that is killed in the midst of a stretch ends in the same bits."""

    def resumed(run: Callable[[], Any]) -> Row:
        from interruption import assert_resumes

        assert_resumes(run, 2, stretches=True)
        return {"equal": True}

    os.environ["GRAPHS"] = "1"
    yield from each(resumed)


def part_machine() -> Iterator[Row]:
    """Names, versions, and the rates that floors are made of."""
    busy = subprocess.run(["pgrep", "-f", "nvidia-cuda-mps"], capture_output=True, check=False)
    x = torch.zeros(1, device="cuda")

    def copied(size: int) -> float:  # bytes a second
        one, other = (torch.zeros(size // 4, device="cuda") for _ in range(2))
        return 2 * size / replayed_seconds(lambda: other.copy_(one), 100)

    def product(size: int) -> float:  # operations a second
        one, other, out = (torch.randn(size, size, device="cuda") for _ in range(3))
        return 2 * size**3 / replayed_seconds(lambda: torch.mm(one, other, out=out), 20)

    yield {
        "commit": provenance.commit(ROOT), "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "gpu": gpu(), "torch": torch.__version__, "python": platform.python_version(),
        "cores": os.cpu_count(), "mps": busy.returncode == 0,
        "registers_streams": hasattr(torch.cuda.CUDAGraph, "register_generator_state"),
        "node": replayed_seconds(lambda: x.add_(1), NODES),
        "call": seconds(lambda: [x.add_(1) for _ in range(NODES)]) / NODES,
        "copy": {size: copied(size) for size in (2**16, 2**20, 2**24, LARGE)},
        "product": {size: product(size) for size in (256, 1024, 4096)},
    }  # fmt: skip


def replayed_seconds(work: Callable[[], Any], times: int) -> float:
    """Seconds of some work in a graph of so many times."""
    with graphs.CudaGraph.aside():
        work()
        recorded = graphs.CudaGraph(lambda: [work() for _ in range(times)], ())
        return seconds(recorded.replay) / times


def seconds(work: Callable[[], Any]) -> float:
    """Median of five, of the GPU's own clock."""
    found = []
    for _ in range(6):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(end) / 1e3)
    return median(found[1:])


def part_bench() -> Iterator[Row]:
    """Milliseconds of a step, walked and replayed, beside the floor of its graph."""
    from chapters.paper.emergence import PRESET
    from emergence.presets import choose
    from emergence.training import TokenTraining, train_minimal, train_tokens

    (machine,) = part_machine()
    device, figure = (
        torch.device("cuda"),
        replace(choose(PRESET, "paper").settings.training, snapshots=()),
    )

    def minimal(steps: int, **method: Any) -> Any:
        return train_minimal(replace(figure, steps=steps), range(5), device=device, **method)

    def tokens(dim: int, steps: int, **method: Any) -> Any:
        return train_tokens(TokenTraining(dim=dim, steps=steps), 0, device=device, **method)

    cases: dict[str, Callable[..., Any]] = {"Figure 4, five seeds": minimal}
    cases |= {f"§2, D = {dim}": partial(tokens, dim) for dim in (256, 1024, 2048)}
    for name, run in cases.items():
        times = {f"{kind}_ms": step_ms(run, kind, few) for kind, few in FEW.items()}
        yield {"case": name} | times | floor_of(run, machine)
    for name, train in trainings().items():
        run = partial(train, device=device)
        time = {"replayed_ms": step_ms(run, "replayed", FEWER)}
        yield {"training": name} | time | floor_of(run, machine)


def step_ms(run: Callable[..., Any], kind: str, few: int) -> float:
    """Milliseconds of a step, between a training and one of three times as many steps."""
    method = DENSE if kind == "dense" else {}
    stepwise(partial(run, few, **method), kind == "walked")
    times = [stepwise(partial(run, n, **method), kind == "walked")[1] for n in (few, 3 * few)]
    return 1e3 * (times[1] - times[0]) / (2 * few)


def floor_of(run: Callable[..., Any], machine: Row) -> Row:
    """Kernels of a step, and the milliseconds of a graph that does nothing but them."""
    rate, product = machine["copy"][LARGE], max(machine["product"].values())
    os.environ["GRAPHS"] = "0"
    floors, counts = [], []
    for steps in (12, 24):
        with Kernels() as costs:
            run(steps)
        least = (max(machine["node"], b / rate, f / product) for b, f in costs.costs)
        floors.append(sum(least))
        counts.append(len(costs.costs))
    return {"kernels": (counts[1] - counts[0]) / 12, "floor_ms": 1e3 * (floors[1] - floors[0]) / 12}


def part_chapters() -> Iterator[Row]:
    """Seconds of all chapters that train on a GPU, at the paper's sizes, several at once."""
    settings = BuildSettings(ROOT, device="cuda", jobs=default_jobs("cuda"))
    pages = [page for page in read_chapters(ROOT, read_toc(ROOT)) if page.device != "cpu"]
    order = [sys.executable, "-m", "bookbuild", "chapter", "--device", "cuda"]
    start, error = time.perf_counter(), ""
    try:
        subprocess.run(
            order + [page.name for page in pages],
            cwd=ROOT, capture_output=True, text=True, check=True, timeout=LIMITS["chapters"] - 30,
        )  # fmt: skip
    except subprocess.CalledProcessError as failure:
        error = failure.stderr[-300:]
    except subprocess.TimeoutExpired:
        error = "the time was up"
    whole = {"together": len(pages), "jobs": settings.jobs, "seconds": time.perf_counter() - start}
    yield whole | ({"error": error} if error else {})
    for page in pages:
        if entry := executed.find(settings, chapter_key(page, settings))[0]:
            used = {name: entry.origin[name] for name in USED if name in entry.origin}
            yield {"chapters": page.name, "jobs": settings.jobs} | used


PARTS = {name.removeprefix("part_"): make for name, make in globals().items() if "part_" in name}


@click.command()
@click.option("--output", type=click.Path(path_type=Path), default=Path("_build", "gpu_check"))
@click.option("--part", type=click.Choice(list(LIMITS)), help="this part alone, in this process")
@click.option("--seconds", default=480, show_default=True, help="for all parts together")
@click.option("--emulate", is_flag=True, help="try the parts that need no clock without a GPU")
def main(output: Path, part: str | None, seconds: int, emulate: bool) -> None:
    """Check what a GPU gives."""
    output.mkdir(parents=True, exist_ok=True)
    if not torch.cuda.is_available() and not emulate:
        click.echo("There is no GPU here, and nothing to check.")
        return
    if part:
        pin("" if emulate else "cuda")
        if part == "twice" and not emulate:  # an operation without a fixed order is an error there
            torch.use_deterministic_algorithms(True)
        with emulated() if emulate else nullcontext(), (output / "check.jsonl").open("a") as file:
            for row in PARTS[part]():
                print(json.dumps({"part": part} | row), file=file, flush=True)
        return
    (output / "check.jsonl").unlink(missing_ok=True)
    failed, end = [], time.monotonic() + seconds
    for name, limit in LIMITS.items():
        if emulate and name not in EMULATED:
            continue
        order = [sys.executable, "-m", "tools.gpu_check", "--part", name]
        order += ["--output", str(output.resolve())]
        try:
            left = max(1.0, min(limit, end - time.monotonic()))
            subprocess.run(order + ["--emulate"] * emulate, timeout=left, check=True, cwd=ROOT)
        except subprocess.SubprocessError as error:
            failed.append(f"{name}: {error}"[:200])
    rows = [json.loads(line) for line in (output / "check.jsonl").read_text().splitlines()]
    lines, differ = summary(rows)
    text = "\n".join([*lines, *(f"FAILED {each}" for each in failed)])
    (output / "summary.md").write_text(text + "\n", encoding="utf-8")
    click.echo(text)
    sys.exit(bool(failed or differ))


def summary(rows: list[Row]) -> tuple[list[str], bool]:
    """What the rows say, in lines, and whether bits differ."""
    of = {name: [row for row in rows if row["part"] == name] for name in LIMITS}
    first = {row["training"]: row.get("bits") for row in of["graphs"]}
    twice = {r["training"]: r.get("bits", "") == first.get(r["training"]) for r in of["twice"]}
    equal = {row["training"]: row.get("equal", False) for row in of["graphs"]}
    resumed = {row["training"]: row["equal"] for row in of["resumed"]}
    lines = [f"{row['gpu']}, torch {row['torch']}" for row in of["machine"]]
    for name, found in (("graph = eager", equal), ("twice", twice), ("resumed", resumed)):
        wrong = ", ".join(each for each, right in found.items() if not right)
        lines.append(
            f"{name}: {sum(found.values())} of {len(found)}" + (f", not {wrong}" * bool(wrong))
        )
    lines += [f"walks step by step: {r['training']}" for r in of["graphs"] if r.get("refused")]
    lines += [
        f"{r['case']}: {r['walked_ms']:.2f} → {r['replayed_ms']:.2f} ms, "
        f"dense {r['dense_ms']:.2f}, floor {r['floor_ms']:.2f}"
        for r in of["bench"]
        if "case" in r
    ]
    lines += [
        f"{r['training']}: {r['replayed_ms']:.2f} ms, {r['replayed_ms'] / r['floor_ms']:.1f} floors"
        for r in of["bench"]
        if "training" in r
    ]
    lines += [
        f"{r.get('chapters') or r['together']}: {r['seconds']:.0f} s{' failed' * ('error' in r)}"
        for r in of["chapters"]
    ]
    return lines, not all((*equal.values(), *twice.values(), *resumed.values()))


if __name__ == "__main__":
    main()
