"""Open chapters of the smoke profile as Colab and Binder would, on this machine.

python -m tools.rehearsal colab|binder [chapter ...], from the root of the repository, after
make release WHAT=notebooks PROFILE=smoke. Colab: an environment with nothing but what Colab has, an
empty folder, and a published notebook; git is told that the repository's address is this checkout.
Binder: the postBuild of a fresh clone runs in an environment of its own, then a chapter.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import nbformat
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from bookbuild.source.addresses import Addresses
from tools.toy_book import git

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
MEMORY = 1024  # mebibytes that Binder promises
PEAK = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
DROPPED = ("PYTHONPATH", "VIRTUAL_ENV", "MPLBACKEND", "JUPYTER_PATH", "IPYTHONDIR")


def execute(notebook: Path, python: Path, folder: Path, environment: Mapping[str, str]) -> float:
    """Execute a notebook with another Python; return the mebibytes that its kernel had at most."""
    spec = folder.parent / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True, exist_ok=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    kernels = KernelSpecManager(kernel_dirs=[str(spec.parents[1])])
    manager = KernelManager(kernel_name="python3", kernel_spec_manager=kernels)
    read = nbformat.read(notebook, as_version=4)
    read.cells.append(new_code_cell(PEAK))
    began = time.monotonic()
    try:
        NotebookClient(read, km=manager, timeout=1800).execute(
            cwd=str(folder), env={**environment, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        )
    finally:
        if manager.has_kernel:
            manager.shutdown_kernel(now=True)
    memory = float(read.cells[-1].outputs[0].text) / 1024
    print(f"{notebook.stem}: {time.monotonic() - began:.0f} s, {memory:.0f} MiB", flush=True)
    return memory


def colab(tree: Path, names: list[str], folder: Path, environment: dict[str, str]) -> list[str]:
    """Run published notebooks, all by default; return what went wrong."""
    python = tree.parents[1] / "rehearsal" / "colab" / "bin" / "python"
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *COLAB_HAS], check=True)
    environment |= {
        "COLAB_RELEASE_TAG": "rehearsal",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{Path.cwd()}.insteadOf",
        "GIT_CONFIG_VALUE_0": Addresses.read(Path.cwd()).repository,
    }
    failed = []
    notebooks = [tree / "book" / f"{name}.ipynb" for name in names] or sorted(tree.rglob("*.ipynb"))
    for number, notebook in enumerate(notebooks):
        (content := folder / "content" / str(number)).mkdir(parents=True)
        try:
            execute(notebook, python, content, environment)
        except Exception as error:  # the next notebook is to be tried as well
            failed.append(f"{notebook.stem} failed: {error}")
    freeze = [python, "-m", "pip", "freeze"]
    done = subprocess.run(freeze, capture_output=True, text=True, check=True).stdout
    has = {line.partition("+")[0] for line in done.splitlines()}
    return failed + [f"{package} was changed" for package in COLAB_HAS if package not in has]


def binder(tree: Path, names: list[str], folder: Path, environment: dict[str, str]) -> list[str]:
    """Run postBuild in a fresh clone and the named chapters; return what went wrong."""
    origin, published, clone = folder / "origin.git", folder / "published", folder / "clone"
    git(Path.cwd(), "clone", "--quiet", "--bare", ".", str(origin))
    shutil.copytree(tree, published)
    git(published, "init", "--quiet", "--initial-branch=notebooks")
    git(published, "add", "--all")
    git(published, "commit", "--quiet", "--message=notebooks")
    git(published, "push", "--quiet", "--force", str(origin), "notebooks")
    git(folder, "clone", "--quiet", "--depth=1", origin.as_uri(), str(clone))
    python = folder / "environment" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
    # it sees this environment's packages but not its own editable installs
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = python.parents[1] / "lib" / version / "site-packages" / "packages.pth"
    packages.write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    environment["PATH"] = f"{python.parent}{os.pathsep}{environment['PATH']}"
    subprocess.run(["./postBuild"], cwd=clone, env=environment, check=True)
    failed = ["postBuild changed files that git tracks"] * bool(git(clone, "status", "--porcelain"))
    for name in names or ["paper/05_emergence"]:
        notebook = clone / "book" / f"{name}.ipynb"
        if not any(cell.get("outputs") for cell in nbformat.read(notebook, as_version=4).cells):
            failed.append(f"{name} opens without its stored outputs")
        if execute(notebook, python, notebook.parent, environment) > MEMORY:
            failed.append(f"{name} needs more than {MEMORY} MiB")
    return failed


def main(service: str, names: list[str]) -> None:
    """Rehearse; exit with what went wrong, if anything did."""
    tree = Path.cwd() / "_build" / "smoke" / "notebooks"
    with tempfile.TemporaryDirectory(prefix=f"{service}-") as temporary:
        folder = Path(temporary)
        (home := folder / "home").mkdir()
        environment = {key: value for key, value in os.environ.items() if key not in DROPPED}
        environment |= {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
        failed = {"colab": colab, "binder": binder}[service](tree, names, folder, environment)
    sys.exit("\n".join(failed) or None)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
