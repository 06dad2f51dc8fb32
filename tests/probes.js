// What looks odd on a page as it stands, a sentence for each: its layout by measurement, its text
// by what no reader should see. Folds may be closed: what is in them has a layout all the same.
() => {
  const odd = new Set(), TALL = 90, MANY = 5; // pixels of a closed row; lines that a word may take
  const NO_TEXT = "pre, mjx-container, script, style, svg";
  const say = (what, element) => odd.add(
    `${what}: ${element.cloneNode().outerHTML} ${element.textContent.trim().slice(0, 70)}`);
  const main = document.querySelector("article") ?? document.body;
  const isSeen = (element) => getComputedStyle(element).visibility === "visible";
  const box = (element) => element.getBoundingClientRect();
  const over = (from, to) => Math.min(from.right, to.right) - Math.max(from.left, to.left) > 3
    && Math.min(from.bottom, to.bottom) - Math.max(from.top, to.top) > 3;

  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), parents = new Set();
  while (walker.nextNode()) {
    const text = walker.currentNode, parent = text.parentElement, words = text.textContent.trim();
    if (!words || parent.closest(NO_TEXT) || !isSeen(parent)) continue;
    parents.add(parent);
    const range = document.createRange();
    range.selectNodeContents(text);
    const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    if (lines >= MANY && lines > 2.5 * words.split(/\s+/).length)
      say("a word over many lines", parent);
  }
  const scrolls = (element) => element !== document.documentElement
    && (getComputedStyle(element).overflowX !== "visible" || scrolls(element.parentElement));
  for (const parent of parents)
    if (box(parent).width && box(parent).right > innerWidth + 2 && !scrolls(parent))
      say("past the right edge", parent);
  for (const row of main.querySelectorAll("summary")) {
    const cells = [...row.children].filter((cell) => box(cell).width && box(cell).height);
    const isClosed = !row.parentElement.open;
    if (isClosed && innerWidth > 600 && box(row).height > TALL) say("a closed row that is tall", row);
    for (const cell of cells) if (box(cell).right > box(row).right + 2) say("past its row", cell);
    cells.forEach((cell, i) => {
      const others = cells.slice(i + 1);
      if (others.some((other) => over(box(cell), box(other)))) say("over another", cell);
    });
  }

  const copy = main.cloneNode(true); // without Python: code, signatures, the settings of figures
  copy.querySelectorAll(`${NO_TEXT}, code, .sig, .provenance`).forEach((part) => part.remove());
  const patterns = {
    "a raw role": /\{(?:glue|eval|verdict|prf|cite|ref)[^}]*\}`/,
    "a raw formula": /\\\(|\\\[|\$\\[a-z]+/,
    "not a number": /(?<![\w.])(?:nan|NaN|-?inf)(?:%|\b)(?!\w)/,
    "an e-notation": /\d(?:\.\d+)?e[-+]\d+/,
  };
  for (const [what, pattern] of Object.entries(patterns)) {
    const found = copy.textContent.match(pattern);
    if (found) odd.add(`${what}: ${copy.textContent.slice(found.index - 30, found.index + 40)}`);
  }
  return [...odd];
}
