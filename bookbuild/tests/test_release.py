"""A release has every part."""

import zipfile

import pytest

from bookbuild import release
from bookbuild.results.archive import open_archive
from toy_book import LINE, SQUARE, Toy


@pytest.mark.usefixtures("without_site")
def test_a_release_has_every_part(committed: Toy) -> None:
    folder = release.write_release(committed.settings(), *committed.heard())
    names = {release.RESULTS, f"{release.RESULTS}.sha256", release.SITE, release.NOTEBOOKS}
    assert {path.name for path in folder.iterdir()} == names | {release.CITATION, release.CHANGES}
    with zipfile.ZipFile(folder / release.SITE) as site:
        assert "site/index.html" in site.namelist()
    assert set(open_archive(folder / release.RESULTS).chapters) == {LINE, SQUARE}
    with zipfile.ZipFile(folder.with_suffix(".zip")) as whole:
        assert f"{release.NOTEBOOKS}/book/{LINE}.ipynb" in whole.namelist()
        assert not [name for name in whole.namelist() if name.startswith(".")]
