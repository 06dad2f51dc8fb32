"""A small repository for tests of what a history says."""

from pathlib import Path

from toy_book import git


class Repository:
    """A repository with folders, in which texts are written and committed."""

    def __init__(self, root: Path, *folders: str) -> None:
        self.root = root
        for folder in folders:
            (root / folder).mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        return git(self.root, *arguments)

    def write(self, path: str, text: str) -> None:
        (self.root / path).write_text(text, encoding="utf-8")

    def commit_all(self) -> str:
        """Commit what is written; return the name of the commit, as sentences have it."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=a")
        return self.git("rev-parse", "HEAD")[:12]
