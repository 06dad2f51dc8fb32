"""The workflows pass actionlint and zizmor, pin what they use and ask for little."""

import re
import shutil
import subprocess
import sys

import pytest
import yaml

from tools.this_book import ROOT

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
