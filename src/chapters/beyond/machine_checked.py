"""Theorem 2 in Coq: what the proofs state, and what they rest on.

The Coq development in proofs/: its statements, its compilation, and the record of both.

`make record WHAT=proofs` compiles it and writes the record. `make record WHAT=coqchk` lets coqchk,
a second and smaller checker, read what was compiled, and writes a record of its own. Both need
Coq, Coquelicot and Interval, but no Python package.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

FOLDER, RECORD, CHECKED = Path("proofs"), Path("data/proofs.json"), Path("data/coqchk.json")
PACKAGES = "coq libcoq-coquelicot libcoq-interval"
# What Coq's real numbers themselves rest on: excluded middle in three forms, and extensionality.
REALS = frozenset({
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "Classical_Prop.classic",
    "FunctionalExtensionality.functional_extensionality_dep",
})  # fmt: skip
_THEOREM = re.compile(r"^Theorem (\w+).*?(?=\nProof\.)", re.M | re.S)
_SECTION = re.compile(r"^Section (\w+)\.$.*?^End \1\.$", re.M | re.S)
_DEFINITION = re.compile(r"^(?:Definition|Fixpoint) (\w+).*?\.$", re.M | re.S)
_CONTEXT = re.compile(r"^(?:Variables?|Hypothes[ie]s) .*?\.$", re.M | re.S)
_ASSUMPTION = re.compile(r"^([\w.]+)\s*:", re.M)
_SUMMARY = re.compile(r"^\* (.+?):\s*(.*?)\s*(?=^\* |\Z)", re.M | re.S)
_WORD = re.compile(r"\w+")


class Unproved(Exception):
    """A development that does not compile, or that rests on more than the reals."""


class Statement(NamedTuple):
    """A theorem of the development: where it is, what it says, and under which hypotheses."""

    name: str
    file: str
    context: str  # the hypotheses of its section
    text: str

    @property
    def digest(self) -> str:
        """The SHA-256 of hypotheses and statement."""
        return hashlib.sha256(f"{self.context}\n{self.text}".encode()).hexdigest()


def files(folder: Path = FOLDER) -> list[Path]:
    """The sources in the order of compilation, as `_CoqProject` lists them."""
    lines = (folder / "_CoqProject").read_text(encoding="utf-8").splitlines()
    return [folder / line for line in lines if line.endswith(".v")]


def statements(folder: Path = FOLDER) -> dict[str, Statement]:
    """Every `Theorem` of the development, as it is written."""
    by_name = {}
    for path in files(folder):
        source = path.read_text(encoding="utf-8")
        for match in _THEOREM.finditer(source):
            before = _SECTION.sub("", source[: match.start()])  # without sections that have ended
            context = "\n".join(found.group() for found in _CONTEXT.finditer(before))
            by_name[match[1]] = Statement(match[1], path.name, context, match[0])
    return by_name


def definitions(folder: Path = FOLDER) -> dict[str, str]:
    """Every `Definition` that a statement uses, itself or through another, by name."""
    sources = (path.read_text(encoding="utf-8") for path in files(folder))
    texts = {match[1]: match[0] for source in sources for match in _DEFINITION.finditer(source)}
    unread = [f"{match.context} {match.text}" for match in statements(folder).values()]
    used: set[str] = set()
    while unread:
        new = (texts.keys() & set(_WORD.findall(unread.pop()))) - used
        used |= new
        unread += [texts[name] for name in new]
    return {name: text for name, text in texts.items() if name in used}


def missing() -> str:
    """The sentence that says what to install, or nothing where Coq is there with both libraries."""
    if shutil.which("coqc"):
        library = "From Coquelicot Require Coquelicot. From Interval Require Tactic."
        with tempfile.TemporaryDirectory() as place:
            if not _compile(Path(place), "Needed", library).returncode:
                return ""
    return f"Coq with Coquelicot and Interval is needed: on Debian, apt-get install {PACKAGES}."


def compile_proofs(folder: Path = FOLDER) -> dict[str, Any]:
    """Compile a copy of the development and ask Coq what its theorems rest on.

    The record has Coq's version, the SHA-256 of every source, and for each theorem the digest of
    its statement and the axioms under it and the others of its file, which it cannot exceed. Raises
    Unproved where a source does not compile, or a theorem rests on more than the reals.
    """
    stated = statements(folder)
    with _compiled(folder) as place:
        answer = _checked(_compile(place, "Asked", _question(stated)), "Print Assumptions")
    answers = dict(_axioms(answer))
    axioms = {name: answers[statement.file] for name, statement in stated.items()}
    raise_beyond_reals(axioms)
    return {
        "coq": _version("coqc"),
        "sources": _sources(folder),
        "theorems": {
            name: {"statement": stated[name].digest, "assumptions": sorted(axioms[name])}
            for name in stated
        },
    }


def check_compiled(folder: Path = FOLDER) -> dict[str, Any]:
    """Compile a copy of the development and let coqchk read it, with the libraries that it loads.

    The record has coqchk's version, the SHA-256 of every source, and the axioms of all that was
    loaded, used or not. Raises Unproved where coqchk refuses a file, finds an axiom in the
    development, or finds that a check of Coq's was switched off.
    """
    names = [f"Emergence.{path.stem}" for path in files(folder)]
    with _compiled(folder) as place:
        command = ["coqchk", "-silent", "-o", "-Q", ".", "Emergence", *names]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unproved(f"coqchk refuses the development: {done.stderr.strip()}")
    axioms = raise_beyond_libraries(done.stdout)
    return {"coqchk": _version("coqchk"), "sources": _sources(folder), "axioms": axioms}


def raise_beyond_libraries(summary: str) -> list[str]:
    """The axioms of libraries in coqchk's summary; raise Unproved if it lists anything else."""
    listed = {what: said.replace("<none>", "").split() for what, said in _SUMMARY.findall(summary)}
    axioms = listed.pop("Axioms")
    del listed["Theory"]
    beyond = [name for name in axioms if name.startswith("Emergence.")]
    for name in beyond + [name for names in listed.values() for name in names]:
        raise Unproved(f"coqchk lists {name}.")
    return sorted(axioms)


def raise_beyond_reals(axioms: Mapping[str, set[str]]) -> None:
    """Raise Unproved if a theorem rests on an axiom that is none of the reals'."""
    for name, used in axioms.items():
        if used - REALS:
            raise Unproved(f"{name} rests on {', '.join(sorted(used - REALS))}.")


def standing(folder: Path = FOLDER, record: Path = RECORD) -> dict[str, bool]:
    """Whether each theorem stands: recorded as it is written, its axioms no more than the reals'.

    One edit of any source, and none of them does until the development is compiled again.
    """
    stored = json.loads(record.read_text(encoding="utf-8"))
    fresh = stored["sources"] == _sources(folder)
    theorems = stored["theorems"]
    return {
        name: fresh
        and name in theorems
        and theorems[name]["statement"] == statement.digest
        and set(theorems[name]["assumptions"]) <= REALS
        for name, statement in statements(folder).items()
    }


def assumptions(record: Path = RECORD) -> dict[str, list[str]]:
    """The axioms that each recorded theorem rests on, by `Print Assumptions`."""
    theorems = json.loads(record.read_text(encoding="utf-8"))["theorems"]
    return {name: entry["assumptions"] for name, entry in theorems.items()}


def libraries(record: Path = CHECKED) -> dict[str, int]:
    """How many axioms of each library coqchk listed: none if the sources have changed since."""
    stored = json.loads(record.read_text(encoding="utf-8"))
    if stored["sources"] != _sources(FOLDER):
        return {}
    return Counter(".".join(name.split(".")[:2]) for name in stored["axioms"])


def _question(found: Mapping[str, Statement]) -> str:
    """Ask once for the theorems of each file: Coq walks through both libraries at each question."""
    by_file: dict[str, list[str]] = {}
    for name, statement in found.items():
        by_file.setdefault(statement.file, []).append(name)
    lines = [f"From Emergence Require Import {' '.join(name[:-2] for name in by_file)}."]
    for file, names in by_file.items():
        together = f"all_of_{file[:-2]}"
        lines += [
            f"Definition {together} := ({', '.join(f'@{name}' for name in [*names, 'I'])}).",
            f'Goal True. idtac "@{file}". Abort.',
            f"Print Assumptions {together}.",
        ]
    return "\n".join(lines) + "\n"


def _sources(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files(folder)}


@contextmanager
def _compiled(folder: Path) -> Iterator[Path]:
    """A place with a compiled copy of the development."""
    with tempfile.TemporaryDirectory() as name:
        for path in files(folder):
            _checked(_compile(Path(name), path.stem, path.read_text(encoding="utf-8")), path.name)
        yield Path(name)


def _compile(place: Path, name: str, source: str) -> subprocess.CompletedProcess[str]:
    (place / f"{name}.v").write_text(source, encoding="utf-8")
    command = ["coqc", "-q", "-w", "none", "-Q", ".", "Emergence", f"{name}.v"]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)


def _checked(done: subprocess.CompletedProcess[str], what: str) -> str:
    if done.returncode:
        raise Unproved(f"{what} does not compile: {done.stderr.strip()}")
    return done.stdout


def _axioms(answer: str) -> Iterator[tuple[str, set[str]]]:
    for part in answer.split("@")[1:]:
        name, _, said = part.partition("\n")
        if "Axioms:" not in said and "Closed under the global context" not in said:
            raise Unproved(f"Coq does not say what {name} rests on.")
        yield name.strip(), set(_ASSUMPTION.findall(said.partition("Axioms:")[2]))


def _version(program: str) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return said.partition("version ")[2].split()[0]


def main() -> None:
    """Compile the development, print what stands, and write the record."""
    record = _write(compile_proofs, RECORD)
    for name, statement in statements().items():
        print(f"{statement.file}: {name}")
    print(f"{len(record['theorems'])} theorems proved, on the axioms of Coq's reals alone.")


def check() -> None:
    """Compile the development, let coqchk read it, and write that record."""
    record = _write(check_compiled, CHECKED)
    print(f"coqchk accepts {len(record['sources'])} files, with no axiom but those of libraries.")


def _write(make: Callable[[], dict[str, Any]], path: Path) -> dict[str, Any]:
    if sentence := missing():
        sys.exit(sentence)
    try:
        record = make()
    except Unproved as fault:
        sys.exit(str(fault))
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return record
