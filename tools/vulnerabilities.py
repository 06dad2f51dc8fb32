"""Look the locked packages up in the database of known vulnerabilities."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

LOCKS = (
    *sorted(Path(__file__).parents[1].glob("requirements*")),
    Path(__file__).with_name("release_audit") / "requirements.hashes",
)
UNREACHABLE = ("ConnectionError", "ConnectTimeout", "ServiceError", "ReadTimeout", "ProxyError")


def main() -> int:
    """Return 0 where nothing is known, and where nothing can be looked up; say which."""
    if importlib.util.find_spec("pip_audit") is None:
        print("The packages are not audited, because pip-audit is not installed: install it.")
        return 1 if os.environ.get("CI") else 0
    order = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps"]
    order += ["--progress-spinner", "off", "--requirement"]
    worst = 0
    for lock in LOCKS:  # one at a time: not every one has checksums
        done = subprocess.run([*order, str(lock)], capture_output=True, text=True, check=False)
        if done.returncode and any(sign in done.stderr for sign in UNREACHABLE):
            print("Not all are audited, because the database of vulnerabilities is not reached.")
            return worst
        print(f"{lock.name}: {done.stdout}{done.stderr}", end="")
        worst = max(worst, done.returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
