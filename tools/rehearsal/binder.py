"""Binder: python -m tools.rehearsal.binder [chapter], from the root of the repository.

repo2docker reads a fresh clone (without Docker, so it builds nothing); then the clone's own
postBuild runs in an environment of its own, and one chapter of the smoke profile is executed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

from tools.rehearsal.kernel import bare_environment, run
from tools.toy_book import git

MEMORY = 1024  # mebibytes
CHAPTER = "paper/05_emergence"


def main(names: list[str]) -> None:
    """Rehearse; exit with one sentence if a step fails or a chapter needs too much memory."""
    root, name = Path.cwd(), (names or [CHAPTER])[0]
    with tempfile.TemporaryDirectory(prefix="binder-") as temporary:
        folder = Path(temporary)
        clone = _clone(root, root / "_build/smoke/notebooks", folder)
        _read_by_repo2docker(clone)
        python = _environment(folder / "environment")
        home = folder / "home"
        home.mkdir()
        environment = bare_environment(home)
        environment["PATH"] = f"{python.parent}{os.pathsep}{environment['PATH']}"
        subprocess.run(["./postBuild"], cwd=clone, env=environment, check=True)
        if git(clone, "status", "--porcelain"):
            sys.exit("postBuild changed files that git tracks.")
        notebook = clone / "book" / f"{name}.ipynb"
        if not any(cell.get("outputs") for cell in nbformat.read(notebook, as_version=4).cells):
            sys.exit(f"{name} opens without its stored outputs: check the published branch.")
        cost = run(notebook, python=python, folder=notebook.parent, environment=environment)
        print(f"{name}: {cost.seconds:.0f} s, {cost.memory:.0f} MiB")
        if cost.memory > MEMORY:
            sys.exit(f"{name} needs more than {MEMORY} MiB.")


def _clone(root: Path, tree: Path, folder: Path) -> Path:
    """Return a fresh clone whose origin has a branch with the published notebooks."""
    origin, published, clone = folder / "origin.git", folder / "published", folder / "clone"
    git(root, "clone", "--quiet", "--bare", str(root), str(origin))
    shutil.copytree(tree, published)
    for arguments in (
        ("init", "--quiet", "--initial-branch=notebooks"),
        ("add", "--all"),
        ("commit", "--quiet", "--message=notebooks"),
        ("push", "--quiet", "--force", str(origin), "notebooks"),
    ):
        git(published, *arguments)
    git(folder, "clone", "--quiet", "--depth=1", f"file://{origin}", str(clone))
    return clone


def _read_by_repo2docker(clone: Path) -> None:
    """Let repo2docker write its Dockerfile, where it is installed."""
    program = Path(sys.executable).with_name("jupyter-repo2docker")
    if not program.is_file():
        print(
            "Binder is not rehearsed, because repo2docker is not installed: pip install "
            "jupyter-repo2docker"
        )
        return
    done = subprocess.run(
        [program, "--no-build", "--debug", "."], cwd=clone, capture_output=True, text=True
    )
    told = done.stdout + done.stderr
    if done.returncode or "environment.yml" not in told or "postBuild" not in told:
        sys.exit(f"repo2docker does not read this repository:\n{told[-2000:]}")
    print("repo2docker reads environment.yml and postBuild")


def _environment(folder: Path) -> Path:
    """Return a Python that sees this one's packages and installs into a place of its own."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    mine, theirs = (
        Path(prefix, "lib", f"python{sys.version_info.major}.{sys.version_info.minor}")
        / "site-packages"
        for prefix in (folder, sys.prefix)
    )
    # the path alone: this environment's own editable installs stay out
    (mine / "packages.pth").write_text(f"{theirs}\n", encoding="utf-8")
    return folder / "bin" / "python"


if __name__ == "__main__":
    main(sys.argv[1:])
