"""Search for secrets and local folders in texts that are to be published."""

import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

# Each begins with what it must hold letter by letter, so that long texts are passed over quickly;
# what has to stand before that is looked at from behind it.
PATTERNS = {
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "an access key of AWS": re.compile(r"A(?:KIA|SIA)(?<!\w....)[0-9A-Z]{16}\b"),
    "a token of GitHub": re.compile(r"g(?:h[pousr]_[A-Za-z0-9]{36}|ithub_pat_\w{60,})"),
    "a token of PyPI": re.compile(r"pypi-[A-Za-z0-9_-]{50,}"),
    "a token of Hugging Face": re.compile(r"hf_[A-Za-z]{30,}"),
    "an API key": re.compile(r"sk-(?<!\w...)(?:[a-z]+-)*[A-Za-z0-9_-]{32,}"),
    "a password in an address": re.compile(r"://(?<=[a-z]...)[^/\s:@\"'<>]+:[^/\s@\"'<>]+@"),
    "a home folder": re.compile(r"/(?:home|Users)/(?!runner\b)[\w.-]+"),
    "a home folder of Windows": re.compile(r":\\\\?Users\\\\?(?!runner\b)[\w.-]+"),
}
SECRET_NAME = re.compile("TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|PRIVATE")
LEAST_SECRET = 8  # characters; a shorter value, such as 1 or true, is in every text
EVERYWHERE = ("/", "/usr", "/usr/local")  # they tell nothing of a machine
ESCAPED = r"(?<=\\[abfnrtv])|(?<=\dm)|(?<=file://)"  # what may stand before a path or a name


def private_parts(text: str, folders: Iterable[Path]) -> Iterator[str]:
    """Yield what a text tells of this machine, its user and their secrets; never the secret."""
    places = (*folders, os.path.expanduser("~"), tempfile.gettempdir(), sys.prefix)
    for folder in sorted(filter(os.path.isabs, {*map(str, places)} - {*EVERYWHERE})):
        if _stands(folder, text, before=r"[\w.~/-]", after="/"):
            yield f"names the local folder {folder}/"
    for what, pattern in PATTERNS.items():
        if pattern.search(text):
            yield f"holds {what}"
    for name, value in os.environ.items():
        secret = SECRET_NAME.search(name.upper()) and len(value) >= LEAST_SECRET
        if secret and _stands(value, text, before=r"\w", after=r"(?!\w)"):
            yield f"holds the value of the environment variable {name}"


def _stands(name: str, text: str, *, before: str, after: str) -> bool:
    """Return whether a text has a path or a name that is no part of a longer one."""
    whole = f"(?:(?<!{before})|{ESCAPED}){re.escape(name)}{after}"
    return name in text and re.search(whole, text) is not None
