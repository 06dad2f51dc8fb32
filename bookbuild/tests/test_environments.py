"""Environments in which other tools fail, by public report: here the same bytes or one sentence."""

import json
import os
import pwd
import resource
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from bookbuild.errors import BookError
from bookbuild.execution import execute
from bookbuild.pipeline import run_chapters, write_release
from bookbuild.reporting import provenance
from bookbuild.site.checks import check_figures, check_notebooks, private_parts
from bookbuild.source.addresses import Addresses
from bookbuild.source.chapters import read_chapter
from tools.this_book import ROOT
from toy_book import LINE, SQUARE, Toy, git

run = partial(subprocess.run, capture_output=True, text=True, check=False)
BOOKBUILD = [sys.executable, "-m", "bookbuild"]
OTHER = "text.usetex: True\nlines.linewidth: 9\n"
SPEC = '{"argv": ["/nowhere/python"], "display_name": "", "language": "python"}'
LONG = "long" * 30
OWNER = "fatal: detected dubious ownership in repository at '/book'"
FILES = {
    "matplotlibrc": OTHER,
    "startup.py": "import matplotlib\nmatplotlib.rcParams['lines.linewidth'] = 9\n",
    "kernels/kernels/python3/kernel.json": SPEC,
    "home/.config/matplotlib/matplotlibrc": OTHER,
    "home/.ipython/profile_default/ipython_config.py": "c.IPKernelApp.exec_lines = ['1/0']",
    "home/.ipython/profile_default/startup/00.py": "raise SystemExit",
    "home/.local/share/jupyter/kernels/python3/kernel.json": SPEC,
    "programs/git": f'#!/bin/sh\necho "{OWNER}" >&2\nexit 128\n',
    **{f"{folder}/file": "" for folder in ("empty", LONG)},
}
PERSONAL = {
    "kernel": {"JUPYTER_PATH": "{user}/kernels"},  # nteract/papermill#625, jupyter/jupyter#270
    "home": {"HOME": "{user}/home"},  # ipython/ipykernel#1158, paulgb/runipy#46
    "matplotlib": {"MATPLOTLIBRC": "{user}", "MPLSTYLE": "ggplot"},  # SNEWS2/snewpy#147
    "startup": {"PYTHONSTARTUP": "{user}/startup.py"},  # jupyterhub/jupyterhub#2231
    "optimised": {"PYTHONOPTIMIZE": "2"},  # scipy/scipy#9150, matplotlib/matplotlib#18169
    "warnings": {"PYTHONWARNINGS": "error"},  # spacetelescope/jdaviz#1830
    "library": {"PYTHONHOME": "/nowhere"},  # spack/spack#32515, python/cpython#125873
    "threads": {"MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "x"},  # pytorch/pytorch#2201
    "long scratch": {"TMPDIR": "{user}/" + LONG},  # zeromq/pyzmq#203, verl-project/verl#1120
    "no scratch": {"TMPDIR": "/nowhere"},  # cylc/cylc-flow#2999, flux-framework/flux-core#3326
    "no home": {"HOME": "/dev/null"},  # matplotlib/matplotlib#18011, jupyter/docker-stacks#465
    "no runtime": {"XDG_RUNTIME_DIR": "/dev/null"},  # jupyter/notebook#3481
    "no git": {"PATH": "{user}/empty"},  # treeverse/dvc#1835, mlflow/mlflow#90
    "other owner": {"PATH": "{user}/programs:/usr/bin:/bin"},  # casperdcl/git-fame#81
    "proxy": {"http_proxy": "http://127.0.0.1:9"},  # clearlinux/swupd-client#642
    "1970": {"SOURCE_DATE_EPOCH": "0", "VIRTUAL_ENV": "/x"},  # pypa/hatch#1605
}
REASONS = {"no git": "git is not installed", "other owner": OWNER[7:]}


def fixed(entry):
    """Return what of a chapter may not depend on where it was executed."""
    drawings = [entry.figures[name] for name in ("fig-square.svg", "fig-square_narrow.svg")]
    data = json.loads(entry.figures["fig-square.json"])["data"]
    return [entry.key, entry.origin["versions"], entry.measures, data, *drawings]


def made(toy):
    """Execute the chapter that draws."""
    chapters = [read_chapter(toy.root, SQUARE)]
    _, entries = run_chapters(chapters, toy.settings(jobs=1), *toy.heard())
    return fixed(entries[SQUARE])


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    """A folder with everything that a user may have set up."""
    root = tmp_path_factory.mktemp("user")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
        (root / name).chmod(0o755)
    return root


@pytest.fixture
def usual(built_once):
    """What an ordinary environment makes."""
    return fixed(built_once[0].entry(SQUARE))


@pytest.mark.parametrize("name", PERSONAL)
def test_nothing_personal_counts(name, usual, unbuilt, user, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", None)
    for variable, value in PERSONAL[name].items():
        monkeypatch.setenv(variable, value.replace("{user}", str(user)))
    assert made(unbuilt) == usual
    output, then = unbuilt.lines
    assert output.startswith("the commit of what is executed will be recorded as unknown: ")
    assert output.endswith(REASONS.get(name, ": .git"))
    assert then.startswith(f"{SQUARE}: done in ")


# snakemake/snakemake#2981, snakemake/snakemake#85; NixOS/nixpkgs#20716; ipython/ipykernel#512
def test_names_dates_and_other_files_do_not_count(usual, unbuilt, tmp_path, monkeypatch):
    place = unbuilt.root.rename(tmp_path / "Anna's 100 % {Übung} (1)")
    for path in place.rglob("*"):
        os.utime(path, (0, 0))
    for name, text in {"random.py": "1/0", "code.py": "1/0", "matplotlibrc": OTHER}.items():
        (place / name).write_text(text, encoding="utf-8")
    (tmp_path / "{link}").symlink_to(place)
    monkeypatch.chdir(place)
    assert made(Toy(tmp_path / "{link}")) == usual


def test_a_job_of_cron_has_few_files(usual, unbuilt):  # ipython/ipython#7294
    order = ["sh", "-c", '"$@" <&-', "sh", *BOOKBUILD, "chapter", SQUARE, "--device", "cpu"]
    few = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (128, 128))
    only = {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = run(order, cwd=unbuilt.root, env=only, preexec_fn=few)
    assert (done.returncode, done.stderr) == (0, "")
    assert fixed(unbuilt.entry(SQUARE)) == usual


def test_a_kernel_tells_the_versions_of_the_key(unbuilt, monkeypatch):
    # nteract/papermill#346
    other = "open({0[0]!r}, 'w').write('{{\"versions\": \"3.9\"}}')"
    monkeypatch.setattr(execute, "TELL_USAGE", other)
    with pytest.raises(BookError, match=rf"{SQUARE} was executed by other versions: .*3\.9"):
        made(unbuilt)
    assert list(unbuilt.settings().results.iterdir()) == []


# treeverse/dvc#619, apache/lucene#12961
def test_a_clone_with_other_ends_of_lines_has_the_same_keys(unbuilt, tmp_path):
    shutil.copy(ROOT / ".gitattributes", unbuilt.root)
    for order in ("init --quiet", "add .", "commit --quiet -m toy"):
        unbuilt.git(*order.split())
    options = ["-c", "core.autocrlf=true", "-c", "core.eol=crlf"]
    unbuilt.git("clone", "--quiet", *options, ".", str(tmp_path / "clone"))
    for name in (LINE, SQUARE):
        assert Toy(tmp_path / "clone").key(name) == unbuilt.key(name)


# gitpython-developers/GitPython#535; pypa/setuptools-scm#25
@pytest.mark.parametrize("variable", ["GIT_DIR", "NONE"])
def test_another_repository_gives_no_commit(unbuilt, command, monkeypatch, variable):
    around = unbuilt.root.parent
    git(around, "init", "--quiet")
    git(around, "commit", "--quiet", "--allow-empty", "-m", "another")
    assert provenance.commit(unbuilt.root) != "unknown"
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", "")  # so that it is reset
    monkeypatch.setenv(variable, str(around / ".git"))
    assert command(unbuilt.root, "chapter", LINE, "--device", "cpu") == ""
    assert provenance.commit(unbuilt.root) == "unknown"


def test_a_release_needs_git(unbuilt, user, monkeypatch):
    # kedro-org/kedro#1401, kedro-org/kedro#1062
    monkeypatch.setenv("PATH", str(user / "empty"))
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    with pytest.raises(BookError, match=r"commit of this book, .* none: git is not installed\.$"):
        write_release(unbuilt.settings(), *unbuilt.heard())
    assert unbuilt.lines == []
    unbuilt.edit("_config.yml", "url: https://github.com/someone/toy", 'url: ""')
    assert Addresses.find(unbuilt.root) is None  # the site has no buttons


# jupyter/docker-stacks#552, jupyter/docker-stacks#598
@pytest.mark.parametrize("home", ["/", None, "/usr/", "."])
@pytest.mark.parametrize("folder", ["/data", "/tmp/a"])
def test_private_are_whole_paths(built_once, monkeypatch, home, folder):
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    monkeypatch.setenv("TOKENIZER", "position")
    monkeypatch.setenv("HOME", home) if home else monkeypatch.delenv("HOME")
    stage, folders = built_once[0].settings().stage, (Path(folder),)
    entries = {SQUARE: built_once[0].entry(SQUARE)}
    assert [*check_notebooks(stage, folders), *check_figures(entries, folders)] == []
    public = f"https://x.org{folder}/y ../..{folder}/z.json a{folder}/ #!/usr/bin/env positions"
    assert list(private_parts(public, folders)) == []
    for text in (f"'{folder}/x'", f"\\n{folder}/x", f"file://{folder}/x", f"\x1b[32m{folder}/x"):
        assert f"names the local folder {folder}/" in private_parts(text, folders)


# pypa/virtualenv#395, astral-sh/uv#8983
def test_a_colon_in_the_name_of_a_folder_is_told(unbuilt, tmp_path):
    toy = Toy(unbuilt.root.rename(tmp_path / "cs194:294"))
    with pytest.raises(BookError, match=r"^No folder may have a : in its name, as in .*194:294"):
        made(toy)
    assert toy.started() == set()


# zreitz/multismash#13, TUM-DAML/seml#94
@pytest.mark.parametrize("most", [0, 5000])
def test_a_full_disk_is_told_in_one_sentence(unbuilt, most):
    (unbuilt.root / "src" / "long.py").write_text("#" * 5001, encoding="utf-8")
    full = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
    done = run([*BOOKBUILD, "build", "--device", "cpu"], cwd=unbuilt.root, preexec_fn=full)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "ile too large" in done.stderr
