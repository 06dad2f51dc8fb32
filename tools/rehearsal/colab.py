"""Colab: python -m tools.rehearsal.colab [chapter ...], from the root of the repository.

A virtual environment with nothing but what Colab has, an empty folder, and a published notebook.
Its first cell runs as it is; git alone is told that the repository's address is this checkout.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from bookbuild.source.addresses import Addresses
from tools.rehearsal.kernel import bare_environment, run

# Versions that Colab had in 2025; torch is this project's own pin.
COLAB_HAS = (
    "ipykernel==6.17.1",
    "ipython==7.34.0",
    "matplotlib==3.10.0",
    "numpy==2.0.2",
    "scipy==1.16.3",
    "sympy==1.13.3",
    "torch==2.13.0",
)


def main(names: list[str]) -> None:
    """Run the named published notebooks, all by default; exit with the names that failed."""
    root = Path.cwd()
    tree, python = root / "_build/smoke/notebooks", root / "_build/rehearsal/colab/bin/python"
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *COLAB_HAS], check=True)
    found = {path.relative_to(tree / "book").with_suffix("").as_posix(): path
             for path in sorted(tree.rglob("*.ipynb"))}  # fmt: skip
    unknown = set(names) - set(found)
    if unknown or not found:
        sys.exit(
            f"There is no notebook {', '.join(unknown)} in {tree}: "
            "run make release WHAT=notebooks first."
        )
    failed = []
    with tempfile.TemporaryDirectory(prefix="colab-") as temporary:
        home = Path(temporary, "home")
        home.mkdir()
        environment = bare_environment(home) | {
            "COLAB_RELEASE_TAG": "rehearsal",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{root}.insteadOf",
            "GIT_CONFIG_VALUE_0": Addresses.read(root).repository,
        }
        for name in names or found:
            folder = Path(temporary, "content", name)
            folder.mkdir(parents=True)
            try:
                cost = run(found[name], python=python, folder=folder, environment=environment)
                print(f"{name}: {cost.seconds:.0f} s, {cost.memory:.0f} MiB", flush=True)
            except Exception as error:  # the next notebook is to be tried as well
                print(f"{name} failed: {error}", flush=True)
                failed.append(name)
    before = {line.partition("==")[0]: line for line in COLAB_HAS}
    done = subprocess.run([python, "-m", "pip", "freeze"], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        name, _, version = line.partition("==")
        if name in before and version.partition("+")[0] != before[name].partition("==")[2]:
            failed.append(f"{name} was changed to {version}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
