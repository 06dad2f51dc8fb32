"""Addresses of the book's pages elsewhere: on GitHub, Colab and Binder."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bookbuild.errors import BookError
from bookbuild.processes import ran

from .book import read_config
from .chapters import BOOK

NOTEBOOKS_BRANCH = "notebooks"
GITHUB = re.compile(
    r"(?:https://|ssh://)?(?:[^@/]+@)?github\.com[:/]([\w.-]+)/([\w.-]+?)(?:\.git)?/?"
)


@dataclass(frozen=True)
class Addresses:
    """The addresses that follow from a repository on GitHub, its branch and two services."""

    owner: str
    name: str
    branch: str
    colab_url: str
    binder_url: str

    @classmethod
    def find(cls, root: Path) -> "Addresses | None":
        """Return the addresses of the book below a folder; None where it is nowhere on GitHub.

        The repository is the one that `repository.url` of _config.yml names. Where it names none,
        as in this book and its forks, it is the one that runs the workflow, or else the remote
        `origin`. Raises BookError where a value of _config.yml is unfit.
        """
        config = read_config(root)
        repository, services = config.get("repository", {}), config.get("launch_buttons", {})
        url, branch = repository.get("url") or _origin(root), repository.get("branch", "")
        if not url:
            return None
        match = GITHUB.fullmatch(url)
        if not match:
            raise BookError(
                f"repository.url in _config.yml must be https://github.com/owner/name, not {url}."
            )
        if not branch:
            raise BookError("repository.branch is missing in _config.yml: add it.")
        for key in ("colab_url", "binderhub_url"):
            if not str(services.get(key, "")).startswith("https://"):
                raise BookError(f"launch_buttons.{key} in _config.yml must be an https address.")
        colab, binder = (services[key].rstrip("/") for key in ("colab_url", "binderhub_url"))
        return cls(match[1], match[2], branch, colab, binder)

    @classmethod
    def read(cls, root: Path) -> "Addresses":
        """Return the addresses of the book below a folder; raise BookError where it has none."""
        addresses = cls.find(root)
        if addresses is None:
            raise BookError(
                "This needs the book's address on GitHub: set repository.url in _config.yml, "
                "or add the remote, git remote add origin https://github.com/owner/name."
            )
        return addresses

    @property
    def repository(self) -> str:
        """The repository itself."""
        return f"https://github.com/{self.owner}/{self.name}"

    @property
    def site(self) -> str:
        """Where GitHub Pages serves the site."""
        return f"https://{self.owner.lower()}.github.io/{self.name}/"

    def colab(self, chapter: str) -> str:
        """Where Colab opens a chapter: its executed notebook on the published branch."""
        path = quote(f"{BOOK}/{chapter}.ipynb")
        return f"{self.colab_url}/github/{self.owner}/{self.name}/blob/{NOTEBOOKS_BRANCH}/{path}"

    def binder(self, chapter: str) -> str:
        """Where Binder opens a chapter in JupyterLab: the notebook that postBuild writes."""
        path = quote(f"lab/tree/{BOOK}/{chapter}.ipynb")
        return f"{self.binder_url}/v2/gh/{self.owner}/{self.name}/{self.branch}?urlpath={path}"

    def edit(self, page: str) -> str:
        """Where the source of a page, a chapter or not, is edited."""
        return f"{self.repository}/edit/{self.branch}/{quote(f'{BOOK}/{page}.md')}"

    def source(self, page: str) -> str:
        """Where the source of a page is read."""
        return f"{self.repository}/blob/{self.branch}/{quote(f'{BOOK}/{page}.md')}"


def _origin(root: Path) -> str:
    if "GITHUB_REPOSITORY" in os.environ:  # a workflow of GitHub
        return f"https://github.com/{os.environ['GITHUB_REPOSITORY']}"
    done = ran(["git", "config", "--get", "remote.origin.url"], cwd=root)
    address = done.stdout.strip()
    return address if GITHUB.fullmatch(address) else ""
