"""Whether the workflow of the book's repository has signed a file of published results."""

import shutil
import subprocess
from pathlib import Path

from bookbuild.source.addresses import Addresses


def signed(path: Path, root: Path) -> str:
    """Return a sentence on where a file comes from, by GitHub's command line.

    Args:
        path: the file.
        root: of the book, whose repository must have signed it.
    """
    addresses, program = Addresses.find(root), shutil.which("gh")
    if addresses is None or program is None:
        lacking = "gh is not installed" if addresses else "the book has no address on GitHub"
        return f"not asked who made the file, for {lacking}"
    repository = f"{addresses.owner}/{addresses.name}"
    order = [program, "attestation", "verify", str(path), "--repo", repository]
    done = subprocess.run(order, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return f"signed by the workflow of {repository}"
    reason = next(iter(done.stderr.strip().splitlines()[-1:]), "no reason is given")
    return f"not signed by the workflow of {repository}: {reason}"
