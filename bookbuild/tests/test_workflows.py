"""The workflows pass actionlint and zizmor, pin what they use and ask for little."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools.this_book import ROOT

FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))
PINNED = re.compile(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


# the wheel of actionlint is a download from GitHub, so it is not among the locked packages
ZIZMOR, ACTIONLINT = "zizmor --offline --persona pedantic --quiet", "actionlint"


def run(tool, *files):
    """Run a program beside this Python or on the path; skip the test where it is not installed."""
    name, *options = tool.split()
    found = shutil.which(name, path=Path(sys.executable).parent) or shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed")
    return subprocess.run([found, *options, *files], capture_output=True, text=True)


@pytest.mark.parametrize("tool", [ZIZMOR, ACTIONLINT])
def test_a_tool_finds_nothing(tool):
    assert len(FILES) == 3
    done = run(tool, *FILES)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("tool", "old", "new"),
    [
        (ZIZMOR, r"@[0-9a-f]{40} # v[\d.]+", "@v6"),
        (ZIZMOR, r" +with:\n +persist-credentials: false\n", ""),
        (ZIZMOR, r"permissions: \{\}\n", ""),
        (ACTIONLINT, r"matrix\.python", "matrix.pyton"),
    ],
)
def test_a_tool_finds_a_planted_fault(tool, old, new, tmp_path):
    workflows = tmp_path / ".github" / "workflows"
    workflows.mkdir(parents=True)
    text = (FOLDER / "check.yml").read_text(encoding="utf-8")
    assert re.search(old, text)
    (workflows / "check.yml").write_text(re.sub(old, new, text), encoding="utf-8")
    assert run(tool, workflows / "check.yml").returncode != 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_job_is_bounded_and_each_action_pinned(path):
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {}
    assert "concurrency" in workflow
    for job in workflow["jobs"].values():
        assert 0 < job["timeout-minutes"] <= 350
        assert job["permissions"]
        for step in job["steps"]:
            # an expression in a script is an injection; an environment variable is not
            assert "${{" not in step.get("run", "")
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
    used = [line.partition("uses:")[2].strip() for line in text.splitlines() if "uses:" in line]
    assert all(PINNED.fullmatch(action) for action in used), used


def test_every_command_of_make_exists():
    makefile = (FOLDER.parents[1] / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
    called = {name for path in FILES for name in re.findall(r"\bmake (\w+)", path.read_text())}
    assert called
    assert called <= targets


def test_a_runner_with_a_gpu_is_asked_for_one():
    """With the device auto a GPU that is not found would be a build on the processor."""
    workflow = yaml.safe_load((FOLDER / "publish.yml").read_text(encoding="utf-8"))
    build = workflow["jobs"]["build"]
    assert "GPU_RUNNER" in build["runs-on"]
    assert build["env"]["ASKED"] == "${{ vars.GPU_RUNNER && 'cuda' || 'cpu' }}"
    commands = [step.get("run", "") for step in build["steps"]]
    executing = [c for c in commands if re.search(r"make (reproduce|book|release|notebooks)", c)]
    assert len(executing) == 2
    assert all('DEVICE="$ASKED" RESULTS="$RESULTS"' in command for command in executing)


def test_no_pipe_hides_a_failure_and_a_secret_is_in_one_step():
    for path in FILES:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
        if any(re.search(r" \| ", step.get("run", "")) for step in steps):
            assert workflow["defaults"]["run"]["shell"] == "bash"  # given by name, it has pipefail
        told = {step["name"] for step in steps if "secrets." in str(step)}
        assert told <= {"Deposit a draft on Zenodo, where there is a token for it"}
        for place in (workflow, *workflow["jobs"].values()):
            given = map(str, place.get("env", {}).values())
            assert not [one for one in given if re.search(r"secrets\.(?!\w+ != '' }})", one)]


def test_one_version_of_each_action():
    text = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
    pins = set(re.findall(r"(actions/[\w-]+)@(\w+ # v[\d.]+)", text))
    assert len(pins) == len({name for name, _ in pins})
