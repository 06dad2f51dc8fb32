"""The rooms of the house: sizes, one loop, one pattern of settings."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bookbuild.results.code import definitions
from bookbuild.results.code.definitions import reached_by_cells
from tools.this_book import ROOT, chapters, read_outside

SRC = ROOT / "src"
SCIENCE = [SRC / "emergence", SRC / "chapters"]
MODULES = sorted(p for src in (SRC, ROOT / "bookbuild" / "src") for p in src.rglob("*.py"))
CHAPTERS = [chapter for chapter in chapters() if chapter.code]
GRADIENTS = {
    "backward", "grad", "descent", "residual_and_gradient", "loss_and_gradient", "minimal_step",
    "token_step",
}  # fmt: skip
# What is no chapter and uses the library: the command, and the builder by `Book.runner`.
PROGRAMS = {
    "emergence.command": "main",
    "emergence.running.cache": "is_inner",
    "emergence.running.graphs": "gpu_seconds",
    "emergence.running.records": "written",
}
# Loops that take gradients and are no training: what they do instead.
NO_TRAINING = {
    "emergence/training/_minimal.py: gradient_samples": "averages at weights that stay",
    "chapters/companions/grokking/direction.py: pulled": "a measurement, argued there",
    "chapters/paper/training_dynamics/gradients.py: _gradients": "gradients at weights that stay",
}
# Loops of which no loss that is not finite may be an error, and why.
UNCHECKED = {
    "networks_per_string": "an enumeration of networks, with progress and no loss",
    "train_asked_tokens": "a run that diverges ends there, and its looks before that are kept",
    "train_supervised": "a run that diverges ends there, and is stored as one that diverged",
    "train_side_by_side": "a run that diverges leaves, and the others go on",
}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def defined() -> set[str]:
    """The functions and classes of the library, named as `reached_by_cells` names them."""
    result = set()
    for path in (SRC / "emergence").rglob("*.py"):
        module = ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
        for node in tree(path).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                result.add(f"{module}:{node.name}")
    return result


def documented() -> Iterator[str]:
    """Cells that read the entries of the reference, one each."""
    module = ""
    for line in (ROOT / "book" / "reference.md").read_text(encoding="utf-8").splitlines():
        if named := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = named[1]
        elif named := re.match(r"\.\. (?:auto(?:function|class|data)|py:data):: (\S+)", line):
            yield f"from {module} import {named[1]} as entry\nentry"


def test_what_one_chapter_uses_lies_with_it_and_not_in_the_library(monkeypatch) -> None:
    """A definition of `emergence` serves two chapters, a program or what the page lists."""
    monkeypatch.setattr(definitions, "KEEPING", ())  # follow what keeps results as well
    users = Counter(
        place
        for chapter in CHAPTERS
        for place in reached_by_cells((cell.source for cell in chapter.code), SRC).digests
    )
    programs = [f"from {module} import {name}\n{name}" for module, name in PROGRAMS.items()]
    public = set(reached_by_cells([*documented(), *programs], SRC).digests)
    alone = {place for place in defined() if users[place] < 2 and place not in public}
    assert alone == set()
    assert len(defined() & public) > 150
    assert sum(users[place] >= 2 for place in defined()) > 150


def test_nothing_is_named_like_its_module() -> None:
    """`from room import thing` would give the module or the function, as imports happen to run."""
    for path in MODULES:
        module = path.parent.name if path.stem == "__init__" else path.stem
        named = {getattr(node, "name", "") for node in tree(path).body}
        assert module not in named, path


def test_every_module_says_what_it_is() -> None:
    assert [path for path in MODULES if not ast.get_docstring(tree(path))] == []


def test_modules_are_small_and_folders_are_not_crowded() -> None:
    for path in MODULES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 250, path
    for folder in {path.parent for path in MODULES}:
        modules = [path for path in folder.glob("*.py") if path.stem != "__init__"]
        assert len(modules) <= 12, folder


def test_a_chapter_only_chooses_its_preset_by_the_profile() -> None:
    for chapter in CHAPTERS:
        assert read_outside(chapter, "profile", "choose") == [], chapter.name


def called(node: ast.AST) -> set[str]:
    """The last names of what is called below a node."""
    calls = (result.func for result in ast.walk(node) if isinstance(result, ast.Call))
    return {getattr(func, "attr", getattr(func, "id", "")) for func in calls}


def loops() -> Iterator[tuple[str, ast.FunctionDef, ast.For | ast.While]]:
    """Loops of functions outside `running`, with the function and the names of module and it."""
    for path in [path for room in SCIENCE for path in room.rglob("*.py")]:
        for function in ast.walk(tree(path)):
            if isinstance(function, ast.FunctionDef):
                for loop in ast.walk(function):
                    if isinstance(loop, ast.For | ast.While):
                        yield f"{path.relative_to(SRC)}: {function.name}", function, loop


def test_there_is_one_loop_of_descent() -> None:
    counted = {
        name
        for name, _, loop in loops()
        if (isinstance(loop, ast.While) or "range" in called(loop.iter))
        and called(loop) & GRADIENTS
    }
    assert counted == set(NO_TRAINING)


def test_every_descent_looks_whether_its_loss_is_finite() -> None:
    descents = [
        (name, function)
        for name, function, loop in loops()
        if isinstance(loop, ast.For)
        and "steps" in called(loop.iter)
        and function.name not in UNCHECKED
    ]
    assert len(descents) > 10
    for name, function in descents:
        assert "check_finite" in called(function), name
