"""kill -9 at random moments of training, of writing to the store, and of executing chapters."""

import json
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import torch

from bookbuild.execution.fork_server import CODE_FILE
from bookbuild.reporting.notebook import MEASURES_FILE
from bookbuild.results.cache import StoredCache
from bookbuild.results.store import Store
from bookbuild.settings import Settings
from emergence.training import MinimalTraining, TokenTraining, train_minimal, train_tokens
from running import cache
from tools.faults.row import Row, kill_after, results, seconds_of
from tools.this_book import ROOT
from tools.toy_book import LINE, Toy, new_toy

CPU = torch.device("cpu")
MINIMAL = MinimalTraining(4, 16, 32, 150, snapshots=(7, 150))
TOKENS = TokenTraining(dim=32, vocabulary=16, block_size=16, n_pairs=4, batch_size=32, steps=80)
KEYS = [f"{number:032x}" for number in range(4)]
VICTIMS = ("build", "fork server", "worker", "kernel")


def train(folder: Path, seed: int, interval: float) -> None:
    """Train both networks with states kept in a folder; leave a checksum of every bit."""
    remembering = StoredCache(folder / "states", ROOT / "src", "cpu", {}, interval)
    with cache.attached(remembering):
        minimal = train_minimal(MINIMAL, (seed, seed + 1), device=CPU)
        tokens = train_tokens(TOKENS, seed, device=CPU)
    parts = [*minimal[:4], *minimal.snapshots[150], tokens.loss, *tokens.model.parameters()]
    bits = [part.detach().numpy().tobytes().hex() for part in parts]
    (folder / "bits.part").write_text(json.dumps(bits))
    os.replace(folder / "bits.part", folder / "bits")


def training(kills: int, folder: Path, dice: random.Random) -> Row:
    """Kill trainings, let them go on, and compare with undisturbed ones to the bit."""
    row = Row("kill -9 during training")
    number = 0
    while row.tried < kills:
        number += 1
        undisturbed, disturbed = (folder / f"{number}-{name}" for name in ("whole", "killed"))
        for path in (undisturbed, disturbed):
            path.mkdir(parents=True)
        duration = seconds_of(train, undisturbed, number, 1e6)
        before: dict[str, int] = {}
        while not (disturbed / "bits").exists():
            most = duration if row.tried < kills else 1e6
            moment = dice.uniform(0, most) if row.tried < kills else most
            if kill_after(moment, train, disturbed, number, 0.02):
                row.tried += 1
                after = steps_kept(disturbed, row)
                row.check(
                    all(after.get(key, -1) >= step for key, step in before.items()),
                    f"training {number}: a state went back",
                )
                row.noticed += after != {}  # otherwise it was too early for a state
                before = after
        equal = (undisturbed / "bits").read_text() == (disturbed / "bits").read_text()
        row.check(equal, f"training {number}: other bits")
    row.remark = f"{row.noticed} went on from a state; {number} results compared bit by bit"
    row.noticed = row.tried
    return row


def steps_kept(folder: Path, row: Row) -> dict[str, int]:
    """Return the step of each state in a folder; a damaged one counts as a loss."""
    store = Store(folder / "states")
    found = {}
    for key in store.listed():
        stored, remark = store.get(key)
        row.check(stored is not None, remark)
        if stored is not None:
            found[key] = json.loads(stored.files["value.json"])["step"]
    return found


def content(version: int) -> bytes:
    """Return what a version of a result holds."""
    return np.random.default_rng(version).bytes(200_000)


def write(folder: Path, first: int) -> None:
    """Write version after version, and note each that was acknowledged."""
    store = Store(folder)
    with (folder / "acknowledged").open("a") as notes:
        for version in range(first, first + 10_000):
            key = KEYS[version % len(KEYS)]
            store.put(key, "sweep", "x", {"version": version}, {"x": content(version)})
            notes.write(f"{version}\n")
            notes.flush()


def writing(kills: int, folder: Path, dice: random.Random) -> Row:
    """Kill writers; every result is whole, and none that was acknowledged is gone."""
    row = Row("kill -9 during writes to the store")
    folder.mkdir(parents=True)
    store, interrupted = Store(folder), 0
    while row.tried < kills:
        following = max(noted(folder), default=-1) + 1
        row.tried += kill_after(dice.uniform(0.01, 0.3), write, folder, following)
        known = noted(folder)
        for place, key in enumerate(KEYS):
            stored, remark = store.get(key)
            acknowledged = max((v for v in known if v % len(KEYS) == place), default=None)
            row.check(not remark, remark)
            if stored is None:
                row.check(acknowledged is None, f"version {acknowledged} is gone")
                continue
            version = stored.origin["version"]
            row.check(stored.files["x"] == content(version), f"version {version} is not whole")
            row.check(acknowledged is None or version >= acknowledged, "an older one came back")
        interrupted += bool(store.tidy())
    row.noticed = row.tried
    row.remark = f"{interrupted} were in the middle of a file; {max(known) + 1} results written"
    return row


def noted(folder: Path) -> list[int]:
    """Return the versions whose writing was acknowledged, none if the writer never got so far."""
    path = folder / "acknowledged"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def executing(kills: int, folder: Path, dice: random.Random) -> Row:
    """Kill builds, or any process they start; the next build ends as if nothing had been."""
    row = Row("kill -9 during the execution of chapters")
    toy = new_toy(folder)
    started = time.monotonic()
    _build(folder).wait()
    duration = time.monotonic() - started
    whole = results(toy.settings().results, MEASURES_FILE)
    victims = dict.fromkeys(VICTIMS, 0)
    while row.tried < kills:
        for path in toy.settings().results.glob("*.result"):
            path.unlink()
        build = _build(folder)
        deadline = time.monotonic() + dice.uniform(0, duration)
        victim = dice.choice(VICTIMS)
        target = None
        while build.poll() is None and (target is None or time.monotonic() < deadline):
            target = _process(build.pid, victim) or target
            time.sleep(0.02)
        if target is None or not _stopped_at_work(target, toy.settings()):
            build.communicate()
            continue
        family = [build.pid, *(p.pid for p in psutil.Process(build.pid).children(recursive=True))]
        target.kill()
        row.tried += 1
        victims[victim] += 1
        _, told = build.communicate()
        row.noticed += build.returncode != 0
        row.check(build.returncode != 0 or victim == "kernel", f"a killed {victim} went unnoticed")
        row.check("Traceback" not in told, f"a killed {victim} ended in a traceback")
        row.check(_all_gone(family), f"processes outlive a killed {victim}")
        store = Store(toy.settings().results)
        row.check(not any(store.get(key)[1] for key in store.listed()), "a damaged result")
    row.check(_build(folder).wait() == 0, "the last build fails")
    measured = results(toy.settings().results, MEASURES_FILE)
    row.check(measured == whole, "other numbers than undisturbed")
    row.check(not any(toy.settings().running.glob("*")), "leftovers in the folder of running ones")
    row.remark = ", ".join(f"{name} {count} times" for name, count in victims.items())
    return row


def _build(folder: Path) -> subprocess.Popen[str]:
    """Start a build of the toy book that ends before the site."""
    return subprocess.Popen(
        [sys.executable, "-m", "bookbuild", "chapter", LINE, "--device", "cpu"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _process(build: int, kind: str) -> psutil.Process | None:
    """Return the build, its fork server, or what that forked: the worker, and this the kernel."""
    with suppress(psutil.NoSuchProcess):
        line = [psutil.Process(build)]
        below = line[0].children(recursive=True)
        line += [one for one in below if "bookbuild.execution.fork_server" in one.cmdline()]
        return dict(zip(VICTIMS, line, strict=False)).get(kind)
    return None


def _stopped_at_work(process: psutil.Process, settings: Settings) -> bool:
    """Stop a process, and return whether the build still waits for the end of its worker.

    A process that ended by itself, or a fork server whose worker's end is known, would not be
    missed; such a server goes on. What is stopped can neither end nor tell anything meanwhile.
    """
    with suppress(psutil.NoSuchProcess):
        process.suspend()
        while (status := process.status()) not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE):
            time.sleep(0.001)
        told = any(settings.running.glob(f"*/{CODE_FILE}"))
        kept = any(settings.results.glob("*.result"))  # in this order: then the code is removed
        if status == psutil.STATUS_STOPPED and not told and not kept:
            return True
        process.resume()
    return False


def _all_gone(family: list[int]) -> bool:
    """Return whether processes end soon, as the watchers promise; a loaded machine takes longer."""
    deadline = time.monotonic() + 120
    return all(Toy.ends(pid, seconds=deadline - time.monotonic()) for pid in family)
