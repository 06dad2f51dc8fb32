"""What has been recorded once is not recorded otherwise: the history shows an edit by hand.

An entry has an identity and a content. An edit gives an identity that was recorded already another
content. A run that is made again was made by other code, so that it has another identity.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from reprlib import Repr
from typing import Any, NamedTuple

from evidence.repository import WORKTREE, History

Pairs = Iterable[tuple[Hashable, str]]  # identities, and the content of each
Known = dict[Any, Any]  # what a commit knows

IDENTITY = ("chapter", "variation", "fingerprint")  # of an outcome
SAME = ("smoke", "bits", "machine")  # what codes in `same` make
BRIEF = Repr()
BRIEF.maxstring = 120


class Codes(NamedTuple):
    """Codes that make the same numbers, and what these are: see `outcomes.Numbers`."""

    same: list[str]
    numbers: str
    constants: str | None
    paper: str


def altered(root: Path, files: Mapping[str, Callable[[str], Pairs]], since: str) -> list[str]:
    """Return a sentence for each identity of a file that gets another content.

    Only commits that have the file `since` count, for before it the formats were others, and the
    working tree. Raises BookError where the history is not whole, and JSONDecodeError for a file
    of the working tree that is no JSON.
    """
    history = History(root, *files, since)
    present = history.files[WORKTREE]
    sentences = [f"{path} is not there, or no plain file" for path in {*files, since} - {*present}]
    for path, parse in files.items():
        list(parse(present[path]) if path in present else ())
        for commit, before, now in _recorded(history, path, parse, since):
            sentences += [
                f"{path}: {BRIEF.repr(name)} was recorded, and is otherwise in {_where(commit)}."
                for name, content in now.items()
                if any(parent.get(name, content) != content for parent in before)
            ]
    return sentences


def lost(root: Path, path: str, since: str) -> list[dict[str, Any]]:
    """Return the outcomes that a file once had and no longer has."""
    *_, (_, (recorded,), now) = _recorded(History(root, path, since), path, lines, since)
    return [json.loads(line) for identity, line in recorded.items() if identity not in now]


def rewritten(root: Path, path: str, since: str) -> list[str]:
    """Return a sentence for each list of codes with the same numbers that did not grow at its end.

    From commit to commit it grows by one code, is cut at its end, or begins again with one. Only
    when it begins again may the numbers be others. What was deleted meanwhile counts. A code that
    was listed before keeps its numbers, and joins only a code with which it was listed before.
    """
    history, sentences = History(root, path, since), []
    listed: dict[str, list[Codes]] = {}  # each list that there ever was
    for commit, before, now in _walked(history, since, lambda texts: _same(texts.get(path, ""))):
        for name, codes in now.items():
            goes_on = any(_goes_on(parent.get(name), codes) for parent in before)
            if any(before) and not (goes_on and _agrees(codes, listed.get(name, []))):
                sentences.append(f"{path}: the codes of {name} were rewritten in {_where(commit)}.")
            listed.setdefault(name, []).append(codes)
    return sentences


def replaced(root: Path, files: Iterable[str], record: str, since: str) -> list[str]:
    """Return a sentence for each stored run that was made anew though its code was of the day.

    A run that was gone for a time counts, and so do codes that were ever listed together.
    """
    history, sentences = History(root, *files, record, since), []
    listed: dict[str, list[list[str]]] = {}  # of each file, the lists that there ever were

    def runs_of(texts: Mapping[str, str]) -> Known:
        pairs = ((file, _entries(texts[file])) for file in files if file in texts)
        return {(file, cell): entry for file, cells in pairs for cell, entry in cells.items()}

    for commit, before, now in _walked(history, since, runs_of):
        for name, codes in _same(history.files[commit].get(record, "")).items():
            listed.setdefault(name, []).append(codes.same)
        for (file, cell), entry in now.items():
            sentences += [
                f"{file}: {BRIEF.repr(cell)} is another run since {_where(commit)}."
                for was in {str(parent.get((file, cell), entry)) for parent in before} - {entry}
                if _alike(was, entry, listed.get(file, [[]]))
            ]
    return sentences


def _recorded(
    history: History, path: str, parse: Callable[[str], Pairs], since: str
) -> Iterator[tuple[str, list[Known], Known]]:
    """Yield commits as `_walked` does, with the contents of a file by their identities."""

    @cache
    def read(text: str) -> Known:
        try:
            return dict(parse(text))
        except json.JSONDecodeError:  # such as after a merge with conflicts
            return {}

    return _walked(history, since, lambda texts: read(texts.get(path, "")))


def _walked(
    history: History, since: str, read: Callable[[Mapping[str, str]], Known]
) -> Iterator[tuple[str, list[Known], Known]]:
    """Yield commits with what each parent knows and what there is now; what is gone is known."""
    by_commit: dict[str, Known] = {}
    for commit, parents in history.parents.items():
        texts, before = history.files[commit], [by_commit[parent] for parent in parents]
        by_commit[commit] = {key: value for one in before for key, value in one.items()}
        if since in texts or by_commit[commit]:
            now = read(texts)
            yield commit, before, now
            by_commit[commit] |= now


def _alike(was: str, now: str, lists: Sequence[Sequence[str]]) -> bool:
    """Whether the code of a run was still of the day, or ever listed with that of the next."""
    old, new = json.loads(was)["code"], json.loads(now)["code"]
    return old in lists[-1] or any({old, new} <= {*codes} for codes in lists)


def _goes_on(before: Codes | None, now: Codes) -> bool:
    """Whether a list begins again with one code, or goes on with the same numbers.

    They are those at toy sizes alone where the code has the same constants.
    """
    was = before.same if before else []
    if len(now.same) == 1 and now.same != was[:1]:
        return True
    short, long = sorted((was, now.same), key=len)
    grown = long[: len(short)] == short and len({*now.same}) == len(now.same) <= len(was) + 1
    if before is None or not grown or before.numbers != now.numbers:
        return False
    whole = before.constants == now.constants or before.paper != ""
    return whole and before.paper in ("", now.paper)


def _agrees(now: Codes, before: Iterable[Codes]) -> bool:
    """Whether the newest code of a list is new, or was listed with these numbers and codes."""
    pair, last = {*now.same[-2:]}, now.same[-1]
    listed = [codes for codes in before if last in codes.same]
    papers = {codes.paper for codes in listed if codes.same[-1] == last and now.paper}
    joined = any(codes.numbers == now.numbers and pair <= {*codes.same} for codes in listed)
    return papers <= {"", now.paper} and (joined or not listed)


@cache
def _entries(text: str) -> dict[str, str]:
    """The entries of a file of stored runs by their configurations."""
    return {_canonical(e["configuration"]): _canonical(e) for e in _plain(text)}


def _plain(text: str) -> Any:
    """Values of JSON in which equal numbers are written alike: 1 as 1.0, and -0.0 as 0.0."""

    def plain(number: str) -> float | str:
        return number.replace("Infinity", "inf") if number[-1:].isalpha() else float(number) + 0.0

    return json.loads(text, parse_int=plain, parse_float=plain, parse_constant=plain)


@cache
def _same(text: str) -> dict[str, Codes]:
    """The codes of each chapter and file that make the same numbers, and what these are."""
    codes_of: dict[str, Codes] = {}
    for line in (json.loads(line) for line in text.split("\n") if '"same": ' in line):
        numbers = _canonical([line.get(name) for name in SAME])
        codes = Codes(line["same"], numbers, line.get("constants"), line.get("paper", ""))
        codes_of[line.get("chapter") or line["file"]] = codes
    return codes_of


def runs(text: str) -> Iterator[tuple[Hashable, str]]:
    """Yield the entries of a file of stored runs, by configuration with code and with date."""
    for entry in _plain(text):
        for name in ("code", "date"):
            yield _canonical([entry["configuration"], name, entry[name]]), _canonical(entry)


def lines(text: str) -> Iterator[tuple[Hashable, str]]:
    """Yield the outcomes of the record by chapter, code and variation."""
    for line in filter(str.strip, text.split("\n")):
        content = json.loads(line)
        if content["line"] == "outcome":
            yield _canonical({name: content[name] for name in IDENTITY}), line


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _where(commit: str) -> str:
    return commit if commit == WORKTREE else f"commit {commit[:12]}"
