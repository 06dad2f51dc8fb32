"""What made a result: commit, versions, device, preset."""

import dataclasses
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

COMMIT = "BOOKBUILD_COMMIT"
DEVICE = "BOOKBUILD_DEVICE"


def commit(folder: Path | None = None, *, below: str = ".") -> str:
    """Return the commit of the working tree, with a remark when files below were changed since."""
    if folder is None and COMMIT in os.environ:
        return os.environ[COMMIT]
    head = _git(folder, "rev-parse", "--short=12", "HEAD")
    changed = head and _git(folder, "status", "--porcelain", below)
    return f"{head or 'unknown'}{' with uncommitted changes' if changed else ''}"


def versions(packages: tuple[str, ...] = ("torch", "numpy", "matplotlib")) -> dict[str, str]:
    """Return the versions of Python and of those packages that are installed."""
    found = {"python": platform.python_version()}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def device() -> str:
    """Return the device the chapter was told to use, with the name of the GPU if it is one."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return os.environ.get(DEVICE, "cpu")
    name = os.environ.get(DEVICE, "cuda")
    return name if name == "cpu" else f"{name} ({torch.cuda.get_device_name()})"


def preset_fields(preset: object) -> dict[str, str]:
    """Return the fields of a preset, a dataclass or a mapping, as text; empty for None."""
    if preset is None:
        return {}
    if isinstance(preset, Mapping):
        return {str(name): repr(value) for name, value in preset.items()}
    if not dataclasses.is_dataclass(preset):
        raise TypeError(f"a preset is a dataclass or a mapping, not {type(preset).__name__}")
    return {field.name: repr(getattr(preset, field.name)) for field in dataclasses.fields(preset)}


def _git(folder: Path | None, *arguments: str) -> str:
    """Return what git prints, or nothing where there is no git or no repository."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
