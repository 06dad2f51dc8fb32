"""The site in Firefox, from its folder, driven over WebDriver BiDi, which Firefox itself speaks."""

import json
import shutil
import subprocess
import time

import pytest
from websocket import create_connection

FIREFOX = shutil.which("firefox") or shutil.which("firefox-esr")
HELPERS = """
const until = async (test) => {
    while (!test()) await new Promise((later) => setTimeout(later, 100));
};
const start = async (mount) => {
    mount.scrollIntoView();
    await until(() => mount.querySelector("table tbody tr"));
};
"""
FILL = 'for (const mount of document.querySelectorAll("[data-explorable]")) await start(mount);'
TRAIN = """
const mount = document.querySelector("[data-explorable=training]");
const told = (name) => mount.querySelector(`tr.q-${name} td`).textContent;
await start(mount);
[...mount.querySelectorAll("button")].find((b) => b.textContent.trim() === "Train").click();
await until(() => told("loss") > 0);
return JSON.stringify([...mount.querySelectorAll("tr.q-loss td")].map((td) => +td.textContent));
"""


class Firefox:
    """One tab of a Firefox without a window, as narrow as a phone, and its errors."""

    def __init__(self, address):
        self.socket = create_connection(f"{address}/session", timeout=600, suppress_origin=True)
        self.errors, self.count = [], 0
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]
        size = {"width": 390, "height": 844}
        self.ask("browsingContext.setViewport", context=self.tab, viewport=size)

    def ask(self, method, **params):
        """The result of a command; an error of the page that comes before it is kept."""
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": params}))
        while (answer := json.loads(self.socket.recv())).get("id") != self.count:
            if answer.get("params", {}).get("level") == "error":
                self.errors.append(answer["params"]["text"])
        assert answer["type"] == "success", answer
        return answer["result"]

    def run(self, address, script):
        """What a script returns on a page."""
        self.ask("browsingContext.navigate", context=self.tab, url=address, wait="complete")
        body, target = f"(async () => {{ {HELPERS} {script} }})()", {"context": self.tab}
        found = self.ask("script.evaluate", expression=body, target=target, awaitPromise=True)
        assert found["type"] == "success", found
        return found["result"].get("value")


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    if FIREFOX is None:
        pytest.skip("There is no Firefox.")
    profile = tmp_path_factory.mktemp("profile")
    order = [
        FIREFOX,
        "--headless",
        "--no-remote",
        "--remote-debugging-port=0",
        "--profile",
        profile,
    ]
    with subprocess.Popen(order, stderr=subprocess.DEVNULL) as process:
        told = profile / "WebDriverBiDiServer.json"
        for _ in range(300):  # a loaded machine may need minutes
            if told.exists() or process.poll() is not None:
                break
            time.sleep(1)
        time.sleep(1)  # it is written
        server = json.loads(told.read_text())
        tab = Firefox(f"ws://{server['ws_host']}:{server['ws_port']}")
        yield tab
        tab.socket.close()
        process.terminate()


@pytest.mark.parametrize("page", ["index", "story", "explore", "paper/05_emergence"])
def test_explorables_start(firefox, site, page):
    firefox.run(f"{site.as_uri()}/book/{page}.html", FILL)
    assert firefox.errors == []


def test_a_head_forms_near_its_prediction(firefox, site):
    address = f"{site.as_uri()}/book/paper/05_emergence.html?pairs=8&dim=16"
    here, predicted, *_ = json.loads(firefox.run(address, TRAIN))
    assert here == pytest.approx(predicted, rel=0.2)
