/** The explorable of the circuit: set alpha, beta, gamma and a context, and see who looks where. */

import { attentionMap, attentionTable, contextPicture } from "./circuit-view.js";
import { button, fit, fixed, freshId, html, oncePerFrame, slider, svg } from "./dom.js";
import { showNear } from "./near.js";
import { circuit, describe } from "./network.js";

const RANGES = { alpha: [-2, 10], beta: [-2, 14], gamma: [-0.5, 1.5] };
const SYMBOLS = { alpha: "α", beta: "β", gamma: "γ" };
const STAGES = {
  "Before training": { alpha: 0, beta: 0, gamma: 0 },
  "When γ has emerged": { alpha: 0, beta: 0, gamma: 1 },
  "When α emerges": { alpha: 0.5, beta: 1, gamma: 1 },
  "Trained": { alpha: 6, beta: 8, gamma: 1 },
};
const PAIRS = { least: 2, most: 8 };
const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ";

function show(mount) {
  const state = { alpha: 6, beta: 8, gamma: 1, symbols: [..."KXBQTMRE"], query: 1 };

  const redraw = oncePerFrame(() => {
    const width = mount.clientWidth;
    if (width === 0) return;
    const result = circuit(state, state.symbols.length / 2, state.query);
    const tokens = [...state.symbols, state.symbols[2 * state.query]];
    sentence.textContent = describe(result, state.symbols, state.query);
    const drawn = contextPicture(result, state.symbols, state.query, width);
    fit(picture, width, drawn.height);
    picture.replaceChildren(drawn.group);
    const size = Math.min(width >= 560 ? (width - 34) / 2 : width, 380);
    for (const [map, weights, quantity] of [[first, result.layer1, "alpha"], [second, result.layer2, "beta"]]) {
      fit(map, size, size);
      map.replaceChildren(attentionMap(weights, tokens, size, quantity));
    }
    table.replaceChildren(...attentionTable(result, state.symbols, state.query));
  });

  // Controls
  const sliders = Object.fromEntries(Object.entries(RANGES).map(([name, [min, max]]) => [name, slider({
    label: SYMBOLS[name], quantity: name, min, max, step: 0.05, value: state[name],
    format: (x) => fixed(x),
    change: (x) => {
      state[name] = x;
      redraw();
    },
  })]));
  const setParameters = (values) => {
    for (const [name, value] of Object.entries(values)) {
      state[name] = value;
      sliders[name].set(value);
    }
    redraw();
  };
  const stages = Object.entries(STAGES).map(([words, values]) => button(words, () => setParameters(values)));

  const contextId = freshId("context"), faultId = freshId("fault"), queryId = freshId("query");
  const fault = html("p", { id: faultId, class: "ex-fault", role: "alert" });
  const context = html("input", {
    id: contextId, type: "text", autocomplete: "off", autocapitalize: "characters", spellcheck: "false",
    "aria-describedby": faultId, input: () => setContext([...context.value.replaceAll(/\s/gu, "")]),
  });
  const query = html("select", {
    id: queryId,
    change: () => {
      state.query = Number(query.value);
      redraw();
    },
  });
  function setContext(symbols) {
    const problem = problemOf(symbols);
    fault.textContent = problem;
    context.setAttribute("aria-invalid", problem !== "");
    if (problem) return;
    state.symbols = symbols;
    state.query = Math.min(state.query, symbols.length / 2 - 1);
    listItems();
    redraw();
  }
  function listItems() {
    query.replaceChildren(...state.symbols.filter((_, i) => i % 2 === 0).map((item, i) =>
      html("option", { value: i, selected: i === state.query }, item),
    ));
  }
  function write(symbols) {
    context.value = pairsOf(symbols);
    setContext(symbols);
  }
  const other = button("Another context", () => {
    const letters = [...LETTERS].sort(() => Math.random() - 0.5);
    write(letters.slice(0, state.symbols.length));
  });
  const resize = (change) => () => {
    const nPairs = state.symbols.length / 2 + change;
    if (nPairs < PAIRS.least || nPairs > PAIRS.most) return;
    const free = [...LETTERS].filter((letter) => !state.symbols.includes(letter));
    write(change > 0 ? [...state.symbols, ...free.slice(0, 2)] : state.symbols.slice(0, -2));
  };

  // Pictures
  const sentence = html("p", { class: "ex-summary", role: "status" });
  const picture = svg("svg", { role: "img", "aria-label": "The context, who attends to whom, and the answer" });
  const first = svg("svg", { role: "img", "aria-label": "Attention of layer 1, row attends to column" });
  const second = svg("svg", { role: "img", "aria-label": "Attention of layer 2, row attends to column" });
  const table = html("table", { class: "ex-times" });
  const titled = (title, map) => html("figure", {}, html("figcaption", {}, title), map);

  mount.replaceChildren(
    html("div", { class: "ex-grid" }, ...Object.values(sliders).map(({ root }) => root)),
    html("div", { class: "ex-buttons" }, ...stages),
    html(
      "div", { class: "ex-context" },
      html("div", {}, html("label", { for: contextId }, "Context, item and label in turn"), context),
      html("div", {}, html("label", { for: queryId }, "Query"), query),
      html("div", { class: "ex-buttons" }, button("One pair more", resize(1)), button("One pair less", resize(-1)), other),
    ),
    fault, sentence, picture,
    html(
      "div", { class: "ex-maps" },
      titled("Layer 1: row attends to column", first), titled("Layer 2: the last row is the query's", second),
    ),
    html("details", { class: "ex-more" }, html("summary", {}, "The same as a table"), html("div", { class: "ex-scroll", tabindex: 0, role: "region", "aria-label": "Attention and answer" }, table)),
  );
  mount.classList.add("ex-live");
  mount.tabIndex = -1;
  write(state.symbols);
  new ResizeObserver(redraw).observe(mount);
  return (values) => {
    setParameters(values);
    mount.scrollIntoView({ block: "start" });
    mount.focus({ preventScroll: true }); // a reader who cannot see must get here as well
  };
}

/** Why these symbols make no context, or nothing. */
function problemOf(symbols) {
  const repeated = symbols.find((symbol, i) => symbols.indexOf(symbol) < i);
  if (repeated) return `All symbols must differ, but ${repeated} comes twice.`;
  if (symbols.length % 2) return "Each item needs its label: the number of symbols must be even.";
  if (symbols.length < 2 * PAIRS.least) return `At least ${PAIRS.least} pairs are needed.`;
  if (symbols.length > 2 * PAIRS.most) return `At most ${PAIRS.most} pairs fit.`;
  return "";
}

function pairsOf(symbols) {
  return symbols.map((symbol, i) => (i && i % 2 === 0 ? ` ${symbol}` : symbol)).join("");
}

const shown = showNear("circuit", show);
document.addEventListener("circuit:show", ({ detail }) => shown()[0]?.(detail));
