"""Published results: fetched, computed again, and held against what was published, byte by byte.

An archive comes from a stranger. What is computed, and with which configuration, is what this
repository declares: its chapters, with all that they ask for.
"""

import math
import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, Literal, NamedTuple
from urllib.parse import urldefrag, urlsplit

import numpy as np
import requests

from bookbuild.costs import chapter_costs
from bookbuild.errors import BookError, raise_if_any
from bookbuild.execution.display import Display, Tell
from bookbuild.execution.execute import execute_chapters
from bookbuild.results.archive import (
    CHAPTERS,
    MOST_BYTES,
    NAME,
    RESULTS,
    Archive,
    Files,
    open_archive,
)
from bookbuild.results.executed import numbers_of
from bookbuild.results.keys import chapter_fingerprint, chapter_key, sha256_of
from bookbuild.results.snapshot import frozen
from bookbuild.results.store import Store
from bookbuild.results.values import count_numbers, from_files, to_files
from bookbuild.settings import BuildSettings
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

DIGEST = re.compile(r"[0-9a-f]{64}")
HERE = ("localhost", "127.0.0.1", "::1")
PATIENCE = 60  # seconds without a byte
SCRATCH = "_build/verify"
TOLERANCE = 0.01  # relative, for a number of another machine or other versions
LINES = 5  # of a difference that are shown
FLOOR = 1e-4  # so much of the largest of its array is added to the size of a number
NUMBERS = "biufc"  # kinds of arrays
HEAD = f"{'chapter':<36} {'seed':>4}  {'profile':<7} {'numbers compared':>16}  outcome"
Grade = Literal["equal", "agrees", "differs", "not recomputed"]
SAID = {"equal": "equal", "agrees": f"agrees within {TOLERANCE:.0%}", "differs": "DIFFERS"}


def locate(source: str, folder: Path, tell: Callable[[str], None]) -> Path:
    """Return the archive that RESULTS names, downloaded to a folder where it is an address.

    An address begins with https, and the SHA-256 of the file follows it after `#sha256=`. Raises
    BookError where there is no archive, and for a download that is not the one that the digest
    names: it is not kept.
    """
    if urlsplit(source).scheme in ("http", "https"):
        return _downloaded(source, folder, tell)
    path = Path(source).expanduser().resolve()  # kernels have another working directory
    path = path / NAME if path.is_dir() else path
    if not path.is_file():
        raise BookError(
            f"RESULTS must name a file, a folder that contains {NAME}, or an address, not "
            f"{source!r}."
        )
    return path


def borrowing(settings: BuildSettings, path: Path) -> BuildSettings:
    """Return settings that take results from an archive of their profile and seed; or BookError."""
    archive = open_archive(path)
    here, published = ((x.profile, x.seed) for x in (settings, archive))
    if here != published:
        raise BookError(
            f"{path} holds the {published[0]} profile at first seed {published[1]}, not the "
            f"{here[0]} profile at {here[1]}."
        )
    return replace(settings, published=path, store=f"{path.stem}-{sha256_of(path)[:16]}")


def _downloaded(source: str, folder: Path, tell: Callable[[str], None]) -> Path:
    """Return the file of an address below a folder, where it lies under its digest."""
    address, fragment = urldefrag(source)
    _check_scheme(address)
    digest = fragment.removeprefix("sha256=")
    if not DIGEST.fullmatch(digest):
        raise BookError(
            f"{address} is not fetched: append #sha256= and the 64 hexadecimal digits of its "
            f"SHA-256, not {digest!r:.70}."
        )
    path = folder / f"{digest}.zip"
    if not path.is_file():
        tell(f"fetching {address}")
        try:
            _fetch(address, digest, path)
        except (OSError, ValueError) as error:  # those of requests are kinds of OSError
            reason = " ".join(str(error).split())
            raise BookError(f"{address} cannot be fetched: {reason}.") from error
    return path


def _fetch(address: str, digest: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    hooks = {"response": lambda answer, **_: _check_scheme(answer.headers.get("location", ""))}
    try:
        with (
            requests.get(address, stream=True, timeout=PATIENCE, hooks=hooks) as answer,
            partial.open("wb") as file,
        ):
            answer.raise_for_status()
            for piece in answer.iter_content(2**20):
                if file.tell() + len(piece) > MOST_BYTES:
                    raise ValueError(f"it is longer than {MOST_BYTES} bytes")
                file.write(piece)
        if sha256_of(partial) != digest:
            raise ValueError(f"its SHA-256 is {sha256_of(partial)}, not {digest}")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _check_scheme(address: str) -> None:
    """Raise BookError for an address whose answer anyone on the way can forge."""
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in HERE:
        raise BookError(f"{address:.80} is not fetched: the address must begin with https.")


class Row(NamedTuple):
    """What computing a chapter again has shown, in how many numbers, and the first lines on it."""

    chapter: str
    grade: Grade
    numbers: int = 0
    part: str = ""  # what of the chapter was recomputed, or why nothing was
    said: Sequence[str] = ()

    def line(self, archive: Archive) -> str:
        """Return the row of the table."""
        outcome = ", ".join(filter(None, [SAID.get(self.grade, self.grade), self.part]))
        return (
            f"{self.chapter:<36} {archive.seed:>4}  {archive.profile:<7} {self.numbers:>16,}  "
            f"{outcome}"
        )


def verify_archive(
    settings: BuildSettings,
    archive: Archive,
    tell: Tell,
    names: Sequence[str] = (),
    minutes: float = math.inf,
) -> list[Row]:
    """Recompute chapters that are named, or such as are drawn, for some minutes; return all rows.

    A chapter that would take too long is recomputed in one of its results. Raises BookError where
    the archive is damaged or a name is no chapter of it.
    """
    archive.check()
    chapters = {c.name: c for c in read_chapters(settings.root, read_toc(settings.root))}
    known = [name for name in chapters if name in archive.chapters]
    raise_if_any(
        f"{name} is no published chapter of this checkout; those are {', '.join(known)}."
        for name in names
        if name not in known
    )
    settings = replace(settings, folder=SCRATCH, profile=archive.profile, seed=archive.seed)
    deadline = time.monotonic() + 60 * minutes
    order = list(names) or random.sample(known, len(known))
    tell(HEAD)
    rows: dict[str, Row] = {}
    with ExitStack() as stack:
        shutil.rmtree(settings.build, ignore_errors=True)
        stack.callback(shutil.rmtree, settings.build, ignore_errors=True)
        settings = stack.enter_context(frozen(settings, chapters.values()))
        check = Recomputation(archive, chapters, settings, deadline)
        with ThreadPoolExecutor(settings.jobs) as pool:
            try:
                for done in as_completed([pool.submit(check, name) for name in order]):
                    row = done.result()
                    rows[row.chapter] = row
                    if row.grade != "not recomputed":
                        for line in (row.line(archive), *(f"  {said}" for said in row.said)):
                            tell(line)
            finally:
                check.stopped.set()
    why = "not drawn" if not names else "not named"
    foreign = Row("", "not recomputed", part="no chapter of this checkout")
    for name in sorted(archive.chapters):
        default = foreign if name not in known else Row(name, "not recomputed", part=why)
        rows.setdefault(name, default._replace(chapter=name))
        if rows[name].grade == "not recomputed":
            tell(rows[name].line(archive))
    return [*rows.values()]


def summary(rows: Collection[Row]) -> str:
    """Return how many chapters were recomputed, with what outcome, and how many were not."""
    counts = Counter(row.grade for row in rows)
    left, total = counts.pop("not recomputed", 0), sum(counts.values())
    close = f"within {TOLERANCE:.0%}"
    words: dict[Grade, str] = {"equal": "equal", "agrees": close, "differs": "different"}
    several = len(counts) > 1
    said = [f"{counts[x]} {word}" if several else word for x, word in words.items() if counts[x]]
    parts = sum(bool(row.part) for row in rows if row.grade != "not recomputed")
    outcome = f", {parts} of them in part" if parts else ""
    outcome += f": {', '.join(said)}" if said else ""
    return f"{total} of {total + left} chapters recomputed{outcome}. {left} not recomputed."


class Recomputation(Display):
    """Chapters of this checkout computed again, each held against what an archive says of it.

    As a display it shows nothing, and ends the execution when time is up or all is stopped.
    """

    def __init__(
        self, archive: Archive, chapters: Mapping[str, Chapter], settings: BuildSettings, end: float
    ) -> None:
        super().__init__(lambda _: None)
        self.archive, self.chapters, self.settings, self.end = archive, chapters, settings, end
        self.costs, self.stopped = chapter_costs(settings, chapters.values()), Event()

    def progress(self, chapter: str, record: Mapping[str, Any]) -> None:
        """Raise TimeoutError after the end, which kills what is running."""
        if time.monotonic() > self.end or self.stopped.is_set():
            raise TimeoutError(chapter)

    def __call__(self, name: str) -> Row:
        """Return what a chapter shows that is recomputed, whole or in one of its results."""
        left, lent = self.end - time.monotonic(), self.archive.chapters[name].results
        drawn = ""
        if self.costs[name].seconds > left:
            drawn = random.choice(lent) if lent and self._is_of_this_code(name) else ""
            if not drawn or left <= 0:
                return Row(name, "not recomputed", part="it takes longer than there was time")
        try:
            return self._compared(name, drawn)
        except TimeoutError:
            return Row(name, "not recomputed", part="the time was up while it was computed")
        except BookError as error:
            return Row(name, "differs", part="it cannot be recomputed", said=error.problems)

    def _is_of_this_code(self, name: str) -> bool:
        """Return whether the archive says that this checkout's code made the numbers."""
        return self.archive.chapters[name].fingerprint == chapter_fingerprint(
            self.chapters[name], self.settings
        )

    def _compared(self, name: str, drawn: str) -> Row:
        """Return the row of a chapter; TimeoutError at the deadline, BookError if it fails.

        With a result drawn, all others are lent. Of a chapter of other code everything is compared
        that today's would be lent, and not what the chapter measured.
        """
        chapter, lent = self.chapters[name], self.archive.chapters[name].results
        # a store of its own: nothing is taken that was not computed for it
        settings = replace(self.settings, folder=f"{SCRATCH}/{name}", short=0.0)
        if drawn:
            settings = replace(settings, published=self.archive.path, withheld=drawn)
        wanted = [(chapter, chapter_key(chapter, settings))]
        executed, failures = execute_chapters(wanted, settings, self)
        raise_if_any(failures)
        entry = executed[name]
        here, part, store = dict[str, Files](), "", Store(settings.results)
        for fingerprint, keys in entry.origin["asked"].items():
            stored, _ = store.get(keys[0])
            if stored is not None and len(keys) == 1:
                here[f"{RESULTS}/{fingerprint}"] = dict(stored.files)
        compared = [f"{RESULTS}/{task}" for task in ([drawn] if drawn else lent)]
        if self._is_of_this_code(name):
            numbers = numbers_of(entry, set(chapter.timings))
            here[f"{CHAPTERS}/{name}"] = to_files(numbers)
            compared.append(f"{CHAPTERS}/{name}")
            part = f"one of its {len(lent)} results recomputed" if drawn else ""
        else:
            compared = [x for x in compared if x.rpartition("/")[2] in entry.origin["asked"]]
            part = "of other code, of which only the results are compared that it shares"
        if not compared:
            return Row(name, "not recomputed", part="it is of other code")
        pairs = ((folder, self.archive.files(folder), here.get(folder)) for folder in compared)
        grade, count, lines = compare(pairs)
        return Row(name, grade, count, part, lines)


def compare(pairs: Iterable[tuple[str, Files, Files | None]]) -> tuple[Grade, int, list[str]]:
    """Return how published files compare with those made here, in how many numbers, and where.

    They are equal if all bytes are. They agree if they have the same paths, types and shapes, and
    no number is apart by more than the tolerance.
    """
    grades: set[Grade] = {"equal"}
    count, lines = 0, []
    for folder, published, here in pairs:
        count += count_numbers(from_files(published))
        if published == here:
            continue
        said = ["only as published"]
        if here is not None:
            values = from_files(published), from_files(here)
            said = different_form(*values) or different(*values, TOLERANCE)
        grades.add("differs" if said else "agrees")
        lines += [f"{folder} {line}" for line in said]
    worst = max(grades, key=("equal", "agrees", "differs").index)
    return worst, count, lines[:LINES]


def different_form(before: Any, after: Any) -> list[str]:
    """Return a line for each path at which two results have other types or shapes, or other paths.

    Every list and every dict counts, and so does the order of their items.
    """
    left, other = dict(_forms(before)), dict(_forms(after))
    lines = [
        f"{' '.join(path)}: {left.get(path, 'nothing')} as published, "
        f"{other.get(path, 'nothing')} here"
        for path in left | other
        if left.get(path) != other.get(path)
    ]
    return lines or ([] if [*left] == [*other] else ["in another order"])


def _forms(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the paths of all that a result consists of, each with its type, dtype and shape."""
    if isinstance(value, dict | list):
        yield path, type(value).__name__
        pairs = value.items() if isinstance(value, dict) else enumerate(value, start=1)
        for name, item in pairs:
            yield from _forms(item, (*path, str(name)))
    elif isinstance(value, str):
        yield path, repr(value)
    else:
        dtype = getattr(value, "dtype", "")
        yield path, f"{type(value).__name__} {dtype} {np.shape(value)}"


def different(before: Any, after: Any, tolerance: float) -> list[str]:
    """Return a line for each place where two results are further apart than a tolerance.

    A number is compared relative to its size, plus `FLOOR` of the largest of its array; with a
    tolerance of zero every value counts, and neither a type nor the sign of zero does.
    """
    left, other = dict(_arrays(before)), dict(_arrays(after))
    lines = []
    for path in left | other:
        place = " ".join(map(str, path))
        if path not in left or path not in other:
            lines.append(f"{place}: only {'as published' if path in left else 'here'}")
        elif said := _apart(left[path], other[path], tolerance):
            lines.append(f"{place}: {said}")
    return lines


def _arrays(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """Yield the arrays of a result with their paths; a list is one if it can be."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _arrays(item, (*path, name))
        return
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        array = np.asarray(None)
    if array.dtype.hasobject and isinstance(value, list):
        for number, item in enumerate(value, start=1):
            yield from _arrays(item, (*path, str(number)))
    else:
        yield path, array


def _apart(one: np.ndarray, other: np.ndarray, tolerance: float) -> str:
    if one.shape != other.shape:
        return f"of shape {one.shape} as published, {other.shape} here"
    if one.dtype.kind not in NUMBERS or other.dtype.kind not in NUMBERS:
        same = np.array_equal(one, other)
        return "" if same else f"{one.tolist()!r:.40} as published, {other.tolist()!r:.40} here"
    sizes = np.abs(one)
    floor = FLOOR * float(np.max(sizes, initial=0, where=np.isfinite(sizes)))
    near = np.isclose(other, one, tolerance, tolerance * floor, equal_nan=True)
    if near.all():
        return ""
    with np.errstate(invalid="ignore"):
        gap = np.abs(np.subtract(one, other, dtype=np.result_type(one, other, 1.0)))
    worst = np.where(near, -1, np.nan_to_num(gap, nan=np.inf))
    at = np.unravel_index(np.argmax(worst), worst.shape)
    return f"{one[at]:.9g} as published, {other[at]:.9g} here"
