"""The rooms of the house: sizes, one loop, one pattern of settings."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tools.this_book import ROOT, chapters, read_outside

SRC = ROOT / "src"
SCIENCE = [SRC / "emergence", SRC / "chapters"]
MODULES = sorted(p for src in (SRC, ROOT / "bookbuild" / "src") for p in src.rglob("*.py"))
CHAPTERS = [chapter for chapter in chapters() if chapter.code]
GRADIENTS = {
    "backward", "grad", "descent", "residual_and_gradient", "loss_and_gradient", "minimal_step",
    "token_step",
}  # fmt: skip
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


def test_nothing_is_named_like_its_module() -> None:
    """`from room import thing` would give the module or the function, as imports happen to run."""
    for path in MODULES:
        module = path.parent.name if path.stem == "__init__" else path.stem
        named = {getattr(node, "name", "") for node in tree(path).body}
        assert module not in named, path


def test_every_module_says_what_it_is() -> None:
    assert [path for path in MODULES if not ast.get_docstring(tree(path))] == []


def test_folders_are_not_crowded() -> None:
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
