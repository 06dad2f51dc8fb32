"""The drill of interrupted chapters, all of them, in fresh processes without run-time checks."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_chapter_goes_on_to_the_same_bits_from_a_random_step():
    done = subprocess.run(
        [sys.executable, "-m", "drills.resume"],
        cwd=ROOT / "tests",
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert ", 0 lost" in done.stdout.splitlines()[-1]
