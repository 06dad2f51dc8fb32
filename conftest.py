"""For every test: shapes checked at run time, one thread, the same draws each time."""

import os
import random

import jaxtyping
import matplotlib as mpl
import pytest
import torch
from hypothesis import settings

from addresses import ByAddress
from browser import chromium, missing

pytest_plugins = ["toy_fixtures"]

mpl.use("Agg")
torch.set_num_threads(1)
SEED = os.environ.get("SEED", "0")
SLOW = {  # what `make test` leaves to `make test WHAT=all` with all that is marked so, and why
    "bookbuild/tests/published/": "books are built from archives that are forged, or from scratch",
    "bookbuild/tests/sphinx_extensions/test_launch.py": "notebooks are published and opened",
    "bookbuild/tests/test_environments.py": "a chapter is executed in each environment",
    "bookbuild/tests/test_example.py": "a book is built",
    "tests/site/": "every page is opened at two addresses, and explorables compute",
    "tests/test_packages.py": "wheels are built and installed",
    "tests/tools/": "chapters on an emulated GPU, kills at random moments, times",
}
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=20)
settings.load_profile("fixed")


def pytest_configure(config):
    """Check shapes and types at run time, but in the quick run, a good part of which they take."""
    if "not slow" not in config.option.markexpr:
        jaxtyping.install_import_hook(["emergence", "chapters"], "beartype.beartype")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Which process runs which tests."""
    return ByAddress(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what is slow by its place; of the built site, one look at every page is quick."""
    for item in items:
        looks = item.nodeid.startswith("tests/site/test_pages.py") and "[file" not in item.nodeid
        if item.nodeid.startswith(tuple(SLOW)) and not looks:
            item.add_marker(pytest.mark.slow)


def pytest_terminal_summary(terminalreporter):
    """Say with which seed tests have drawn."""
    terminalreporter.write_line(f"Tests drew with SEED={SEED}.")


@pytest.fixture(autouse=True)
def seeded(request):
    """Whatever draws without a stream of its own draws the same each time."""
    random.seed(f"{SEED} {request.node.nodeid}")  # with which beartype draws, too
    torch.manual_seed(random.getrandbits(32))


@pytest.fixture
def dice(request):
    """What a test draws with: the same each time, others with `make test SEED=`."""
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def unchecked():
    """No run-time type checks, to reach the errors that the library itself raises."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="session")
def browser():
    """A browser for all tests of a process."""
    if missing():
        pytest.skip(missing())
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def random_weights():
    """Dense weights of Eq. 1 without any structure."""
    from emergence.models import Weights

    def draw(generator, dim, runs=(), scale=0.3, dtype=torch.float64):
        shapes = (2 * dim, 2 * dim), (4 * dim, 4 * dim), (8 * dim, dim)
        parts = (torch.randn(*runs, *s, generator=generator, dtype=dtype) for s in shapes)
        return Weights(*(scale * part for part in parts))

    return draw


@pytest.fixture(scope="session")
def close():
    """Equality to a tolerance relative to the largest entry (or 1e-3, if all are smaller)."""

    def check(actual, expected, tolerance=1e-12):
        actual, expected = (torch.as_tensor(value).detach() for value in (actual, expected))
        assert actual.shape == expected.shape
        scale = expected.abs().max().clamp(min=1e-3)
        assert float((actual - expected).abs().max() / scale) <= tolerance

    return check
