"""How the built site is reached, and where its tests run when there are several processes."""

from xdist.scheduler import LoadScopeScheduling

ADDRESSES = ("http", "file")


class ByAddress(LoadScopeScheduling):
    """Each test goes where there is time, but those of an address to one process.

    It opens each page of the site once for all of them. Tests of the site that know no address, of
    what explorables compute, are a third part. A file that prepares something once stays together.
    """

    def _split_scope(self, nodeid: str) -> str:
        if not nodeid.startswith("tests/site/"):
            path = nodeid.partition("::")[0]
            text = (self.config.rootpath / path).read_text(encoding="utf-8")
            return path if 'scope="module"' in text else nodeid
        return next((kind for kind in ADDRESSES if f"[{kind}" in nodeid), "site")
