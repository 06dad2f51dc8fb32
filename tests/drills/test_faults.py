"""The short version of `make faults`: nothing is lost."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_nothing_is_lost_by_faults():
    done = subprocess.run(
        [sys.executable, "-m", "drills.faults", "--short"],
        cwd=ROOT / "tests",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kill -9 during training" in done.stdout
