"""Whether the workflow of the book's repository has signed a file of published results."""

import shutil
from pathlib import Path

from bookbuild.processes import ran
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
    done = ran([program, "attestation", "verify", str(path), "--repo", repository])
    if done.returncode == 0:
        return f"signed by the workflow of {repository}"
    reason = next(iter(done.stderr.strip().splitlines()[-1:]), "no reason is given")
    return f"not signed by the workflow of {repository}: {reason}"
