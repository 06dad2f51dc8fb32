"""A lock that lets only one build at a time write the site of a profile."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from bookbuild.errors import BookError
from bookbuild.settings import PROFILES, Settings

LOCK_FILE = "lock"
OWNER_FILE = "lock-owner"


@contextmanager
def held(settings: Settings) -> Iterator[None]:
    """Hold the profile's lock; raise BookError if another build has it.

    The system releases the lock of a process that is killed.
    """
    folder = settings.site.parent
    folder.mkdir(parents=True, exist_ok=True)
    owner = folder / OWNER_FILE
    lock = FileLock(folder / LOCK_FILE, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        who = owner.read_text(encoding="utf-8") if owner.is_file() else "unknown"
        raise BookError(
            f"Another build of the {settings.profile} profile is running here (process {who}): "
            "wait until it has ended, and try again."
        ) from None
    try:
        owner.write_text(str(os.getpid()), encoding="utf-8")
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()


@contextmanager
def nothing_runs(root: Path) -> Iterator[None]:
    """Keep builds of every profile out; raise BookError if there is one."""
    with ExitStack() as stack:
        for profile in PROFILES:
            stack.enter_context(held(Settings(root, profile)))
        yield
