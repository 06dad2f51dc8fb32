"""Look at pages of a built site, each once, and write down what is seen there."""

from collections.abc import Container
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bookbuild.settings import core_count
from browser import FRAMES, NARROW, UNFOLD, WIDE, chromium, note_errors, opened

PROBES = Path(__file__).with_name("probes.js").read_text(encoding="utf-8")
VAST = {"width": 1600, "height": 900}
LOADED = """async () => {
    document.querySelectorAll("img").forEach((image) => { image.loading = "eager"; });
    await document.fonts.ready;
}"""
# Two frames on, scheme and width are answered; then transitions of colours end, at the latest after
# ten seconds. The theme looks for what scrolls 0.3 s after a change of the window's size.
SETTLED = """async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const passed = (time) => new Promise((resolve) => setTimeout(resolve, time));
    const calm = frame().then(frame).then(() => Promise.allSettled(
        document.getAnimations().map((animation) => animation.finished)));
    await Promise.race([calm, passed(10_000)]);
    await passed(400);
}"""
LOOK = """() => ({
    formulas: document.querySelectorAll("article mjx-container").length,
    barred: [...document.querySelectorAll("article span.math")]
        .filter((formula) => formula.offsetHeight > formula.clientHeight).length,
    broken: [...document.images].filter((image) => !(image.complete && image.naturalWidth))
        .map((image) => image.src),
    viewports: document.querySelectorAll("meta[name=viewport]").length,
    titles: document.querySelectorAll("h1").length,
    shift: window.shifts,
})"""
# Explorables start where a reader comes near.
START = """async () => {
    for (const mount of document.querySelectorAll(".explorable")) {
        mount.scrollIntoView({ behavior: "instant" });
        for (let i = 0; i < 120 && !mount.matches(".ex-live"); i++) {
            await new Promise(requestAnimationFrame);
        }
    }
    scrollTo({ top: 0, behavior: "instant" });
}"""
STARTED = """() => ({
    waiting: document.querySelectorAll(".explorable:not(.ex-live)").length,
    repeated: [...document.querySelectorAll(".explorable [id]")].map(({ id }) => id)
        .filter((id) => document.querySelectorAll(`[id="${id}"]`).length > 1),
})"""
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Lines of code that would have to be scrolled, folds open.
CUT = """() => [...document.querySelectorAll("article .cell_input pre")]
    .filter((code) => code.scrollWidth > code.clientWidth + 1)
    .map((code) => code.textContent.slice(0, 80))"""
# What moved although nobody touched it, as the browser weighs it. A reader sees the text after 3
# seconds at the latest; here it waits for faces and formulas, however busy the machine is.
WATCH_SHIFTS = """
    const patient = new CSSStyleSheet();
    patient.replaceSync("html:not(.set) * { animation-duration: 3600s !important; }");
    document.adoptedStyleSheets = [patient];
    window.shifts = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) shifts += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
"""
THEME = "() => document.documentElement.dataset.theme"
# Three texts of each look: its colour and size, and all that its ancestors paint beneath it. Three,
# for axe does not decide of a text that is covered. A formula has the colour of its paragraph.
LOOKS = """() => {
    const beneath = new Map(), seen = new Map();
    const ground = (element) => {
        if (!element) return "";
        if (!beneath.has(element)) {
            const s = getComputedStyle(element);
            const own = [s.backgroundColor, s.backgroundImage, s.opacity, s.filter, s.mixBlendMode];
            const empty = own.join() === "rgba(0, 0, 0, 0),none,1,none,normal";
            beneath.set(element, ground(element.parentElement) + (empty ? "" : `|${own}`));
        }
        return beneath.get(element);
    };
    const speaks = (element) => element.matches("input, select, textarea") || [
        ...element.childNodes,
    ].some((part) => part.nodeType === Node.TEXT_NODE && part.textContent.trim());
    document.querySelectorAll("[data-look]").forEach((one) => one.removeAttribute("data-look"));
    for (const element of document.body.querySelectorAll("*")) {
        if (!speaks(element) || !element.checkVisibility()) continue;
        if (element.closest("mjx-container")) continue;
        const s = getComputedStyle(element);
        const look = [s.color, s.fontSize, s.fontWeight, s.textShadow, ground(element)].join();
        seen.set(look, (seen.get(look) ?? 0) + 1);
        if (seen.get(look) <= 3) element.dataset.look = "";
    }
}"""
# Most elements of a page are glyphs of formulas and words of code, and axe asks what lies beneath
# each. While it looks, a formula is a word in a box of its size, and code has only marked spans.
PLAIN = """() => {
    const pairs = [...document.querySelectorAll("mjx-container, pre")].map((whole) => {
        const copy = whole.cloneNode(whole.matches("pre"));
        const { width, height } = whole.getBoundingClientRect();
        if (whole.matches("mjx-container")) {
            const look = `overflow: clip; width: ${width}px; height: ${height}px`;
            copy.style.cssText += `display: inline-block; ${look}`;
            copy.append("formula");
        }
        const words = copy.querySelectorAll("span:not([data-look], [id])");
        words.forEach((word) => word.replaceWith(...word.childNodes));
        return [whole, copy];
    });
    for (const [whole, copy] of pairs) whole.replaceWith(copy);
    window.restore = () => pairs.forEach(([whole, copy]) => copy.replaceWith(whole));
}"""
# For the contrast of a text axe looks for all that lies beneath it, most of its time.
BY_LOOKS = """;axe.configure({ rules: [{ id: "color-contrast", selector: "[data-look]" }] });"""
# axe would read style sheets again, and look for those they import at the wrong address.
QUIETLY = {"preload": False, "resultTypes": ["violations"]}


@dataclass
class Visit:
    """What was seen on one page."""

    errors: list[str] = field(default_factory=list)
    external: list[str] = field(default_factory=list)
    transferred: int = 0  # bytes
    seen: dict = field(default_factory=dict)
    started: dict = field(default_factory=dict)  # explorables that wait, their ids that come twice
    overflow: dict[str, int] = field(default_factory=dict)  # pixels
    rules: int = 0  # of accessibility, passed or not
    violations: list[str] = field(default_factory=list)
    themes: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)  # code that does not fit at 1280 pixels
    odd: list[str] = field(default_factory=list)  # see probes.js


def visit(page, address: str, name: str, brief: bool, axe: bool) -> Visit:
    """Look at one page in both schemes and widths; folds are opened on the way.

    A brief visit is in the light scheme and wide alone; `axe` asks for the rules of accessibility.
    """
    found = Visit()
    note_errors(page, found.errors)
    page.on("request", lambda request: _note_external(request.url, address, found.external))
    page.on("response", lambda response: _add_size(response, found))
    page.add_init_script(WATCH_SHIFTS)
    page.goto(address + name, wait_until="load")
    page.evaluate(LOADED)
    page.wait_for_selector("html.set", state="attached")  # settle.js shows the text
    page.wait_for_load_state("networkidle")
    found.seen = page.evaluate(LOOK)
    page.evaluate(START)
    found.started = page.evaluate(STARTED)
    for scheme in ("light",) if brief else ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for size in (WIDE,) if brief else (WIDE, NARROW):
            page.set_viewport_size(size)
            page.evaluate(SETTLED)
            found.overflow[f"{scheme}, {size['width']} px"] = page.evaluate(OVERFLOW)
            if scheme == "light":
                found.odd += probe(page)
            # Either scheme and either width once, folded and unfolded.
            if axe and (scheme, size) in (("light", WIDE), ("dark", NARROW)):
                examine(page, found, scheme)
        found.themes.append(page.evaluate(THEME))
        page.set_viewport_size(WIDE)
        if scheme == "light":
            page.evaluate(UNFOLD)
            found.cut = page.evaluate(CUT)
    if not brief:
        page.set_viewport_size(VAST)
        found.odd += probe(page)
    return found


def probe(page) -> list[str]:
    """What looks odd on a page, each with the width of the window in pixels."""
    page.evaluate(FRAMES)
    return [f"{page.viewport_size['width']} px: {odd}" for odd in page.evaluate(PROBES)]


def visit_all(address: str, names: list[str], brief: bool, axe: Container[str]) -> dict[str, Visit]:
    """Open pages of a site, in a browser for each core, and two more while others wait.

    Those of `axe` are held to the rules of accessibility.
    """
    waiting, found = iter(names), {}  # an iterator of a list hands each page out once

    def go() -> None:
        with chromium() as browser:
            while name := next(waiting, None):
                with opened(browser) as page:
                    found[name] = visit(page, address, name, brief, name in axe)

    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(go) for _ in range(core_count() + 2)]:
            done.result()
    return found


def examine(page, found: Visit, scheme: str) -> None:
    """Note what breaks the rules of accessibility on a page."""
    from axe_playwright_python.base import AXE_SCRIPT
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate(LOOKS)
    page.evaluate(PLAIN)
    response = Axe(AXE_SCRIPT + BY_LOOKS).run(page, options=QUIETLY).response
    page.evaluate("() => window.restore()")
    found.rules += len(response["violations"]) + len(response["passes"])
    for rule in response["violations"]:
        if rule["impact"] in ("serious", "critical"):
            nodes = [node["html"][:160] for node in rule["nodes"]]
            found.violations.append(f"{scheme}: {rule['id']} x {len(nodes)}: {nodes[:3]}")


def _note_external(url: str, address: str, external: list[str]) -> None:
    if not url.startswith((address, "data:", "blob:")):
        external.append(url)


def _add_size(response, found: Visit) -> None:
    address = urlsplit(response.url)
    if address.scheme == "file":  # without headers
        found.transferred += Path(unquote(address.path)).stat().st_size
    found.transferred += int(response.headers.get("content-length", 0))
