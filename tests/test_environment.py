"""The lock file, environment.yml and pyproject.toml name the same packages and versions."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


BUILDER = tomllib.loads((ROOT / "bookbuild" / "pyproject.toml").read_text())["project"]


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lines) -> dict[str, str]:
    """Package names and versions of the lines that pin one."""
    return {
        normalised(name): version
        for name, separator, version in (line.strip().partition("==") for line in lines)
        if separator
    }


LOCK = pins((ROOT / "requirements.lock").read_text().splitlines())
TESTS = pins((ROOT / "requirements-test.lock").read_text().splitlines())


def named(*extras: str) -> set[str]:
    """What pyproject.toml asks for, with these extras; what the builder beside it asks for too."""
    optional = PROJECT["optional-dependencies"] | {"book": BUILDER["dependencies"]}
    wanted = PROJECT["dependencies"] + [name for extra in extras for name in optional[extra]]
    return {normalised(re.split(r"[<>=!~ ]", name)[0]) for name in wanted}


def test_every_package_of_the_project_is_locked():
    assert named("book") <= set(LOCK)
    assert named("test") <= {*LOCK, *TESTS}


def test_what_tests_need_is_locked_apart():
    assert not {*LOCK} & {*TESTS}
    assert {"mypy", "playwright", "pytest", "hypothesis"} <= {*TESTS}


@pytest.mark.parametrize(("extra", "separator"), [("language", "-"), ("peers", ".")])
def test_an_extra_adds_to_the_lock_what_it_names_and_changes_nothing(extra, separator):
    added = pins((ROOT / f"requirements{separator}{extra}.lock").read_text().splitlines())
    assert not added.keys() & LOCK.keys()
    assert named(extra) - named() <= added.keys()


@pytest.mark.parametrize("which", ["", "-test", "-lab", "-language"])
def test_no_line_of_the_lock_is_of_one_machine(which):
    for line in (ROOT / f"requirements{which}.lock").read_text().splitlines():
        assert line.startswith("#") or re.fullmatch(r"[\w.-]+==[\w.]+", line), line


@pytest.mark.parametrize(("name", "lock"), [("requirements", LOCK), ("requirements-test", TESTS)])
def test_every_locked_file_but_pytorch_s_has_a_checksum(name, lock):
    lines = (ROOT / f"{name}.hashes").read_text().splitlines()
    hashed = pins(line.partition(";")[0].rstrip(" \\") for line in lines)
    assert {name: hashed.get(name) for name in lock.keys() - {"torch"}} == {
        name: version for name, version in lock.items() if name != "torch"
    }
    assert "torch" not in hashed
    for name, after in pairwise(line for line in lines if not line.startswith("#")):
        if "==" in name:
            assert re.fullmatch(r" +--hash=sha256:[0-9a-f]{64}( \\)?", after), name


def test_environment_yml_has_the_pins_of_the_lock():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    listed = next(entry["pip"] for entry in conda["dependencies"] if isinstance(entry, dict))
    environment = pins(listed)
    assert set(environment) == named("book")
    assert environment == {name: LOCK[name] for name in environment}
