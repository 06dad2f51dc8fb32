"""Look the locked packages up in the database of known vulnerabilities."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements.hashes"
UNREACHABLE = ("ConnectionError", "ConnectTimeout", "ServiceError", "ReadTimeout", "ProxyError")


def main() -> int:
    """Return 0 where nothing is known, and where nothing can be looked up; say which."""
    if importlib.util.find_spec("pip_audit") is None:
        if os.environ.get("CI"):
            print("pip-audit is not installed.", file=sys.stderr)
            return 1
        print(
            "The packages are not audited, because pip-audit is not installed: pip install "
            "pip-audit."
        )
        return 0
    order = [sys.executable, "-m", "pip_audit", "--disable-pip", "--progress-spinner", "off"]
    done = subprocess.run(
        [*order, "--requirement", str(LOCK)], capture_output=True, text=True, check=False
    )
    if done.returncode and any(sign in done.stderr for sign in UNREACHABLE):
        print(
            "The packages are not audited, because the database of vulnerabilities cannot be "
            "reached."
        )
        return 0
    print(done.stdout + done.stderr, end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
