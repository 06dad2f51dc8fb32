"""Records go on over an edit that changed no number: make record WHAT=carry.

The records of other first seeds, of another rounding and of planted faults, and the stored runs,
are about the code that they were made with. After an edit of that code the chapters it reaches are
executed before and after it, in the smoke profile; where every measure and every array of a chapter
is equal to the bit, its records are carried over to the new code, and say so. The sizes of the
paper profile are in no smoke run: a chapter whose constants, classes or cells have other numbers or
texts than before is executed in the paper profile instead, and so is one for which a definition was
edited in which the smoke profile has missed a planted fault.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError
from bookbuild.execution import lock, runs
from bookbuild.execution.display import Display
from bookbuild.ledger.carried import Witness, carried_on, carry, is_current, leads
from bookbuild.ledger.stored import MUTATION, ROUNDING, RUNS, SEEDS, WITNESS, read_record
from bookbuild.pipeline import run_chapters
from bookbuild.processes import sources_first
from bookbuild.reporting import provenance
from bookbuild.results import executed
from bookbuild.results.code.definitions import Reached, reached_by_cells
from bookbuild.results.contents import contents_of, different
from bookbuild.results.executed import Entry
from bookbuild.results.keys import chapter_fingerprint, chapter_key
from bookbuild.results.store import Store, write_whole
from bookbuild.settings import Settings
from bookbuild.source.chapters import CPU, Chapter, read_chapter, read_chapters, read_toc

from .history import MOST, Made, trees
from .seed_sensitivity import compact

RECORDS: Mapping[Path, Callable[[Mapping[str, Any]], str]] = {
    SEEDS: compact,
    ROUNDING: compact,
    MUTATION: lambda record: json.dumps(record, indent=1, ensure_ascii=False) + "\n",
}
TELL_CODES = """
import json, pathlib, sys
from bookbuild.execution.runs import File
root = pathlib.Path.cwd()
print(json.dumps({file: File(file, root, root / "src").code for file in sys.argv[1:]}))
"""
LINES = 3  # of what differs that are told


@dataclass(frozen=True)
class Seen:
    """What the witness saw of a chapter: how much it compared, and where that differs."""

    witness: Witness
    compared: int
    differences: Sequence[str]


def run_carry(settings: Settings, display: Display, tell: Callable[[str], None]) -> list[str]:
    """Carry outdated records over to the code of the last commit, where the witness allows it.

    Returns the chapters that were not carried. Raises BookError where files were changed since the
    last commit, or where a chapter fails.
    """
    commit = provenance.commit(settings.root)
    if " " in commit:
        raise BookError("Records can only be carried over to a commit: commit the edit first.")
    chapters = {c.name: c for c in read_chapters(settings.root, read_toc(settings.root))}
    fingerprints = {
        name: chapter_fingerprint(chapter, settings) for name, chapter in chapters.items()
    }
    documents = {path: read_record(settings.root / path) for path in RECORDS}
    outdated = {
        (path, name): Made(name, _newest(record))
        for path, document in documents.items()
        for name, record in document.get("chapters", {}).items()
        if name in fingerprints and not is_current(record, fingerprints[name])
    }
    if not outdated:
        tell("all records are current; there is nothing to carry over")
    seen: dict[Made, Seen] = {}
    named = {_commit_of(documents[path]["chapters"][name]) for path, name in outdated}
    with trees(settings, set(outdated.values()), named) as roots:
        for made in sorted(set(outdated.values()) - roots.keys()):
            tell(
                f"{made.chapter}: none of the last {MOST} commits has the code that made its record"
            )
        for root in sorted(set(roots.values())):
            those = [made for made in roots if roots[made] == root]
            pairs = {made: chapters[made.chapter] for made in those}
            seen |= _look(pairs, root, settings, display, tell)
        apart = {made.chapter for made, saw in seen.items() if saw.differences}
        unfit = {file for name in apart for file in runs.stored_by(chapters[name], settings)}
        for root in sorted(set(roots.values())):
            those = [made for made in roots if roots[made] == root]
            looked = [(chapters[made.chapter], seen[made]) for made in those]
            _carry_runs(looked, unfit, replace(settings, root=root), settings, commit)
    for (path, name), made in outdated.items():
        saw = seen.get(made)
        if saw and not saw.differences:
            records = documents[path]["chapters"]
            records[name] = carried_on(
                records[name],
                made.fingerprint,
                fingerprints[name],
                commit,
                saw.witness,
                saw.compared,
            )
            write_whole(settings.root / path, RECORDS[path](documents[path]).encode())
    for made, saw in sorted(seen.items()):
        how = f"{len(saw.differences)} of {saw.compared}" if saw.differences else saw.compared
        what = "differ, not carried over" if saw.differences else "equal, carried over"
        tell(f"{made.chapter}: {how} {what} ({saw.witness} profile)")
        for line in saw.differences[:LINES]:
            tell(f"  {line}")
    kept = {made for made, saw in seen.items() if not saw.differences}
    return sorted({made.chapter for made in outdated.values() if made not in kept})


def _newest(record: Mapping[str, Any]) -> str:
    """Return the newest fingerprint that a record is about."""
    carries = record.get("carried", [])
    return str(carries[-1]["to"] if carries else record["fingerprint"])


def _commit_of(record: Mapping[str, Any]) -> str:
    """Return the commit that a record names as the one of its newest fingerprint."""
    return str((record.get("carried") or [record])[-1].get("commit", "HEAD"))


def _look(
    after: Mapping[Made, Chapter],
    root: Path,
    settings: Settings,
    display: Display,
    tell: Callable[[str], None],
) -> dict[Made, Seen]:
    """Execute chapters before an edit, in the tree below a root, and after it; compare them."""
    before = {made: read_chapter(root, made.chapter) for made in after}
    witnesses = {made: _witness(before[made], after[made], root, settings.root) for made in after}
    found: dict[Made, Seen] = {}
    for witness in sorted(set(witnesses.values())):
        mine = [made for made in after if witnesses[made] == witness]
        here = replace(settings, profile=witness, device=CPU, seed=0)
        there = replace(here, root=root)
        with lock.held(here):
            earlier = _executed_before([before[made] for made in mine], there, here)
            known, new = run_chapters([after[made] for made in mine], here, display, tell)
        for made in mine:
            one, two = _timeless(earlier[made.chapter]), _timeless((known | new)[made.chapter])
            found[made] = Seen(witness, len(one.keys() | two.keys()), different(one, two, 0.0))
    return found


def _carry_runs(
    looked: Iterable[tuple[Chapter, Seen]],
    unfit: Collection[str],
    before: Settings,
    after: Settings,
    commit: str,
) -> None:
    """Carry the files of stored runs over that chapters read, but for the unfit ones."""
    equal: dict[str, list[Seen]] = {}
    for chapter, saw in looked:
        for file in set(runs.stored_by(chapter, after)) - set(unfit):
            equal.setdefault(file, []).append(saw)
    then, now = _codes(equal, before), _codes(equal, after)
    carries = read_record(after.root / RUNS)
    for file, those in equal.items():
        known = carries.setdefault(file, [])
        if then[file] != now[file] and not leads(known, then[file], now[file]):
            witness: Witness = "smoke" if "smoke" in {saw.witness for saw in those} else "paper"
            compared = sum(saw.compared for saw in those)
            known.append(carry(then[file], now[file], commit, witness, compared))
    text = json.dumps({f: those for f, those in sorted(carries.items()) if those}, indent=1)
    if any(carries.values()):
        write_whole(after.root / RUNS, f"{text}\n".encode())


def _codes(files: Collection[str], settings: Settings) -> dict[str, str]:
    """Return the code of each file of stored runs, as the builder of its own tree tells it."""
    if not files:
        return {}
    run = subprocess.run(
        [sys.executable, "-c", TELL_CODES, *files],
        cwd=settings.root,
        env=sources_first(settings.root / "src"),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise BookError(
            f"The code that made the stored runs cannot be determined: {run.stderr.strip()}"
        )
    codes: dict[str, str] = json.loads(run.stdout)
    return codes


def _timeless(entry: Entry) -> dict[str, Any]:
    """Return the measures and arrays of a chapter, without those that the clock decides."""
    clock = {"seconds", "speedup"}
    found = contents_of(entry).items()
    return {k: v for k, v in found if clock.isdisjoint(k.rpartition(" ")[2].split("_"))}


def constants(chapter: Chapter, root: Path) -> Mapping[str, int]:
    """Return the numbers and texts in the cells, constants and classes that a chapter reaches."""
    return _reached(chapter, root).constants


def _witness(before: Chapter, after: Chapter, there: Path, here: Path) -> Witness:
    """Return the profile in which an edit of a chapter shows, if it changes a number."""
    if constants(before, there) != constants(after, here):
        return "paper"
    blind = set(read_record(here / WITNESS).get("blind", ()))
    one, two = _reached(before, there).own, _reached(after, here).own
    edited = {place for place in one.keys() | two.keys() if one.get(place) != two.get(place)}
    return "paper" if blind & {place.partition(":")[2] for place in edited} else "smoke"


def _reached(chapter: Chapter, root: Path) -> Reached:
    return reached_by_cells((cell.source for cell in chapter.code), root / "src", shown=False)


def _executed_before(
    chapters: Sequence[Chapter], there: Settings, here: Settings
) -> dict[str, Entry]:
    """Return chapters of another tree, from the store here or executed there by its own builder."""
    found = {c.name: executed.find(here, chapter_key(c, there))[0] for c in chapters}
    missing = [name for name, entry in found.items() if entry is None]
    store = Store(here.results)
    before = set(store.listed())
    if missing:
        there.build.mkdir(exist_ok=True)
        if not there.results.is_symlink():
            there.results.symlink_to(here.results)  # for the trainings in it
        options = ["--profile", there.profile, "--device", CPU, "--jobs", str(there.jobs)]
        run = subprocess.run(
            [sys.executable, "-m", "bookbuild", "chapter", *options, *missing],
            cwd=there.root,
            env=sources_first(there.root / "src"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if run.returncode:
            raise BookError(f"Before the edit {', '.join(missing)} failed: {run.stderr.strip()}")
    for key in set(store.listed()) - before:
        stored, _ = store.get(key)
        if stored and stored.kind == "chapter":
            found[stored.name] = Entry.of(stored)
            store.path(key).unlink(
                missing_ok=True
            )  # it names the commit of this tree, not of that one
    return {name: entry for name, entry in found.items() if entry is not None}
