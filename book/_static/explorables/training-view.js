/** What a training in the page draws: curves beside their prediction, attention, matrices, a table. */

import { axes, clip, linear, path, ticks } from "./chart.js";
import { fixed, freshId, html, number, svg } from "./dom.js";
import { paint } from "./pixels.js";
import { HEAD, words } from "./training-settings.js";

const LEVEL = 0.5; // of what has emerged, and of the loss
const LEFT = 36, RIGHT = 10; // pixels beside the panels
// Panels above each other, in pixels and with the places of what they draw; γ₃ has an axis of its own.
const PANELS = [
  { label: ["scores ", ["alpha", "Dα₃"], ", ", ["beta", "Dβ₂"]], height: 150, loud: [0, 1], quiet: [0, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] },
  { label: ["output ", ["gamma", "γ₃"]], height: 96, loud: [2], quiet: [15, 16, 18] },
  { label: [["loss", "loss"]], height: 118, loud: [], quiet: [] },
];
const GAP = 34; // pixels above a panel
export const HEIGHT = PANELS.reduce((sum, { height }) => sum + height + GAP, 40);

/** The first step at which the loss is at most 1/2, or a score at least; -1 for never. */
export const fallen = ({ losses }) => losses.findIndex((loss) => loss <= LEVEL);
const risen = ({ scores }, place) => scores.findIndex((row) => row[place] >= LEVEL);

/**
 * All panels: a run, its prediction (dashed) and the run before (faint).
 * @typedef {{losses: number[], scores: number[][]}} Record one entry a step
 * @param {{run: Record, predicted: Record, last?: Record}} records
 */
export function trainingChart({ run, predicted, last }, end, width) {
  const [left, right] = [LEFT, width - RIGHT], x = linear([0, end], [left, right]);
  const marks = ticks(0, end, Math.max(3, Math.floor((right - left) / 80)));
  const kinds = [[last, "ex-last"], [run, ""], [predicted, "ex-predicted"]].filter(([record]) => record);
  let top = 0;
  return svg("g", {}, ...PANELS.flatMap(({ label, height, loud, quiet }, i) => {
    const box = { left, right, top: top += GAP, bottom: top += height };
    const isLoss = !loud.length, inner = freshId("clip");
    const of = (record, place) => (isLoss ? record.losses : record.scores.map((row) => row[place]));
    const lines = kinds.flatMap(([record, kind]) => (isLoss ? [["loss"]] : loud.map((which) => HEAD[which])).map(
      ([quantity, , place]) => ({ values: of(record, place).slice(0, end + 1), kind: `ex-curve q-${quantity} ${kind}` })));
    const hairs = quiet.map((place) => ({ values: of(run, place), kind: "ex-hair" }));
    const range = isLoss ? [0, 1.2] : rangeOf(lines.flatMap(({ values }) => values));
    const y = { map: linear(range, [box.bottom, box.top]), ticks: ticks(...range, 3), label: coloured(label) };
    const lowest = i === PANELS.length - 1;
    const curve = ({ values, kind }) => path(values.map((value, step) => [x(step), y.map(value)]), { class: kind });
    const level = svg("line", { class: "ex-threshold", x1: left, x2: right, y1: y.map(LEVEL), y2: y.map(LEVEL) });
    return [
      axes({ box, x: { map: x, ticks: lowest ? marks : marks.map(({ value }) => ({ value, text: "" })), label: lowest ? "training step" : "" }, y }),
      level, svg("g", { "clip-path": `url(#${inner})` }, clip(inner, box), ...[...hairs, ...lines].map(curve)),
    ];
  }));
}

/** An axis for values: from a little below zero up to a power of two, so that it seldom changes. */
function rangeOf(values) {
  const most = 2 ** Math.ceil(Math.log2(Math.max(1, ...values)));
  return [Math.min(-most / 8, ...values), 1.1 * most];
}

function coloured(label) {
  return svg("tspan", {}, ...label.map((part) => (
    typeof part === "string" ? part : svg("tspan", { class: `q-${part[0]} ex-named` }, part[1]))));
}

/** Attention of both layers and the three matrices, the block of α₃, β₂ and γ₃ in a frame. */
export function pictures({ pairs, dim }) {
  const maps = [
    ["alpha", "Attention, layer 1", 2 * pairs, 2 * pairs], ["alpha", "W₁", 2 * dim, 2 * dim, [dim, dim, dim, dim]],
    ["beta", "Attention of the query, layer 2", 2 * pairs + 1, 1], ["beta", "W₂", 4 * dim, 4 * dim, [2 * dim, 0, dim, dim]],
    ["gamma", "W₃, on its side", 8 * dim, dim, [4 * dim, 0, dim, dim]],
  ].map(([quantity, title, width, height, [x, y, w, h] = []]) => {
    const canvas = html("canvas", { width, height, role: "img", "aria-label": title });
    const block = svg("rect", { class: "ex-block", x, y, width: w, height: h });
    const overlay = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, block);
    const root = html("figure", { class: `q-${quantity}` }, html("figcaption", {}, title), html("div", { class: "ex-matrix" }, canvas, overlay));
    return { root, canvas, block };
  });
  const draw = ({ attention: [first, second], wanted, weights }) => {
    const d2 = dim * dim, largest = (part) => part.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
    const onItsSide = (part) => part.map((_, i) => part[(i % (8 * dim)) * dim + Math.floor(i / (8 * dim))]);
    const [w1, w2, w3] = [weights.subarray(0, 4 * d2), weights.subarray(4 * d2, 20 * d2), onItsSide(weights.subarray(20 * d2))];
    [first, w1, second, w2, w3].forEach((part, i) => paint(maps[i].canvas, part, i % 2 || i === 4 ? largest(part) : 1));
    for (const [name, value] of Object.entries({ x: 2 * wanted + 1, y: 0, width: 1, height: 1 })) maps[2].block.setAttribute(name, value);
  };
  return { roots: maps.map(({ root }) => root), draw };
}

/** What both layers give to the right row in the context that is drawn: means over labels, and of the query. */
export function attended({ attention: [first, second], wanted }, pairs) {
  const labels = Array.from({ length: pairs }, (_, k) => first[(2 * k + 1) * 2 * pairs + 2 * k]);
  return [labels.reduce((sum, share) => sum + share, 0) / pairs, second[2 * wanted + 1]];
}

/** When the three scores and the loss pass 1/2, in the run, its prediction and the run before. */
export function eventsTable({ run, predicted, last }) {
  const at = (record, step, held = null) => {
    if (!record?.losses.length) return "—";
    if (held !== null) return "held";
    return step < 0 ? `not by ${number(record.losses.length, 6)}` : number(step, 6);
  };
  const records = [run, predicted, last ?? { losses: [], scores: [], setting: run.setting }];
  const row = (quantity, label, steps) => html(
    "tr", { class: `q-${quantity}` },
    html("th", { scope: "row" }, html("span", { class: "ex-swatch", "aria-hidden": "true" }), label), ...steps.map((step) => html("td", {}, step)),
  );
  const heads = ["First step at which", "This run", "Predicted", "Last run"];
  return [
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    html(
      "tbody", {},
      ...HEAD.map(([quantity, symbol, place], i) => row(
        quantity, `${symbol} is at least ½`, records.map((record) => at(record, risen(record, place), record.setting.held[i])))),
      row("loss", "the loss is at most ½", records.map((record) => at(record, fallen(record)))),
    ),
  ];
}

/** Where a run stands, for its reader and for those who see no curves. */
export function inWords({ run, predicted, last }, shares) {
  const steps = run.losses.length, [labels, query] = shares.map((share) => `${Math.round(100 * share)}%`);
  const reached = ({ losses, ended = true }) => {
    const fall = fallen({ losses });
    if (fall < 0) return ended ? `not within ${number(losses.length, 6)} steps` : "at a step to be computed";
    return `at step ${number(fall, 6)}`;
  };
  const falls = [
    steps ? `${reached(run)} here` : "",
    run.setting.optimiser === "sgd" ? `${reached(predicted)} as predicted` : "without a prediction, for the steps of AdamW depend on noise",
    last ? `${reached(last)} in the last run (${difference(run, last)})` : "",
  ];
  return `After ${number(steps, 6)} steps, labels give ${labels} of their attention in layer 1 to their item, and the query gives ${query} in `
    + `layer 2 to the right label. The loss falls to ½: ${falls.filter(Boolean).join(", ")}.`;
}

function difference(run, last) {
  const now = words(run.setting);
  return words(last.setting).filter((word, i) => word !== now[i]).join(", ") || "with the same settings";
}
