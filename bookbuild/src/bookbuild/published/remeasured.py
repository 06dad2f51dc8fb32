"""Data files that a command measures; they are made again if all is computed from scratch."""

import hashlib
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from bookbuild.errors import BookError
from bookbuild.processes import ran, sources_first
from bookbuild.source.book import Measured

MADE = "_build/made"  # what was made, under the digest of what made it
PACKAGES = "_build/packages"  # what the commands need besides, a folder for each list of it
READ = ("src", "tools", "proofs")  # the folders that commands read


def measure_again(
    measured: Mapping[str, Measured], root: Path, tell: Callable[[str], None]
) -> None:
    """Make each file anew that these sources have not made yet, and put all of them in place.

    Args:
        measured: how each file is made, by its path, in the order in which they are made.
        root: a copy of the book, whose data are overwritten.
        tell: hears of each command that is run.

    Raises:
        BookError: with the last line that a command said, where it fails or writes nothing.
    """
    for file, how in measured.items():
        kept = root / MADE / f"{_digest(how, root)}.{Path(file).name}"
        if not kept.is_file():
            tell(f"{file}: {how.command}")
            _run(file, how, root)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / file, kept)
        shutil.copy2(kept, root / file)


def _run(file: str, how: Measured, root: Path) -> None:
    """Run a command below a folder; raise BookError unless it writes the file."""
    environment = sources_first(root / "src")
    if how.requirements:
        packages = _installed(file, root / how.requirements)
        environment["PYTHONPATH"] += f"{os.pathsep}{packages}"
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    before = (root / file).stat().st_mtime_ns if (root / file).is_file() else None
    program, *arguments = shlex.split(how.command)
    if shutil.which(program, path=environment["PATH"]) is None:
        raise BookError(f"{file} cannot be made: the program {program} is not installed.")
    done = ran([program, *arguments], cwd=root, env=environment)
    if done.returncode:
        raise BookError(f"{file} cannot be made: {_last_line(done.stderr)}.")
    if not (root / file).is_file() or (root / file).stat().st_mtime_ns == before:
        raise BookError(f"{file} cannot be made: {how.command} does not write it.")


def _installed(file: str, requirements: Path) -> Path:
    """Return the folder with the packages of a list; raise BookError where pip cannot get them."""
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
    packages = requirements.parent / PACKAGES / digest
    whole = packages / ".installed"
    if not whole.is_file():
        shutil.rmtree(packages, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = ran([*pip, "--no-deps", "--target", str(packages), "-r", str(requirements)])
        if done.returncode:
            raise BookError(
                f"{file} needs the packages of {requirements.name}: {_last_line(done.stderr)}."
            )
        whole.touch()
    return packages


def _digest(how: Measured, root: Path) -> str:
    """Return what changes when the command does, or any file that it may read but data."""
    digest = hashlib.sha256(f"{how.command}\n{how.requirements}".encode())
    listed = [root / how.requirements] if how.requirements else []
    for folder in (root / name for name in READ):
        listed += (path for path in sorted(folder.rglob("*")) if path.suffix != ".pyc")
    for path in filter(Path.is_file, listed):
        digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _last_line(said: str) -> str:
    lines = said.strip().splitlines()
    return lines[-1].removeprefix("Error: ").rstrip(".") if lines else "its command said nothing"
