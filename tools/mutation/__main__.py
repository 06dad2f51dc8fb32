"""Plant every fault and write data/mutation.json: python -m tools.mutation [--part paper].

Each chapter is executed in the paper profile, once as it is and once with each fault of the
catalogue that is for it; if rows stay green, also with the results that it gets off by factors
near two or three, in one draw after another until none is left. A row of the ledger is sensitive if
a fault makes its verdict worse. What has been tried is kept in _build/mutation under the key of all
that made it, so that the drill goes on where it was stopped, and does again only what an edit has
touched.

With --profile smoke the sizes are tiny. A verdict means nothing there; that it turns when what a
chapter gets is wrong still shows that it can. What was tried so is recorded as tried so, and gives
way to a trial in the paper profile. With --profile reduced a chapter that takes too long has the
smaller sizes of reduced.yml, at which its rows have the verdicts that they have at the paper's: a
trial there stands between the two. What the record has of a fingerprint stays: a drill adds to it.
Rows that are still green are held to what a build of the paper profile has reported, if there is
one: that its sizes were tiny is a slip as well, and turns those that need large ones.

Ends with 1 if a row of a chapter that was tried stays green without an argument, if a fault no
longer fits its source, if one reaches nothing of its chapter, if one turns a row whose statement
it leaves true (kept.yml), or if a row has a worse verdict at reduced sizes than at the paper's.
"""

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from queue import SimpleQueue
from typing import Any

from bookbuild import settings as book
from bookbuild.results import executed
from bookbuild.results.keys import chapter_fingerprint, chapter_key
from bookbuild.source.chapters import Chapter
from tools import this_book

from . import record, reduced
from .catalogue import ARGUED, BLIND, FAULTS
from .disturbance import DRAWS, alone
from .fault import ROOT, Fault, Stale
from .keeping import contradictions, kept_rows, read_reasons
from .trial import NONE, TIMED_OUT, TINY, Executor, Settings, Trial, Wrong, made, stored
from .verdicts import green, summary, weaker

# Seconds for any trial, and times what it takes without a fault. That may have found its trainings
# kept, which a fault in them has to repeat.
LEAST, SLOWER = {"paper": 1800, "smoke": 120, reduced.PROFILE: 600}, 5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("paper", "beyond", "companions"))
    parser.add_argument("--chapter", nargs="*", default=[])
    parser.add_argument("--fault", nargs="*", default=[], help="plant only these faults")
    parser.add_argument(
        "--no-faults", action="store_true", help="only disturb results, and plant no faults"
    )
    parser.add_argument("--jobs", type=int, default=book.core_count())
    parser.add_argument(
        "--draws",
        type=int,
        default=len(DRAWS),
        help="the greatest number of disturbances of all results; none at all with 0",
    )
    parser.add_argument("--minutes", type=float, help="begin no trial after so many minutes")
    parser.add_argument("--profile", choices=(*book.PROFILES, reduced.PROFILE), default="paper")
    parser.add_argument(
        "--list", action="store_true", help="execute nothing, and only bring the record up to date"
    )
    asked = parser.parse_args()
    claims = list(this_book.claims().values())
    rows = {claim.chapter for claim in claims if claim.expectation}
    reasons = read_reasons()
    kept = kept_rows(FAULTS, reasons, {claim.id for claim in claims if claim.expectation})
    chapters = {
        chapter.name: chapter
        for chapter in this_book.chapters()
        if chapter.name in rows
        and (not asked.part or chapter.name.startswith(f"{asked.part}/"))
        and (not asked.chapter or chapter.name in asked.chapter)
        and (asked.profile != reduced.PROFILE or chapter.name in reduced.REDUCED)
    }
    settings = Settings(asked.profile)
    complaints: list[str] = []
    deadline = time.monotonic() + 60 * (asked.minutes or float("inf"))
    with executors(0 if asked.list else asked.jobs) as pool:
        for name, chapter in chapters.items():
            faults = [
                fault
                for fault in FAULTS
                if name in fault.chapters
                and not asked.no_faults
                and (not asked.fault or fault.name in asked.fault)
            ]
            trials = dict(pool.tried(name, [None, *faults], settings, deadline, complaints))
            sound = trials.pop(None, None)
            if sound is None:
                continue
            complaints += [
                f"{fault.name} changes nothing that {name} executes."
                for fault, trial in trials.items()
                if trial.key == sound.key
            ]
            found = summary(claims, sound, trials)
            known = record.known(name, chapter_fingerprint(chapter, book.Settings(ROOT)))
            if asked.profile == reduced.PROFILE:
                complaints += [
                    f"{row} has a worse verdict at the reduced sizes of {name}."
                    for row in weaker(known, found)
                ]
            if asked.fault:
                complaints += _broken(found, faults, kept if asked.profile != "smoke" else {})
                continue
            found = record.joined(known, found, asked.profile)
            draws = chain(DRAWS[: asked.draws], alone(sound.called)) if asked.draws else ()
            for draw in draws:
                if not green(found):
                    break
                if known["faults"].get(draw.name, {}).get("profile") == asked.profile:
                    continue
                more = dict(pool.tried(name, [None, draw], settings, deadline, complaints))
                trials |= {wrong: trial for wrong, trial in more.items() if wrong is not None}
                found = record.joined(known, summary(claims, sound, trials), asked.profile)
            at_paper = executed_at_paper(chapter) if asked.profile == "smoke" else None
            if at_paper and green(found):
                found = record.joined(found, summary(claims, at_paper, {TINY: sound}), "paper")
            if trials or at_paper:
                record.write(name, found)
    why = {name: reason.why for name, reason in reasons.items()}
    sizes = {name: smaller.says for name, smaller in reduced.REDUCED.items()}
    left = record.settle(claims, ARGUED, kept=kept, reasons=why, blind=BLIND, reduced=sizes)
    complaints += contradictions(record.read())
    print("\n".join(complaints), end="\n" if complaints else "")
    print("\n".join(record.lines()))
    untried = not asked.list and any(name in left for name in chapters)
    return 1 if complaints or untried else 0


def _broken(
    found: dict[str, Any], faults: Sequence[Fault], kept: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """A sentence for each fault that turns rows whose statement it should leave true."""
    for fault in faults:
        turned = [
            name
            for name, row in found["rows"].items()
            if fault.name in row.get("turned", ())
            and (fault.symmetry or name in kept.get(fault.name, ()))
        ]
        if turned:
            yield f"{fault.name} leaves true and turns {', '.join(turned)}."


def executed_at_paper(chapter: Chapter) -> Trial | None:
    """What a build of the paper profile has reported, if there is one of the chapter as it is."""
    settings = book.Settings(ROOT, device="cpu")
    entry, _ = executed.find(settings, chapter_key(chapter, settings))
    if entry is None:
        return None
    return Trial(chapter.name, NONE, entry.key, entry.measures, seconds=entry.origin["seconds"])


class Pool:
    """As many executors as there are jobs, each with one trial at a time."""

    def __init__(self, executors: Sequence[Executor]) -> None:
        self._free: SimpleQueue[Executor] = SimpleQueue()
        for executor in executors:
            self._free.put(executor)
        self._count = len(executors)

    def tried(
        self,
        chapter: str,
        faults: Sequence[Wrong | None],
        settings: Settings,
        deadline: float,
        complaints: list[str],
    ) -> Iterator[tuple[Wrong | None, Trial]]:
        """The trials of a chapter, from the store where they are there; the first one first."""

        def one(fault: Wrong | None) -> Trial | None:
            try:
                known = stored(chapter, fault, settings)
                if known or not self._count or time.monotonic() > deadline:
                    return known
                executor = self._free.get()
                try:
                    trial = made(chapter, fault, settings, executor)
                finally:
                    self._free.put(executor)
            except Stale as stale:
                complaints.append(f"{stale}.")
                return None
            except RuntimeError as error:
                complaints.append(str(error))
                return None
            print(f"{chapter}: {trial.fault}, {trial.seconds:.0f} s", file=sys.stderr, flush=True)
            return trial

        first, *others = faults
        found = one(first)
        if found is None:
            return
        if first is None and TIMED_OUT in found.errors:
            complaints.append(f"{chapter} did not end within {settings.timeout:.0f} s by itself.")
            return
        yield first, found
        # a flow that a fault keeps from ending need not be waited for
        patience = min(settings.timeout, LEAST[settings.profile] + SLOWER * found.seconds)
        settings = replace(settings, timeout=patience)
        with ThreadPoolExecutor(max(1, self._count)) as threads:
            for fault, trial in zip(others, threads.map(one, others), strict=True):
                if trial is not None:
                    yield fault, trial


@contextlib.contextmanager
def executors(count: int) -> Iterator[Pool]:
    """A pool of so many executors."""
    with contextlib.ExitStack() as stack:
        yield Pool([stack.enter_context(Executor()) for _ in range(count)])


if __name__ == "__main__":
    sys.exit(main())
