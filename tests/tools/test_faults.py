"""Kills: a few here, many in `make drill WHAT=faults`."""

import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest
import torch

from bookbuild.execution.fork_server import FORKS
from bookbuild.results.cache import StoredCache
from bookbuild.results.store import Store
from emergence.running import cache
from emergence.training import MinimalTraining, TokenTraining, train_minimal, train_tokens
from interruption import bits
from tools.this_book import ROOT
from toy_book import LINE

FAULTS = int(os.environ.get("FAULTS", "1"))
CPU = torch.device("cpu")
MINIMAL = MinimalTraining(4, 16, 32, 80, snapshots=(7, 80))
TOKENS = TokenTraining(dim=32, vocabulary=16, block_size=16, n_pairs=4, batch_size=32, steps=40)
BUILD = [sys.executable, "-m", "bookbuild", "chapter", LINE, "--device", "cpu"]

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),
    pytest.mark.parametrize("again", range(FAULTS)),  # `dice` draws others each time
    pytest.mark.usefixtures("again"),
]


def killed(seconds, work, *arguments):
    """Fork, do some work, and kill it -9 at a moment; return whether it was still at it."""
    process = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    process.start()
    process.join(seconds)
    process.kill()
    process.join()
    assert process.exitcode in (0, -9)
    return process.exitcode != 0


def train(folder):
    with cache.attached(StoredCache(folder, ROOT / "src", "cpu", {}, interval=0.02)):
        tokens = train_tokens(TOKENS, 0, device=CPU)
        return train_minimal(MINIMAL, (0, 1), device=CPU), tokens.loss, tokens.model


def steps_kept(folder):
    """Return the step of each state, all of which have to be sound."""
    result = {key: Store(folder).get(key) for key in Store(folder).listed()}
    assert [remark for stored, remark in result.values() if stored is None] == []
    return {key: json.loads(s.files["value.json"])["step"] for key, (s, _) in result.items()}


@pytest.mark.skipif(not FORKS, reason="libraries do not survive it")
def test_a_training_killed_at_any_moment_goes_on_and_ends_in_the_same_bits(tmp_path, dice):
    started = time.monotonic()
    undisturbed = bits(train(tmp_path / "whole"))
    duration = time.monotonic() - started
    kept, kills = {}, 0
    while not (kills and kept):
        kills += killed(dice.uniform(0, duration / 2), train, tmp_path / "killed")
        after = steps_kept(tmp_path / "killed")
        assert all(after[key] >= step for key, step in kept.items())
        kept = after
    assert bits(train(tmp_path / "killed")) == undisturbed


def write(folder, first):
    """Write version after version of a result, and note each that was acknowledged."""
    with (folder / "acknowledged").open("a") as notes:
        for version in itertools.count(first):
            content = bytes([version % 256]) * 200_000
            Store(folder).put("x", "sweep", "x", {"version": version}, {"x": content})
            print(version, file=notes, flush=True)


def test_every_version_that_was_acknowledged_outlives_a_killed_writer(tmp_path, dice):
    written = 0
    for _ in range(6):
        assert killed(dice.uniform(0.05, 0.3), write, tmp_path, written)
        written = (tmp_path / "acknowledged").read_text().count("\n")
        stored, remark = Store(tmp_path).get("x")
        assert remark == ""
        version = stored.origin["version"] if stored else -1
        assert version >= written - 1
        assert stored is None or stored.files["x"] == bytes([version % 256]) * 200_000
        Store(tmp_path).tidy()
        assert not list(tmp_path.glob(".*"))
    assert written


def born(build, generation):
    """Return the build, its fork server or the kernel, once there is one."""
    while build.poll() is None:
        with suppress(psutil.NoSuchProcess):
            line = [psutil.Process(build.pid)]
            for below in line[0].children():
                if "bookbuild.execution.fork_server" in below.cmdline():
                    line += [below, *below.children(recursive=True)]
            if len(line) > generation:
                return line[generation]
        time.sleep(0.02)
    raise AssertionError("the build has ended")


def test_a_build_after_a_killed_one_is_as_if_nothing_had_been(unbuilt, dice):
    """Killed at any moment; other tests kill while a cell is executed."""
    generation = dice.randrange(3)
    with subprocess.Popen(BUILD, cwd=unbuilt.root, stderr=subprocess.PIPE, text=True) as build:
        target = born(build, generation)
        time.sleep(dice.uniform(0, 1))
        family = [build.pid, *(p.pid for p in psutil.Process(build.pid).children(recursive=True))]
        with suppress(psutil.NoSuchProcess):
            target.kill()
        _, output = build.communicate(timeout=300)
    assert "Traceback" not in output
    assert build.returncode or any(unbuilt.settings().results.glob("*.result"))
    assert all(unbuilt.ends(pid, seconds=120) for pid in family)
    again = subprocess.run(BUILD, cwd=unbuilt.root, capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (0, "")
    assert "2 (n = 3)   1.99 to 2.01   reproduced" in again.stdout
    assert not any(unbuilt.settings().running.iterdir())
    assert not (unbuilt.settings().results / "set-aside").exists()
