"""The command `emergence`: train, predict, plot, and the clock of a corpus.

Errors of options and of files are one sentence on the error stream, with exit status 2.
"""

import sys
from collections.abc import Sequence

import click

from ._clock import clock
from ._train import plot, predict, train

INTERRUPTED = 130  # the exit status of a command that the keyboard has ended


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def commands() -> None:
    """Train the networks of the book, predict their training, and plot what was saved."""


for command in (train, predict, plot, clock):
    commands.add_command(command)


def main(given: Sequence[str] | None = None) -> int:
    """Run the command with the words after its name; return its exit status."""
    try:
        commands.main(given, prog_name="emergence", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # who read the output has ended
        sys.stderr.close()
        return 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except (ArithmeticError, OSError, ValueError, click.ClickException) as error:
        print(f"{_said(error).rstrip('.')}.", file=sys.stderr)
        return 2
    return 0


def _said(error: Exception) -> str:
    """What an error says to who typed the command."""
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
