/** What a training in the page draws: curves beside their prediction, attention, matrices, a table. */

import { axes, clip, linear, path, ticks } from "./chart.js";
import { fixed, freshId, html, number, svg } from "./dom.js";
import { paint } from "./pixels.js";
import { HEAD, words } from "./training-settings.js";

const LEVEL = 0.5; // of what has emerged, and of the loss
const UNKNOWN_END = 400, ROUND = 25; // steps: as in Figure 4, and those of a leap
const LEFT = 36, RIGHT = 10; // pixels beside the panels
export const LOSS = ["loss", "loss", 19]; // as one more column of a record
// Panels above each other, with their heights in pixels; γ₃ has an axis of its own.
const PANELS = [
  { title: "scores ", height: 150, loud: HEAD.slice(0, 2), quiet: [0, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] },
  { title: "output ", height: 96, loud: HEAD.slice(2), quiet: [15, 16, 18] },
  { title: "", height: 118, loud: [LOSS], quiet: [] },
];
const GAP = 34; // pixels above a panel
export const HEIGHT = PANELS.reduce((sum, { height }) => sum + height + GAP, 40);

/**
 * The first step at which the loss is at most 1/2; -1 for never.
 * @typedef {{rows: number[][]}} Record a row a step: the 19 scores and the loss
 */
export const fallen = ({ rows }) => rows.findIndex((row) => row[LOSS[2]] <= LEVEL);

/** The last step to draw: a while after the predicted fall, so that most of them are plateau. */
export function lastStep(predicted) {
  const fall = fallen(predicted);
  return fall < 0 ? UNKNOWN_END : ROUND * Math.ceil(1.4 * fall / ROUND);
}

/**
 * All panels: a run, its prediction (dashed) and the run before (faint).
 * @param {{run: Record, predicted: Record, last?: Record}} records
 */
export function trainingChart({ run, predicted, last }, end, width) {
  const [left, right] = [LEFT, width - RIGHT], x = linear([0, end], [left, right]);
  const marks = ticks(0, end, Math.max(3, Math.floor((right - left) / 80)));
  const kinds = [[last, "ex-last"], [run, ""], [predicted, "ex-predicted"]].filter(([record]) => record);
  let top = 0;
  return svg("g", {}, ...PANELS.flatMap(({ title, height, loud, quiet }, i) => {
    const box = { left, right, top: top += GAP, bottom: top += height }, inner = freshId("clip");
    const curve = (record, place, kind) => ({ values: record.rows.slice(0, end + 1).map((row) => row[place]), kind });
    const lines = kinds.flatMap(([record, kind]) => loud.map(([quantity, , place]) => curve(record, place, `ex-curve q-${quantity} ${kind}`)));
    const hairs = quiet.map((place) => curve(run, place, "ex-hair"));
    const range = loud[0] === LOSS ? [0, 1.2] : rangeOf(lines.flatMap(({ values }) => values));
    const y = { map: linear(range, [box.bottom, box.top]), ticks: ticks(...range, 3), label: named(title, loud) };
    const lowest = i === PANELS.length - 1, level = y.map(LEVEL);
    return [
      axes({ box, x: { map: x, ticks: lowest ? marks : marks.map(({ value }) => ({ value, text: "" })), label: lowest ? "training step" : "" }, y }),
      svg("line", { class: "ex-threshold", x1: left, x2: right, y1: level, y2: level }),
      svg("g", { "clip-path": `url(#${inner})` }, clip(inner, box), ...[...hairs, ...lines].map(
        ({ values, kind }) => path(values.map((value, step) => [x(step), y.map(value)]), { class: kind }))),
    ];
  }));
}

/** An axis for values: from a little below zero up to a power of two, so that it seldom changes. */
function rangeOf(values) {
  const most = 2 ** Math.ceil(Math.log2(Math.max(1, ...values)));
  return [Math.min(-most / 8, ...values), 1.1 * most];
}

function named(title, loud) {
  const names = loud.map(([quantity, symbol]) => svg("tspan", { class: `q-${quantity} ex-named` }, `${symbol} `));
  return svg("tspan", {}, title, ...names);
}

/** Attention of both layers and the three matrices, the block of α₃, β₂ and γ₃ in a frame. */
export function pictures({ pairs, dim }) {
  const maps = [
    ["alpha", "Attention, layer 1", 2 * pairs, 2 * pairs], ["alpha", "W₁", 2 * dim, 2 * dim, [dim, dim, dim, dim]],
    ["beta", "Attention of the query, layer 2", 2 * pairs + 1, 1], ["beta", "W₂", 4 * dim, 4 * dim, [2 * dim, 0, dim, dim]],
    ["gamma", "W₃ on its side", 8 * dim, dim, [4 * dim, 0, dim, dim]],
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
  const cell = (record, place, held) => {
    if (typeof record?.setting.held[held] === "number") return "held";
    if (!record?.rows.length) return "—";
    const step = place === LOSS[2] ? fallen(record) : record.rows.findIndex((row) => row[place] >= LEVEL);
    return step < 0 ? `not by ${number(record.rows.length, 6)}` : number(step, 6);
  };
  const heads = ["First step at which", "This run", "Predicted", "Last run"];
  return [
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    html("tbody", {}, ...[...HEAD, LOSS].map(([quantity, symbol, place], i) => html(
      "tr", { class: `q-${quantity}`, "data-event": quantity },
      html("th", { scope: "row" }, html("span", { class: "ex-swatch", "aria-hidden": "true" }), `${symbol} is at ${i < 3 ? "least" : "most"} ½`),
      ...[run, predicted, last].map((record) => html("td", {}, cell(record, place, i))),
    ))),
  ];
}

/** Where a run stands, for its reader and for those who see no curves. */
export function inWords({ run, predicted, last }, shares) {
  const steps = run.rows.length, [labels, query] = shares.map((share) => `${Math.round(100 * share)}%`);
  const reached = (record) => {
    const fall = fallen(record);
    if (fall < 0) return record.ended ?? true ? `not within ${number(record.rows.length, 6)} steps` : "at a step to be computed";
    return `at step ${number(fall, 6)}`;
  };
  const falls = [
    steps ? `${reached(run)} here` : "",
    run.setting.optimiser === "sgd" ? `${reached(predicted)} as predicted` : "without a prediction, for the steps of AdamW depend on noise",
    last ? `${reached(last)} in the last run (${difference(run, last)})` : "",
  ];
  return `After ${number(steps, 6)} ${steps === 1 ? "step" : "steps"}, labels give ${labels} of their attention in layer 1 to their item, and the query gives ${query} in `
    + `layer 2 to the right label. The loss falls to ½: ${falls.filter(Boolean).join(", ")}.`;
}

function difference(run, last) {
  const now = words(run.setting);
  return words(last.setting).filter((word, i) => word !== now[i]).join(", ") || "with the same settings";
}
