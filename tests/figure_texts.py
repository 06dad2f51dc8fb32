"""The texts of figures as a reader sees them: their size, what overlaps, what is cut off."""

from dataclasses import dataclass

from matplotlib.path import Path

SHOWN = ".ex-live > [hidden] { display: block !important; }"
# Matplotlib writes a text as `<g id="text_7">`, and each of its lines as a group of glyphs, which
# it draws at 100 units and scales. A line takes the room of its glyphs, turned as they are.
MEASURE = """async () => {
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
    for (const image of document.images) image.loading = "eager";
    await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
    const drawings = [...document.querySelectorAll("article img")].filter(
        (image) => new URL(image.currentSrc).pathname.endsWith(".svg"));
    const host = document.createElement("div");
    host.style = "position: absolute; top: 0; left: 0; line-height: 0";
    document.body.append(host);
    const place = host.attachShadow({ mode: "open" }); // a drawing's styles reach no page
    const found = [];
    for (const image of drawings) {
        place.innerHTML = await (await fetch(image.currentSrc)).text();
        const svg = place.querySelector("svg");
        const texts = [...svg.querySelectorAll("[id^=text_]")];
        if (!texts.length) continue;
        const { width, height } = image.getBoundingClientRect();
        svg.setAttribute("width", width);
        svg.setAttribute("height", height);
        const edges = svg.getBoundingClientRect();
        const lines = texts.flatMap((text) => [...text.children].flatMap((line) => {
            const box = line.getBBox(), to = line.getScreenCTM();
            if (!box.width) return [];
            const corner = (x, y) => {
                const point = new DOMPoint(x, y).matrixTransform(to);
                return [point.x - edges.x, point.y - edges.y];
            };
            return [{
                text: text.id,
                size: 100 * Math.hypot(to.a, to.b),
                corners: [
                    corner(box.x, box.y), corner(box.x + box.width, box.y),
                    corner(box.x + box.width, box.y + box.height),
                    corner(box.x, box.y + box.height),
                ],
            }];
        }));
        const source = new URL(image.currentSrc).pathname;
        found.push({ name: image.closest("figure")?.id ?? source, source, width, height, lines });
    }
    host.remove();
    return found;
}"""


@dataclass(frozen=True)
class Line:
    """A line of a text: the name of its text, its size and its outline in pixels."""

    text: str
    size: float
    outline: Path


@dataclass(frozen=True)
class Drawing:
    """A figure in a window: its address, width and height in pixels, and its lines of text."""

    name: str
    source: str
    width: float
    height: float
    lines: list[Line]

    @property
    def smallest(self) -> float:
        """The size of its smallest text, in pixels."""
        return min(line.size for line in self.lines)

    @property
    def overlaps(self) -> list[tuple[str, str]]:
        """The names of two texts whose lines overlap."""
        return [
            (one.text, other.text)
            for place, one in enumerate(self.lines)
            for other in self.lines[:place]
            if one.text != other.text and one.outline.intersects_path(other.outline, filled=True)
        ]

    @property
    def cut(self) -> list[str]:
        """The names of texts that run out of the figure by more than half a pixel."""
        return [
            line.text
            for line in self.lines
            if not all(
                -0.5 <= x <= self.width + 0.5 and -0.5 <= y <= self.height + 0.5
                for x, y in line.outline.vertices
            )
        ]


def drawings(page) -> list[Drawing]:
    """Measure the figures of an open page, those of a sequence that is scrubbed among them."""
    page.add_style_tag(content=SHOWN)
    return [
        Drawing(**found | {"lines": [line_of(**line) for line in found["lines"]]})
        for found in page.evaluate(MEASURE)
    ]


def line_of(text, size, corners):
    return Line(text, size, Path([*corners, corners[0]], closed=True))
