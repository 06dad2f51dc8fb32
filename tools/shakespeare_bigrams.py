"""Count the bigrams of tiny Shakespeare: python -m tools.shakespeare_bigrams tinyshakespeare.txt

The text is data/tinyshakespeare/input.txt of github.com/karpathy/char-rnn, 1,115,394 characters,
the one that the source of the chapter (arXiv 2306.00802) names.
"""

import hashlib
import sys
from pathlib import Path

from chapters.companions.birth import task

TARGET = Path("data/shakespeare_bigrams.csv")


def main(text: Path) -> None:
    """Check the text, count, and write the counts to `TARGET`."""
    raw = text.read_bytes()
    checksum = hashlib.sha256(raw).hexdigest()
    if checksum != task.TEXT_SHA256:
        sys.exit(f"{text} has the checksum {checksum}, expected {task.TEXT_SHA256}.")
    TARGET.write_text(task.write(task.count(raw.decode())), encoding="ascii")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
