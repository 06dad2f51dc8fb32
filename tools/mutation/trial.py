"""One trial: a chapter executed with a fault in it, or without; its measures are kept by key."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from bookbuild import settings as book
from bookbuild.reporting import provenance
from bookbuild.reporting.measures import read_measures, write_measures
from bookbuild.reporting.notebook import MEASURES_FILE
from bookbuild.results.keys import chapter_fingerprint, digest
from bookbuild.results.store import Store
from bookbuild.source.chapters import read_chapter

from . import disturbance, reduced
from .chapter import TOLD
from .disturbance import Disturbance
from .fault import ROOT, Fault, planted


@dataclass(frozen=True)
class Sizes:
    """The slip that a chapter is executed at other sizes than it says."""

    name: str
    says: str


Wrong = Fault | Disturbance | Sizes  # a slip in a source, results that are off, sizes
TINY = Sizes("tiny-sizes", "all sizes are those of the smoke profile")

TIMED_OUT = {"cell": 0, "cause": "time-out"}  # the error of a trial that was ended
NONE = "none"  # the name of the trial without a fault


@dataclass(frozen=True)
class Settings:
    """How chapters are executed, and where trials are kept."""

    profile: str = "paper"  # or smoke, or reduced: the paper's with the sizes of reduced.yml
    seed: int = 0
    timeout: float = 3600.0  # seconds a trial; a fault may keep a flow from ever ending
    root: Path = ROOT
    folder: Path = ROOT / "_build" / "mutation"


@dataclass(frozen=True)
class Trial:
    """What a chapter reported, and where it raised."""

    chapter: str
    fault: str
    key: str
    measures: dict[str, dict[str, Any]]
    errors: list[dict[str, Any]] = field(default_factory=list)
    arrays: dict[str, str] = field(default_factory=dict)  # of figures: a checksum of each
    seconds: float = 0.0  # of CPU
    # functions of the library, and whether they return records; without a fault
    called: dict[str, bool] = field(default_factory=dict)


class Executor:
    """A process that executes one chapter after another."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.mutation.chapter"],
            cwd=Path(__file__).parents[2],
            env=os.environ
            | {
                "PYTHONPATH": str(Path(__file__).parents[2]),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONHASHSEED": "0",
                "OMP_NUM_THREADS": "1",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def execute(self, order: dict[str, Any]) -> str:
        """How the execution ended: `done`, `time-out` or `failed`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(order), file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip() or "failed"


def stored(chapter: str, fault: Wrong | None, settings: Settings) -> Trial | None:
    """The trial as it was last made, if nothing that made it has changed.

    Raises Stale for a fault that does not fit its source.
    """
    with planted(fault, settings.root, _sizes(chapter, settings)) as folder:
        kept, remark = Store(settings.folder).get(key(chapter, folder, settings, fault))
    if remark:
        print(remark, file=sys.stderr)
    if kept is None:
        return None
    told = json.loads(kept.files[TOLD]) | {"fault": _name(fault)}
    return Trial(**told | {"measures": read_measures(kept.files[MEASURES_FILE])})


def made(chapter: str, fault: Wrong | None, settings: Settings, executor: Executor) -> Trial:
    """Execute a chapter with a fault in it, or without, and keep what it reports.

    Raises Stale for a fault that does not fit its source, RuntimeError where nothing can be
    executed at all.
    """
    with (
        planted(fault, settings.root, _sizes(chapter, settings)) as folder,
        tempfile.TemporaryDirectory(prefix="mutation-") as name,
    ):
        output = Path(name)
        ended = executor.execute(
            {
                "chapter": chapter,
                "folder": str(folder),
                "profile": "paper" if settings.profile == reduced.PROFILE else settings.profile,
                "seed": settings.seed,
                "output": name,
                "trainings": str(settings.folder / "trainings"),
                "timeout": settings.timeout,
                "disturbance": asdict(fault) if isinstance(fault, Disturbance) else None,
            }
        )
        if ended == "failed":
            log = (output / "log.txt").read_text(encoding="utf-8")
            raise RuntimeError(f"{chapter} with {_name(fault)} cannot be executed:\n{log}")
        told: dict[str, Any] = {"errors": [TIMED_OUT], "seconds": settings.timeout}
        if ended == "done":
            told = json.loads((output / TOLD).read_text(encoding="utf-8"))
        reported = output / MEASURES_FILE
        measures = read_measures(reported.read_text("utf-8")) if reported.is_file() else {}
        trial = Trial(
            chapter, _name(fault), key(chapter, folder, settings, fault), measures, **told
        )
    files = {MEASURES_FILE: write_measures(measures), TOLD: json.dumps(asdict(trial))}
    kept = {name: text.encode() for name, text in files.items()}
    Store(settings.folder).put(trial.key, "trial", f"{chapter}: {trial.fault}", {}, kept)
    return trial


def key(chapter: str, folder: Path, settings: Settings, fault: Wrong | None = None) -> str:
    """The key of what a chapter reports on the sources in a folder, and of what disturbs it."""
    disturbed = {}
    if isinstance(fault, Disturbance):
        code = Path(disturbance.__file__).read_text(encoding="utf-8")
        disturbed = {"disturbance": asdict(fault) | {"code": code}}
    return digest(
        disturbed
        | {
            "chapter": chapter,
            "fingerprint": chapter_fingerprint(
                read_chapter(folder, chapter), book.Settings(folder)
            ),
            "versions": provenance.versions(),
            "profile": settings.profile,
            "seed": settings.seed,
        }
    )


def _sizes(chapter: str, settings: Settings) -> Sequence[Fault]:
    return reduced.REDUCED[chapter].changes if settings.profile == reduced.PROFILE else ()


def _name(fault: Wrong | None) -> str:
    return NONE if fault is None else fault.name
