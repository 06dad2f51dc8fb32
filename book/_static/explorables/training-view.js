/** What a training in the page draws: curves beside their prediction, attention, matrices, a table. */

import { axes, clip, linear, path, ticks } from "./chart.js";
import { fixed, freshId, html, number, svg } from "./dom.js";
import { paint } from "./pixels.js";
import { HEAD, words } from "./training-settings.js";

const LEVEL = 0.5; // of what has emerged, and of the loss
const POINTS = 300; // of a curve
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
    const curve = ({ values, kind }) => path(thinned(values).map(([step, value]) => [x(step), y.map(value)]), { class: kind });
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

/** Steps with their values, at most so many. */
function thinned(values) {
  const apart = Math.ceil(values.length / POINTS) || 1;
  return values.map((value, step) => [step, value]).filter(([step]) => step % apart === 0 || step === values.length - 1);
}

/** Attention of both layers and the three matrices, the block of α₃, β₂ and γ₃ in a frame. */
export function pictures({ pairs, dim }) {
  const rows = 2 * pairs + 1;
  const kinds = [
    ["alpha", "Layer 1 attends", rows, rows], ["beta", "Layer 2 attends", rows, rows],
    ["alpha", "Matrix W₁", 2 * dim, 2 * dim, [dim, dim, dim, dim]], ["beta", "Matrix W₂", 4 * dim, 4 * dim, [2 * dim, 0, dim, dim]],
    ["gamma", "Matrix W₃, on its side", 8 * dim, dim, [4 * dim, 0, dim, dim]],
  ];
  const maps = kinds.map(([quantity, title, width, height, frame]) => {
    const canvas = html("canvas", { width, height, role: "img", "aria-label": `${title}, ${height} rows and ${width} columns` });
    const overlay = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    const framed = ([x, y, w, h]) => overlay.replaceChildren(svg("rect", { class: "ex-block", x, y, width: w, height: h }));
    if (frame) framed(frame);
    const root = html("figure", { class: `q-${quantity}` }, html("figcaption", {}, title), html("div", { class: "ex-matrix" }, canvas, overlay));
    return { root, canvas, framed };
  });
  const [first, second, w1, w2, w3] = maps;
  const draw = ({ patterns, wanted, weights }) => {
    const d2 = dim * dim, largest = (part) => part.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
    paint(first.canvas, patterns[0], 1);
    paint(second.canvas, patterns[1], 1);
    second.framed([2 * wanted + 1, rows - 1, 1, 1]);
    const parts = [weights.subarray(0, 4 * d2), weights.subarray(4 * d2, 20 * d2), transposed(weights.subarray(20 * d2), dim)];
    parts.forEach((part, i) => paint([w1, w2, w3][i].canvas, part, largest(part)));
  };
  return { roots: maps.map(({ root }) => root), draw };
}

function transposed(part, columns) {
  const rows = part.length / columns;
  return part.map((_, i) => part[(i % rows) * columns + Math.floor(i / rows)]);
}

/** What both layers give to the right row in the context that is drawn: means over labels, and of the query. */
export function attended({ patterns: [first, second], wanted }, pairs) {
  const rows = 2 * pairs + 1, labels = Array.from({ length: pairs }, (_, k) => first[(2 * k + 1) * rows + 2 * k]);
  return [labels.reduce((sum, share) => sum + share, 0) / pairs, second[(rows - 1) * rows + 2 * wanted + 1]];
}

/** When the three scores and the loss pass 1/2, in the run, its prediction and the run before. */
export function eventsTable({ run, predicted, last }) {
  const at = (record, step, i = -1) => {
    if (!record || !record.losses.length) return "—";
    if (record.setting.held[i] !== null && i >= 0) return "held";
    return step < 0 ? `not by ${number(record.losses.length, 6)}` : number(step, 6);
  };
  const records = [run, predicted, last];
  const row = (quantity, label, steps) => html(
    "tr", { class: `q-${quantity}`, "data-event": quantity },
    html("th", { scope: "row" }, html("span", { class: "ex-swatch", "aria-hidden": "true" }), label), ...steps.map((step) => html("td", {}, step)),
  );
  const heads = ["First step at which", "This run", "Predicted", "Last run"];
  return [
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    html(
      "tbody", {},
      ...HEAD.map(([quantity, symbol, place], i) => row(
        quantity, `${symbol} is at least ½`, records.map((record) => at(record, record ? risen(record, place) : -1, i)))),
      row("loss", "the loss is at most ½", records.map((record) => at(record, record ? fallen(record) : -1))),
    ),
  ];
}

/** Where a run stands, for its reader and for those who see no curves. */
export function inWords({ run, predicted, last }, shares) {
  const steps = run.losses.length, fall = fallen(run);
  const percent = (share) => `${Math.round(100 * share)}%`;
  const first = steps
    ? `Step ${number(steps, 6)}, loss ${fixed(run.losses.at(-1))}. ${HEAD.map(([, symbol, place]) => `${symbol} = ${fixed(run.scores.at(-1)[place])}`).join(", ")}.`
    : "All weights are zero.";
  const looks = `In layer 1, labels give ${percent(shares[0])} of their attention to their item, and in layer 2 the query gives ${percent(shares[1])} to the right label.`;
  const own = !steps ? "" : fall < 0 ? `The loss has not yet fallen to ½.` : `The loss fell to ½ at step ${number(fall, 6)}.`;
  return [first, looks, own, foretold(predicted), last ? before(run, last) : ""].filter(Boolean).join(" ");
}

function foretold({ losses, setting, ended }) {
  const fall = fallen({ losses });
  if (setting.optimiser === "adamw") return "There is no prediction under AdamW, because its steps depend on the noise of the batches.";
  if (fall >= 0) return `Predicted is step ${number(fall, 6)}.`;
  return ended ? `The prediction does not fall to ½ within ${number(losses.length, 6)} steps.` : "The prediction is being computed.";
}

function before(run, last) {
  const now = words(run.setting), fall = fallen(last);
  const other = words(last.setting).filter((word, i) => word !== now[i]).join(", ") || "same settings";
  return `Last run (${other}): ${fall < 0 ? `not by step ${number(last.losses.length, 6)}` : `step ${number(fall, 6)}`}.`;
}
