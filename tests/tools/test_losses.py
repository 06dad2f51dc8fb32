"""The drills of faults and of interrupted chapters, in short and without run-time checks."""

import os
import re
import subprocess
import sys

import pytest

from bookbuild.results.store import Store
from tools.faults.row import results
from tools.this_book import ROOT

# one for each kind of training
CHAPTERS = [
    "paper/02_induction_heads", "paper/05_emergence", "paper/A_structure_proof",
    "companions/01_retrieval", "companions/02_grokking", "companions/03_clustering",
    "companions/04_weight_norm", "companions/05_associative_memories",
    "companions/06_factual_recall", "companions/07_birth",
]  # fmt: skip


@pytest.mark.parametrize(
    ("order", "told"),
    [
        (["tools.faults", "--short"], "kill -9 during training"),
        (["tools.resume", *CHAPTERS], r", 0 lost\n$"),
    ],
    ids=["faults", "states of a random step"],
)
def test_nothing_is_lost_by(order, told):
    done = subprocess.run(
        [sys.executable, "-m", *order],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert re.search(told, done.stdout)


def test_the_state_of_a_long_training_is_no_result(tmp_path):
    for kind in ("chapter", "sweep", "training", "checkpoint"):
        Store(tmp_path).put(kind, kind, "x", {}, {"x": b"1"})
    assert set(results(tmp_path, "x")) == {"chapter", "sweep"}
