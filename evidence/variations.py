"""The declared variations of chapters: evidence/variations.yml.

A variation is another first seed, another rounding, a setting of ours varied, or a planted fault: a
small change of the sources, as a wrong implementer might have written it. Under the first three no
verdict should change; a fault should make some verdict worse.
"""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal

from bookbuild.errors import BookError
from bookbuild.processes import ran
from bookbuild.schema import load

Kind = Literal["base", "without stored runs", "seed", "rounding", "setting", "fault"]
Sizes = Literal["paper", "reduced"]
Change = dict[str, str]  # the text `right`, once in the file `in`, becomes the text `wrong`

DECLARED = Path("evidence/variations.yml")
DRAWN = "drawn"  # the name of the variation whose seed the recorded commit draws


@dataclass(frozen=True)
class Variation:
    """What is varied in a chapter."""

    name: str  # such as `seed 100`, or what is wrong
    kind: Kind
    chapter: str
    sizes: Sizes = "paper"
    seed: int = 0  # the first one
    environment: Mapping[str, str] = field(default_factory=dict)  # variables of the process
    changes: Sequence[Change] = ()  # of sources
    trains: Sequence[str] = ()  # files of stored runs, to which new ones are added first

    @property
    def varies(self) -> bool:
        """Whether values of the chapter have to change."""
        return self.kind not in ("base", "without stored runs")

    def __str__(self) -> str:
        return f"{self.chapter}, {self.name}"

    @contextmanager
    def planted(self, sources: Path, empty: Iterable[str] = ()) -> Iterator[Path]:
        """Yield a copy of the sources with the changes, and with some files empty."""
        with tempfile.TemporaryDirectory(prefix="variation-") as name:
            folder = Path(name, "book")
            shutil.copytree(sources, folder)
            for file in empty:
                (folder / file).write_text("")
            for change in self.changes:
                path, right = folder / change["in"], change["right"]
                text = path.read_text(encoding="utf-8") if path.is_file() else ""
                if (n := text.count(right)) != 1:
                    raise BookError(f"{change['in']} has a text to be changed {n} times: {right}")
                path.write_text(text.replace(right, change["wrong"]), encoding="utf-8")
            yield folder


def declared(root: Path) -> Mapping[str, Any]:
    """Return what the book below `root` declares; nothing where it declares nothing."""
    path = root / DECLARED
    document: Mapping[str, Any] = load(path, DECLARED) if path.is_file() else {}
    return document


def variations(
    document: Mapping[str, Any], chapters: Sequence[str], drawn: int
) -> Iterator[Variation]:
    """Yield what is declared, with the drawn seed, for chapters that depend on random numbers."""
    seeds = {DRAWN: drawn} | {f"seed {seed}": int(seed) for seed in document.get("seeds", ())}
    again = document.get("trained_again", {})
    for chapter, (name, seed) in product(chapters, seeds.items()):
        entry = again.get(chapter, {"changes": (), "trains": ()})
        changes = [x | {"wrong": x["wrong"].format(seed=seed)} for x in _changes(entry)]
        trains = entry["trains"]
        yield Variation(name, "seed", chapter, seed=seed, changes=changes, trains=trains)
    for chapter, (name, of) in product(chapters, document.get("roundings", {}).items()):
        yield Variation(f"rounding {name}", "rounding", chapter, environment=of)
    reduced = {name: _changes(entry) for name, entry in document.get("reduced", {}).items()}
    for chapter, changes in reduced.items():
        yield Variation("reduced sizes", "base", chapter, "reduced", changes=changes)
    kinds: tuple[Kind, Kind] = ("setting", "fault")
    for each in kinds:
        for entry in document.get(f"{each}s", ()):
            of = _changes(entry)
            for chapter in entry["chapters"]:
                size: Sizes = entry.get("sizes", {}).get(chapter, "paper")
                changes = [*reduced[chapter], *of] if size == "reduced" else of
                trains = again.get(chapter, {}).get("trains", ()) if each == "setting" else ()
                yield Variation(entry["says"], each, chapter, size, changes=changes, trains=trains)


def _changes(entry: Mapping[str, Any]) -> list[Change]:
    return [*entry.get("changes", [entry])]


def sources_of(root: Path, commit: str) -> Path:
    """Return a folder with what a commit has; raise BookError where git does not know it."""
    folder = root / "_build" / "evidence" / commit
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as name:
            archive, sources = Path(name, "sources.tar"), Path(name, "sources")
            done = ran(["git", "archive", f"--output={archive}", commit], cwd=root)
            if done.returncode:
                raise BookError(f"git archive: {' '.join(done.stderr.split())}")
            shutil.unpack_archive(archive, sources, filter="data")
            sources.rename(folder)
    return folder
