"""The command line: python -m bookbuild --help lists the commands."""

import errno
import os
import shutil
import signal
import sys
from pathlib import Path

import click

from bookbuild.errors import BookError
from bookbuild.processes import ran
from bookbuild.results.snapshot import SOURCES
from bookbuild.results.store import reason

from . import book
from .options import commands

__all__ = ["book", "commands", "main"]

NO_FAULT_OF_OURS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG)


def main() -> None:
    """Run the command line; end in one sentence for each problem, without a traceback."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # of a hook, for its repository
        os.environ.pop(name, None)
    if ran(["git", "ls-files", "--error-unmatch", "_toc.yml"]).returncode:  # it is another's
        os.environ["GIT_CEILING_DIRECTORIES"] = str(Path.cwd().parent)
    sys.path.insert(0, str(Path.cwd() / SOURCES))  # a book's own packages need no installation
    try:
        commands(standalone_mode=False)
    except BookError as error:
        sys.exit(str(error))
    except click.ClickException as error:
        sys.exit(error.format_message())
    except shutil.Error as error:
        failed = error.args[0]  # the source, the target and the reason of each
        size = sum(os.path.getsize(source) for source, *_ in failed)
        sys.exit(f"{len(failed)} files of {size:,} bytes cannot be copied: {failed[0][-1]}.")
    except OSError as error:
        if error.errno not in NO_FAULT_OF_OURS:
            raise
        where = f" ({error.filename})" if error.filename else ""
        sys.exit(f"Nothing can be written here{where}: {reason(error)}. What was finished is kept.")
    except (KeyboardInterrupt, click.Abort):
        sys.exit("Interrupted; what was finished is kept and the next run goes on from there.")
