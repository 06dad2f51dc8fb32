"""Locks, environment.yml and pyproject.toml name the same versions; workflows ask for little."""

import re
import shutil
import subprocess
import sys
import tomllib
from itertools import pairwise

import pytest
import yaml

from tools.this_book import ROOT

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


FOLDER = ROOT / ".github" / "workflows"
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.yml"))}
WORKFLOWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
PINNED = re.compile(r"(actions/[\w-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)")

# the wheel of actionlint is a download from GitHub, so it is not among the locked packages
ZIZMOR, ACTIONLINT = "zizmor --offline --persona pedantic --quiet", "actionlint"


def run(tool, *files):
    """Run a program beside this Python or on the path; skip the test where it is not installed."""
    name, *options = tool.split()
    result = shutil.which(name, path=f"{sys.exec_prefix}/bin") or shutil.which(name)
    if not result:
        pytest.skip(f"{name} is not installed")
    return subprocess.run([result, *options, *files], capture_output=True, text=True)


@pytest.mark.parametrize("tool", [ZIZMOR, ACTIONLINT])
def test_a_tool_finds_nothing(tool):
    assert len(TEXTS) == 3
    done = run(tool, *(FOLDER / f"{name}.yml" for name in TEXTS))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("workflow", WORKFLOWS.values(), ids=WORKFLOWS)
def test_each_job_is_bounded_no_pipe_hides_a_failure_and_none_has_a_secret(workflow):
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all(0 < job["timeout-minutes"] <= 350 for job in workflow["jobs"].values())
    if any(re.search(r" \| ", step.get("run", "")) for step in steps):
        assert workflow["defaults"]["run"]["shell"] == "bash"  # given by name, it has pipefail
    assert "secrets." not in str(workflow)


def test_each_action_is_pinned_to_one_version_and_each_command_of_make_exists():
    text = "\n".join(TEXTS.values())
    used = re.findall(r"uses: (.*)", text)
    pins = {match.groups() for match in map(PINNED.fullmatch, used) if match}
    assert all(PINNED.fullmatch(action) for action in used), used
    assert len(pins) == len({name for name, _ in pins})
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    called = set(re.findall(r"\bmake (\w+)", text))
    assert called
    assert called <= set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
