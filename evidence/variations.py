"""The declared variations of chapters: evidence/variations.yml.

A variation is another first seed, another rounding, another device, a setting of ours varied, or a
planted fault: one small change of one source, as a wrong implementer might have written it. Under
the first four no verdict should change; a fault should make some verdict worse.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError

from .outcomes import Kind, Profile, declared_variations, digest

PROBE = """
import torch
x = torch.linspace(-3, 3, 90_000).reshape(300, 300)
print((x @ x.T).double().flatten().tolist())
print(x.softmax(-1).double().flatten().tolist())
"""
LINKED = ("data", "proofs", "_toc.yml", "_config.yml")  # what a chapter reads besides sources


@dataclass(frozen=True)
class Change:
    """Another text in a file below the root, which must have the first one exactly once."""

    file: str
    right: str
    wrong: str

    def applied(self, root: Path) -> str:
        """Return the changed text; raise BookError where it is not there, or not there alone."""
        path = root / self.file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if (n := text.count(self.right)) != 1:
            said = f"{self.file} has a text that is to be changed {n} times"
            raise BookError(f"{said}: {self.right!r:.60}.")
        return text.replace(self.right, self.wrong)


@dataclass(frozen=True)
class Variation:
    """What is varied."""

    name: str  # such as `seed 100`
    kind: Kind
    chapters: tuple[str, ...] = ()  # those it is for; all, if none is named
    profile: Profile = "paper"  # at which sizes
    seed: int = 0  # the first one
    device: str = "cpu"  # that trains networks
    environment: Mapping[str, str] = field(default_factory=dict)  # variables of the process
    changes: tuple[Change, ...] = ()  # of sources

    @property
    def declaration(self) -> str:
        """A digest of all that decides what is measured; the chapters it is for do not."""
        return digest({k: v for k, v in asdict(self).items() if k != "chapters"})[:12]


def read_variations(root: Path) -> list[Variation]:
    """Return all that are declared."""
    return [*_read(declared_variations(root))]


def _read(document: Mapping[str, Any]) -> Iterator[Variation]:
    for seed in document.get("seeds", ()):
        yield Variation(f"seed {seed}", "seed", seed=int(seed))
    for chapter, seeds in document.get("more_seeds", {}).items():
        yield from (Variation(f"seed {entry}", "seed", (chapter,), seed=entry) for entry in seeds)
    for name, environment in document.get("roundings", {}).items():
        yield Variation(f"rounding {name}", "rounding", environment=dict(environment))
    for name in document.get("devices", ()):
        yield Variation(f"device {name}", "device", device=str(name))
    sizes: dict[str, tuple[Change, ...]] = {}  # changes that make a chapter smaller
    for chapter, entry in document.get("reduced", {}).items():
        changes = sizes[chapter] = tuple(map(_change, entry["changes"]))
        yield Variation("reduced sizes", "sizes", (chapter,), "reduced", changes=changes)
    kinds: tuple[Kind, Kind] = ("setting", "fault")
    for kind, entry in ((k, given) for k in kinds for given in document.get(f"{k}s", ())):
        at, changes = entry.get("at", "paper"), (_change(entry),)
        places: dict[Profile, list[str]] = {}
        for chapter in entry["sees"]:
            profile: Any = at if isinstance(at, str) else at[chapter]
            places.setdefault(profile, []).append(chapter)
        for chapter in places.pop("reduced", ()):
            together = (*sizes[chapter], *changes)
            yield Variation(entry[kind], kind, (chapter,), "reduced", changes=together)
        for profile, chapters in places.items():
            yield Variation(entry[kind], kind, tuple(chapters), profile, changes=changes)


def _change(given: Mapping[str, Any]) -> Change:
    return Change(given["in"], given["right"], given["wrong"])


def changes_bits(environment: Mapping[str, str]) -> bool:
    """Return whether variables of a process change bits of products and elementwise functions."""
    order = [sys.executable, "-c", PROBE]
    usual, other = (
        subprocess.check_output(order, env=os.environ | more, text=True).splitlines()
        for more in ({}, environment)
    )
    return all(bit != two for bit, two in zip(usual, other, strict=True))


@contextmanager
def planted(variation: Variation, root: Path) -> Iterator[Path]:
    """Yield a folder like the root, its sources copied and changed, its data linked.

    Raises BookError where a text that is changed is not there, or not there alone.
    """
    with tempfile.TemporaryDirectory(prefix="variation-") as name:
        folder, without = Path(name), shutil.ignore_patterns("__pycache__")
        for part in ("src", "book"):
            shutil.copytree(root / part, folder / part, ignore=without)
        for part in (part for part in LINKED if (root / part).exists()):
            (folder / part).symlink_to(root / part)
        for change in variation.changes:
            text = change.applied(folder)
            (folder / change.file).write_text(text, encoding="utf-8")
        yield folder
