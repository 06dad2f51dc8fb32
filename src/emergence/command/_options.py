"""Options of the command, made from the fields of the settings and from what these say of them."""

import re
import types
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from emergence.presets import ABOVE_ZERO, LEAST

Command = Callable[..., Any]
ENTRY = re.compile(r"^        (\w+): (.*(?:\n            .*)*)", re.MULTILINE)  # of `Args:`
SPELLED = {"optimiser": "--optimizer"}  # as most people write it


def options_of(settings: type, *names: str, **defaults: Any) -> Callable[[Command], Command]:
    """Give a command an option for each of some fields of a dataclass of settings."""
    said = {name: " ".join(text.split()) for name, text in ENTRY.findall(settings.__doc__ or "")}
    hints, by_name = get_type_hints(settings), {field.name: field for field in fields(settings)}

    def given(command: Command) -> Command:
        for name in reversed(names):
            default = defaults.get(name, by_name[name].default)
            kind = _kind(name, hints[name])
            command = click.option(
                SPELLED.get(name, f"--{name.replace('_', '-')}"),
                name,
                type=kind,
                default=None if default is MISSING else default,
                show_default=default not in (MISSING, None),
                help=said[name].replace("`", ""),
            )(command)
        return command

    return given


def _kind(name: str, hint: Any) -> click.ParamType:
    """The type of an option, with the least value that the setting may have."""
    if get_origin(hint) is Literal:
        return click.Choice(get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (kind for kind in get_args(hint) if kind is not types.NoneType)
    if hint is int:
        return click.IntRange(min=LEAST.get(name))
    if name in ABOVE_ZERO:
        return click.FloatRange(min=0, min_open=True)
    return click.FloatRange(min=LEAST[name]) if name in LEAST else click.FLOAT
