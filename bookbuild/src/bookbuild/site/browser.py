"""The browser of this machine, and how to start it without a sandbox and without a network."""

import shutil

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Root in a container cannot have a sandbox; the pages opened are our own.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip


def program() -> str | None:
    """Return the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)
