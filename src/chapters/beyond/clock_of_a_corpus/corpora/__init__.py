"""The natural texts, where they come from, and how they are cut into tokens.

None of them is in this repository. `python -m chapters.beyond.clock_of_a_corpus.corpora` fetches
them with Debian's `apt-get` and `dpkg-deb`, and the checksum of a text is tested before it is used.
The pages of the book need no text, because they read stored counts and runs.
"""

import gzip
import hashlib
import re
import struct
import subprocess
import tempfile
import urllib.request
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int

TEXTS = Path.home() / ".cache" / "emergence-texts"
CHARACTERS = 6_000_000  # of a text, from its beginning
PIECE = 10_000  # characters that are tokenised at once
DEBIAN = "apt-get download {0} && dpkg-deb -x {0}_*.deb {0}"
SHAKESPEARE = (
    "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
)


@dataclass(frozen=True)
class Source:
    """Where a text comes from.

    Attributes:
        title: what it is.
        package: Debian package with its version, or the name of a file.
        licence: of the text.
        command: what fetches it.
        text_sha256: checksum of the text that is cut into tokens.
    """

    title: str
    package: str
    licence: str
    command: str
    text_sha256: str


SOURCES = {
    "shakespeare": Source(
        "tiny Shakespeare", "input.txt of char-rnn", "public domain",
        f"curl -O {SHAKESPEARE}",
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    ),
    "bible": Source(
        "the King James Bible", "bible-kjv-text 4.38", "public domain",
        DEBIAN.format("bible-kjv-text") + " && " + DEBIAN.format("bible-kjv"),
        "6f74f5589333c56c263963e6347dba662bae2d96861302e690aaae0b4a855eda",
    ),
    "austen": Source(
        "six novels by Jane Austen", "r-cran-janeaustenr 1.0.0-1", "public domain; package MIT",
        DEBIAN.format("r-cran-janeaustenr"),
        "b57deac01d5f6caf7e3386e87c92d870b7efac219f630debec65416087a206a3",
    ),
    "linux": Source(
        "documentation of the Linux kernel", "linux-doc-6.1 6.1.192-2", "GPL-2.0, in part others",
        DEBIAN.format("linux-doc-6.1"),
        "f254b1e12badb30a9983b5f23ff9994d9eb677e0bd0527a0d4e48be28b540ec2",
    ),
}  # fmt: skip


def text_of(name: str) -> str:
    """The first six million characters of a text.

    Raises:
        FileNotFoundError: where nobody has fetched it.
        ValueError: for another version of it.
    """
    path = TEXTS / f"{name}.txt"
    if not path.is_file():
        raise FileNotFoundError(
            f"the text {path} is missing: python -m {__spec__.name if __spec__ else __name__}"
        )
    text = path.read_text(encoding="utf-8")
    checksum = hashlib.sha256(text.encode()).hexdigest()
    if checksum != SOURCES[name].text_sha256:
        raise ValueError(f"{path} is another version of {SOURCES[name].title}: sha256 {checksum}")
    return text[:CHARACTERS]


def tokens_of(name: str, vocabulary: int) -> Int[np.ndarray, " tokens"]:
    """A text in tokens: bytes for a vocabulary of 256, else pieces of words learned from the text.

    The pieces come from byte-pair encoding by the library `tokenizers`, and only those that occur
    get a number.
    """
    text = text_of(name)
    if vocabulary == 256:
        tokens = np.frombuffer(text.encode(), np.uint8).astype(np.int64)
    else:
        tokens = pieces(text, vocabulary)
    return np.unique(tokens, return_inverse=True)[1].astype(np.int64)


def pieces(text: str, vocabulary: int) -> Int[np.ndarray, " tokens"]:
    """A text in pieces of words, by byte-pair encoding of the text itself.

    Raises ModuleNotFoundError without `make env EXTRAS=language`.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    parts = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        parts,
        trainers.BpeTrainer(vocab_size=vocabulary, show_progress=False, initial_alphabet=alphabet),
    )
    return np.concatenate([np.array(part.ids) for part in tokenizer.encode_batch(parts)])


def fetch(readers: Mapping[str, Callable[[Path], str]]) -> None:
    """Fetch all texts that are not there yet into ~/.cache/emergence-texts."""
    TEXTS.mkdir(parents=True, exist_ok=True)
    for name, reader in readers.items():
        path = TEXTS / f"{name}.txt"
        if not path.is_file():
            with tempfile.TemporaryDirectory() as folder:
                text = reader(Path(folder))
            path.write_text(text, encoding="utf-8")
        print(f"{path}: sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}")


def unpacked(package: str, folder: Path) -> Path:
    """A Debian package, unpacked and not installed."""
    subprocess.run(["apt-get", "download", package], cwd=folder, check=True)
    (archive,) = folder.glob(f"{package}_*.deb")
    subprocess.run(["dpkg-deb", "-x", archive, folder / package], check=True)
    return folder / package


def _shakespeare(_: Path) -> str:
    with urllib.request.urlopen(SHAKESPEARE) as page:
        return str(page.read().decode("utf-8"))


def _bible(folder: Path) -> str:
    """The whole text, which the package's own program decompresses."""
    data, program = (unpacked(name, folder) for name in ("bible-kjv-text", "bible-kjv"))
    given = "-p", str(data / "usr/lib"), "-l1000", "gen1:1-rev22:21"
    command = [str(program / "usr/bin/bible"), *given]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return ran.stdout.decode("utf-8")


def _austen(folder: Path) -> str:
    """The lines of the novels, which R keeps as compressed arrays of strings."""
    inside = "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb"
    raw = (unpacked("r-cran-janeaustenr", folder) / inside).read_bytes()
    novels = []
    while raw:
        stream = zlib.decompressobj()
        array = stream.decompress(raw[4:])  # after its length
        raw = stream.unused_data
        lines, after = [], 0
        # strings, as R has them
        for match in re.finditer(rb"\x00.\x00\x09(.{4})", array, re.DOTALL):
            (length,) = struct.unpack(">I", match[1])
            if length < PIECE and match.start() >= after:
                after = match.end() + length
                lines.append(array[match.end() : after].decode("utf-8", "replace"))
        novels.append("\n".join(lines))
    return "\n".join(novels)


def _linux(folder: Path) -> str:
    """The English sources, in the order of their paths."""
    inside = "usr/share/doc/linux-doc-6.1/Documentation"
    root = unpacked("linux-doc-6.1", folder) / inside
    files = [p for p in sorted(root.rglob("*.rst.gz")) if "translations" not in p.parts]
    return "\n".join(gzip.decompress(p.read_bytes()).decode("utf-8", "replace") for p in files)[
        :CHARACTERS
    ]


READERS: dict[str, Callable[[Path], str]] = {
    "shakespeare": _shakespeare, "bible": _bible, "austen": _austen, "linux": _linux,
}  # fmt: skip
