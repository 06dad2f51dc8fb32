"""The ledger at other first seeds or another rounding: chapters executed again, and their rows."""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError, raise_if_any
from bookbuild.execution import lock, rounding
from bookbuild.execution.display import Display
from bookbuild.ledger.carried import is_current
from bookbuild.ledger.claims import Claim, judge, read_claims
from bookbuild.ledger.seed_sensitivity import row_of
from bookbuild.ledger.stored import ROUNDING, SEEDS
from bookbuild.pipeline import run_chapters
from bookbuild.remote import execute_here
from bookbuild.reporting import provenance
from bookbuild.results import executed
from bookbuild.results.executed import Entry
from bookbuild.results.keys import chapter_fingerprint, chapter_key
from bookbuild.results.store import Store, write_whole
from bookbuild.settings import Settings, one_of
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

APART = 100  # between first seeds; a chapter counts its seeds from the first, and uses fewer


def first_seeds(count: int) -> tuple[int, ...]:
    """Return other first seeds, whose seeds meet neither each other nor those from zero."""
    return tuple(APART * place for place in range(1, count + 1))


def record_path(settings: Settings) -> Path:
    """Return the path of the run: in data/ for the paper profile, which is judged."""
    record = ROUNDING if settings.rounding else SEEDS
    if settings.profile == "paper":
        return settings.root / record
    return settings.build / settings.profile / record.name


def rounded(settings: Settings, name: str) -> Settings:
    """Return settings with another rounding, in a folder of its own; raise BookError if none."""
    one_of("ROUNDING", name, tuple(rounding.ROUNDINGS))
    if settings.device != "cpu":
        raise BookError("ROUNDING needs a processor: add DEVICE=cpu.")
    rounding.check(name)
    return replace(settings, rounding=name, folder=f"{settings.folder}/rounding-{name}")


def run_seed_sensitivity(
    settings: Settings,
    seeds: Sequence[int],
    display: Display,
    tell: Callable[[str], None],
    scheduler: str | None = None,
) -> Path:
    """Execute the chapters with judged rows at each first seed; write what they measured.

    The record of the paper profile names a commit, so that there is none of a tree with uncommitted
    changes: BookError. Chapters whose record is about today's code stay as they are, and so do
    those of other parts. What the store has is not executed again, and what is finished is kept at
    once, so that a run that was killed goes on. With the address of a Dask scheduler each execution
    goes to a worker, which needs this repository with the same sources and versions. Raises
    BookError with a sentence for each execution that failed, once the others are recorded.
    """
    if settings.rounding and scheduler is not None:
        raise BookError("ROUNDING can only be changed on this machine: leave out SCHEDULER.")
    every = read_chapters(settings.root, read_toc(settings.root))
    claims = read_claims(settings.root, [chapter.name for chapter in every])
    measures: dict[str, dict[str, str | None]] = {}
    for claim in claims:
        if claim.expectation is not None:
            measures.setdefault(claim.chapter, {})[claim.id] = claim.measure
    part = read_chapters(settings.root, read_toc(settings.root, settings.part))
    path = record_path(settings)
    stored = _stored(path)
    fingerprints = {chapter.name: chapter_fingerprint(chapter, settings) for chapter in part}
    chapters = [
        chapter
        for chapter in part
        if (rows := measures.get(chapter.name))
        and not _is_whole(stored.get(chapter.name), fingerprints[chapter.name], seeds, rows)
    ]
    commit = _commit(settings)
    entries: dict[int, dict[str, Entry]] = {}
    problems: list[str] = []
    with lock.held(settings):
        for seed in seeds:
            tell(f"first seed {seed}")
            at_seed = replace(settings, seed=seed)
            if scheduler is not None:
                with _cluster(scheduler) as executor:
                    problems += _submit(chapters, at_seed, executor, tell)
            else:
                try:
                    run_chapters(chapters, at_seed, display, tell)
                except BookError as error:
                    problems += error.problems
            found = {c.name: executed.find(at_seed, chapter_key(c, at_seed))[0] for c in chapters}
            entries[seed] = {name: entry for name, entry in found.items() if entry is not None}
    # what was edited meanwhile is of no one fingerprint
    same = [c for c in chapters if chapter_fingerprint(c, settings) == fingerprints[c.name]]
    _write(path, settings, commit, same, claims, entries)
    raise_if_any(problems)
    return path


def _commit(settings: Settings) -> str:
    """Return the commit whose tree has what is executed; raise BookError where none has."""
    commit = provenance.commit(settings.root).partition(" ")[0]
    if settings.profile == "paper":
        records = (f":!{record}" for record in (SEEDS, ROUNDING))
        command = ["git", "status", "--porcelain", "--", "src", "book", "data", *records]
        done = subprocess.run(
            command, cwd=settings.root, capture_output=True, text=True, check=False
        )
        if done.returncode or done.stdout:
            raise BookError("A record names a commit: commit src, book and data first.")
    return commit


def _write(
    path: Path,
    settings: Settings,
    commit: str,
    chapters: Sequence[Chapter],
    claims: Sequence[Claim],
    entries: Mapping[int, Mapping[str, Entry]],
) -> None:
    """Write the record: chapters executed at every first seed anew, all others as they were."""
    stored = _stored(path)
    for chapter in chapters:
        runs = {
            seed: found[chapter.name] for seed, found in entries.items() if chapter.name in found
        }
        if len(runs) == len(entries):
            stored[chapter.name] = _chapter(chapter, settings, commit, claims, runs)
    document = {"profile": settings.profile, "chapters": dict(sorted(stored.items()))}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, compact(document).encode())


def _stored(path: Path) -> dict[str, Any]:
    """Return what a record has of each chapter."""
    found: dict[str, Any] = {}
    if path.is_file():
        found = json.loads(path.read_text(encoding="utf-8"))["chapters"]
    return found


def _is_whole(
    stored: Mapping[str, Any] | None,
    fingerprint: str,
    seeds: Sequence[int],
    measures: Mapping[str, str | None],
) -> bool:
    """Return whether a chapter's record is about its code, all these seeds and its rows today."""
    if stored is None or not is_current(stored, fingerprint) or not {*seeds} <= {*stored["seeds"]}:
        return False
    known = {row: of["measure"] for row, of in stored["rows"].items()}
    return all(known.get(row) == measure for row, measure in measures.items())


def compact(document: Mapping[str, Any]) -> str:
    """Return the record as JSON, one line a row."""
    rows = {
        f"@{name}@{row}": content
        for name, chapter in document["chapters"].items()
        for row, content in chapter["rows"].items()
    }
    chapters = {
        name: chapter | {"rows": {row: f"@{name}@{row}" for row in chapter["rows"]}}
        for name, chapter in document["chapters"].items()
    }
    text = json.dumps({**document, "chapters": chapters}, indent=1)
    for mark, content in rows.items():
        text = text.replace(json.dumps(mark), json.dumps(content, allow_nan=False))
    return text + "\n"


def _chapter(
    chapter: Chapter,
    settings: Settings,
    commit: str,
    claims: Sequence[Claim],
    runs: Mapping[int, Entry],
) -> dict[str, Any]:
    """Return what is recorded of a chapter."""
    rows = [claim for claim in claims if claim.chapter == chapter.name and claim.expectation]
    judged = settings.profile == "paper"
    findings = [
        judge(rows, {chapter.name: entry.measures}, judged=judged) for entry in runs.values()
    ]
    return {
        "commit": commit,
        **({"rounding": settings.rounding} if settings.rounding else {}),
        "device": next(iter(runs.values())).origin["device"],
        "fingerprint": chapter_fingerprint(chapter, settings),
        "seconds": round(sum(entry.origin["seconds"] for entry in runs.values()), 1),
        "seeds": list(runs),
        "rows": {of[0].claim.id: row_of(of) for of in zip(*findings, strict=True)},
    }


@contextmanager
def _cluster(scheduler: str) -> Iterator[Executor]:
    """Yield the workers of a scheduler; raise BookError where it cannot be reached."""
    from running.executors import default_executor  # with PyTorch, which takes a while

    try:
        with default_executor(scheduler) as executor:
            yield executor
    except ConnectionError as error:
        raise BookError(f"SCHEDULER: {error}.") from error


def _submit(
    chapters: Sequence[Chapter],
    settings: Settings,
    executor: Executor,
    tell: Callable[[str], None],
) -> list[str]:
    """Have workers execute what the store lacks; keep it here, and return what failed."""
    problems = []
    waiting = {}
    for chapter in chapters:
        key = chapter_key(chapter, settings)
        if executed.find(settings, key)[0] is None:
            options = {"device": settings.device, "timeout": settings.timeout}
            order = (chapter.name, key, settings.profile, settings.seed, options)
            waiting[executor.submit(execute_here, *order)] = (chapter.name, key)
    for future in as_completed(waiting):
        name, key = waiting[future]
        try:
            origin, files = future.result()
        except BrokenExecutor as error:
            raise BookError(
                f"Chapter {name}: its worker was lost; run the command again."
            ) from error
        except Exception as error:  # whatever a worker may raise: it has to be named
            problems.append(f"Chapter {name} at first seed {settings.seed} failed: {error}")
            continue
        Store(settings.results).put(key, "chapter", name, origin, files)
        tell(f"{name}: done")
    return problems
