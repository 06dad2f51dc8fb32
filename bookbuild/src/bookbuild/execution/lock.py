"""A lock that lets only one build at a time write the site of a profile."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from bookbuild.errors import BookError
from bookbuild.settings import Settings

LOCK_FILE = "lock"


@contextmanager
def held(settings: Settings) -> Iterator[None]:
    """Hold the profile's lock; raise BookError if another build has it.

    The system releases the lock of a process that is killed, once the children that inherited it,
    as the page builder does, have ended too.
    """
    path = settings.site.parent / LOCK_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise BookError(
                f"Another build of the {settings.profile} profile is running here (process "
                f"{lock.read()}): wait until it has ended, and try again."
            ) from None
        os.set_inheritable(lock.fileno(), True)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
