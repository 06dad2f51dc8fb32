"""The rooms of the house: the map in the workshop, sizes, one loop, one pattern of settings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bookbuild.results.code.definitions import reached_by_cells
from this_book import ROOT, chapters, read_outside

SRC = ROOT / "src"
SCIENCE = [SRC / "emergence", SRC / "chapters"]
MODULES = sorted(path for path in SRC.rglob("*.py"))
CHAPTERS = [chapter for chapter in chapters() if chapter.code]
GRADIENTS = {
    "backward",
    "grad",
    "descent",
    "residual_and_gradient",
    "loss_and_gradient",
    "minimal_step",
    "token_step",
}
# Loops that take gradients and are no training: what they do instead.
NO_TRAINING = {
    "emergence/training/minimal.py: gradient_samples": "averages at weights that stay",
    "chapters/companions/grokking/direction.py: pulled": "a measurement, argued there",
    "chapters/companions/two_accounts/stages.py: stream": "averages at weights that stay",
}
# Loops of which no loss that is not finite may be an error, and why.
UNCHECKED = {
    "counts": "an enumeration of networks, with progress and no loss",
    "train_asked_tokens": "a run that diverges ends there, and its looks before that are kept",
    "train_side_by_side": "a run that diverges leaves, and the others go on",
}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def headline(path: Path) -> str:
    """The first line of a module's docstring."""
    return (ast.get_docstring(tree(path)) or "").partition("\n")[0]


def rooms() -> dict[str, str]:
    """Folders and modules that have a line in the workshop, with what they say of themselves."""
    found = {}
    for top in ("running", "emergence", "chapters", "bookbuild", "benchmark"):
        package = SRC / top
        found[f"src/{top}"] = package / "__init__.py"
        if top in ("running", "benchmark"):
            continue
        for path in sorted(package.iterdir()):
            if (path / "__init__.py").is_file():
                found[f"src/{top}/{path.name}"] = path / "__init__.py"
            elif path.suffix == ".py" and not path.stem.startswith("__"):
                found[f"src/{top}/{path.name}"] = path
    return {name: headline(path) for name, path in found.items()}


def test_the_map_in_the_workshop_has_every_room_and_what_it_says_of_itself() -> None:
    workshop = (ROOT / "book" / "workshop.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `(src/[\w./]+)` \| (.+) \|$", workshop, re.MULTILINE))
    assert listed == rooms()


def test_no_module_hides_what_its_package_has_from_elsewhere() -> None:
    """Importing `a.b` binds `b` in `a`, in place of what was imported there under that name."""
    for path in SRC.rglob("__init__.py"):
        modules = {p.stem for p in path.parent.glob("*.py")}
        modules |= {p.parent.name for p in path.parent.glob("*/__init__.py")}
        for node in tree(path).body:
            if isinstance(node, ast.ImportFrom) and (node.level, node.module) != (1, None):
                names = {alias.asname or alias.name for alias in node.names} & modules
                assert all(node.level == 1 and node.module == name for name in names), path


def test_what_one_chapter_uses_lies_with_it_and_not_in_the_library() -> None:
    """A module of `emergence` serves two chapters, draws, or is on the page of the public code."""
    users: dict[str, set[str]] = {}
    for chapter in CHAPTERS:
        for place in reached_by_cells((cell.source for cell in chapter.code), SRC).own:
            users.setdefault(place.partition(":")[0], set()).add(chapter.name)
    reference = (ROOT / "book" / "reference.md").read_text(encoding="utf-8")
    alone = {
        name
        for name, chapters_ in users.items()
        if name.startswith("emergence.")
        and len(chapters_) == 1
        and not name.startswith(
            ("emergence.plotting.", "emergence.theory.area.", "emergence.theory.positions.")
        )
        and f"autofunction:: {name.rpartition('.')[2]}" not in reference
    }
    assert "emergence.theory.area" in reference
    assert "emergence.theory.positions" in reference
    assert alone == {"emergence.theory.full.noise"}  # `theory.output_noise`, which is public
    assert len(users) > 150


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SRC)))
def test_every_module_says_what_it_is(path: Path) -> None:
    assert headline(path), "a docstring is missing"
    assert "?" not in headline(path), "a statement, not a riddle"


def test_modules_are_small_and_folders_are_not_crowded() -> None:
    for path in MODULES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 250, path
    for folder in {path.parent for path in MODULES}:
        modules = [path for path in folder.glob("*.py") if path.stem != "__init__"]
        assert len(modules) <= 12, folder


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_a_chapter_only_chooses_its_preset_by_the_profile(chapter) -> None:
    assert read_outside(chapter, "profile", "choose") == []


def called(node: ast.AST) -> set[str]:
    """The last names of what is called below a node."""
    calls = (found.func for found in ast.walk(node) if isinstance(found, ast.Call))
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
