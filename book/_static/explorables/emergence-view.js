/** What the explorable of the gradient flow draws: curves, loss, the alpha-beta plane, times. */

import { axes, clip, linear, path, ticks } from "./chart.js";
import { freshId, html, number, svg } from "./dom.js";
import { leadingOrder, sample } from "./flow.js";
import { logarithmic, powers } from "./logarithmic.js";
import { firstIntegral } from "./reduced.js";
import { growing } from "./unveil.js";

export const PARAMETERS = ["alpha", "beta", "gamma"];
export const SYMBOLS = { alpha: "α", beta: "β", gamma: "γ", loss: "loss" };
const EVENTS = {
  gamma: ["γ emerges", "T", "γ"],
  beta: ["β emerges", "T", "β"],
  alpha: ["α emerges", "T", "α"],
  icl: ["all three have emerged", "t", "ICL"],
  collapse: ["loss falls to ½", "", ""],
};
const APART = 14; // pixels between two marks that are named
const POINTS = 160; // a line is that smooth, beside the solver's own steps

/** The time axis: in units of N^2 from 0, or logarithmic from before gamma emerges. */
export function timeAxis(flow, scale, range) {
  if (scale === "log") {
    const first = Math.min(...Object.values(flow.times).filter((t) => t > 0), flow.nPairs);
    const from = 10 ** Math.floor(Math.log10(first) - 0.5);
    const map = logarithmic([from, flow.end], range);
    const count = Math.max(3, Math.floor((range[1] - range[0]) / 45));
    return { map, from, ticks: powers(from, flow.end, count), label: "flow time t, on a logarithmic axis" };
  }
  const unit = flow.nPairs ** 2;
  const map = linear([0, flow.end], range);
  const count = Math.max(3, Math.floor((range[1] - range[0]) / 70));
  const marks = ticks(0, flow.end / unit, count).map(({ value, text }) => ({ value: value * unit, text }));
  return { map, from: 0, ticks: marks, label: "flow time t, in units of N²" };
}

/** The points to draw: evenly spread on the axis, and where the solver stepped. */
export function curvePoints(flow, x, [start, end]) {
  const even = Array.from({ length: POINTS + 1 }, (_, i) =>
    x.map.invert(start + (i / POINTS) * (end - start)),
  );
  const stepped = flow.nodes.map(({ t }) => t).filter((t) => t >= x.from);
  const times = [...even, ...stepped].map((t) => Math.min(Math.max(t, 0), flow.end));
  return sample(flow, times.sort((a, b) => a - b));
}

/** alpha, beta, gamma above, the loss below, on one time axis. */
export function timeChart(flow, points, x, width, height) {
  const split = Math.round(height * 0.66);
  const box = { left: 34, right: width - 10, top: 24, bottom: split - 26 };
  const low = { left: 34, right: width - 10, top: split + 16, bottom: height - 38 };
  const least = Math.min(0, ...points.flatMap((point) => point.y)) * 1.1;
  const most = Math.max(1.8, 1.3 * Math.max(...flow.thresholds), 1.2 * Math.max(...flow.start));
  const y = { map: linear([least, most], [box.bottom, box.top]), ticks: ticks(least, most, 4), label: "α, β, γ" };
  const highest = Math.max(1, points[0].loss);
  const { levels, curves, marks } = threeCurves(flow, points, { x, y, box });
  return aboveLoss(flow, points, { x, y, box, low, highest }, curves, levels, marks);
}

/** The curves of alpha, beta and gamma in a box, their thresholds, and marks where they reach them. */
export function threeCurves(flow, points, { x, y, box }) {
  const inner = freshId("clip");
  const [levels, marks] = [svg("g"), svg("g")];
  const curves = svg("g", { "clip-path": `url(#${inner})` }, clip(inner, box));
  PARAMETERS.forEach((name, i) => {
    const level = y.map(flow.thresholds[i]);
    levels.append(svg("line", {
      class: `ex-threshold q-${name}`, x1: box.left, x2: box.right, y1: level, y2: level,
    }));
    const line = points.map((point) => [x.map(point.t), y.map(point.y[i])]);
    curves.append(path(line, { class: `ex-curve q-${name}` }));
    const t = flow.times[name];
    if (t > flow.end) return;
    const at = [x.map(t), y.map(Math.max(flow.thresholds[i], t === 0 ? flow.start[i] : -Infinity))];
    const near = PARAMETERS.some((other) => other !== name && Math.abs(x.map(flow.times[other]) - at[0]) < APART);
    const named = near ? [] : [label([at[0] + 9, at[1] + 17], SYMBOLS[name], name)];
    marks.append(svg("g", { "data-at": t }, dot(at, name), ...named));
  });
  return { levels, curves, marks };
}

/** The curve of the loss, and a mark where it falls to one half. */
export function lossCurve(flow, points, x, map) {
  const line = path(points.map((point) => [x.map(point.t), map(point.loss)]), { class: "ex-curve q-loss" });
  const fallen = flow.times.collapse;
  const marks = fallen > flow.end ? [] : [svg("g", { "data-at": fallen }, dot([x.map(fallen), map(0.5)], "loss"))];
  return { line, marks };
}

/**
 * A picture of curves with the loss below it, on one time axis, and the fall of the loss marked.
 * The curves grow with the loss; what else is above does not.
 */
export function aboveLoss(flow, points, { x, y, box, low, highest }, curves, ...above) {
  const map = linear([0, highest], [low.bottom, low.top]);
  const marks = highest > 1 ? ticks(0, highest, 2) : ticks(0, 1, 2);
  const loss = lossCurve(flow, points, x, map);
  return svg(
    "g", {},
    axes({ box, x: { ...x, ticks: x.ticks.map((tick) => ({ ...tick, text: "" })), label: "" }, y }),
    axes({ box: low, x, y: { map, ticks: marks, label: "loss", quantity: "loss" } }),
    growing({ ...box, bottom: low.bottom }, curves, loss.line), ...above, ...loss.marks,
  );
}

/** The range of the alpha-beta plane; both explorable and cursor need it. */
export function planeMaps(flow, width, height) {
  const box = { left: 34, right: width - 10, top: 24, bottom: height - 38 };
  const [startAlpha, startBeta] = flow.start;
  const most = (start, level) => Math.max(2, 1.25 * start, 1.6 * level);
  const least = (start) => Math.min(0, start) * 1.15;
  // alpha first falls where beta starts below zero: leave room for it
  const dip = startBeta < 0 ? startAlpha - startBeta ** 2 / 2 : startAlpha;
  const beta = [least(startBeta), most(startBeta, flow.thresholds[1])];
  const alpha = [least(dip), most(startAlpha, flow.thresholds[0])];
  return {
    box,
    x: { map: linear(beta, [box.left, box.right]), ticks: ticks(...beta, 4), label: "β", quantity: "beta" },
    y: { map: linear(alpha, [box.bottom, box.top]), ticks: ticks(...alpha, 4), label: "α", quantity: "alpha" },
    ranges: { alpha, beta },
  };
}

/** Where the flow went in the alpha-beta plane, in pixels, up to a time and the state then. */
export function walked(points, { x, y }, now, [alpha, beta]) {
  const before = points.filter(({ t }) => t < now).map(({ y: [a, b] }) => [x.map(b), y.map(a)]);
  return [...before, [x.map(beta), y.map(alpha)]];
}

/** The alpha-beta plane with the level line of the first integral; the trajectory is drawn into it. */
export function planeChart(flow, trajectory, maps) {
  const { box, x, y, ranges } = maps;
  const inner = freshId("clip");
  const marks = svg("g");
  for (const name of ["gamma", "beta", "alpha"]) {
    const t = flow.times[name];
    if (t > flow.end) continue;
    const [alpha, beta] = sample(flow, [t])[0].y;
    const at = [x.map(beta), y.map(alpha)];
    // A start far above its threshold may lie outside.
    if (at[0] > box.right || at[1] < box.top) continue;
    // beside the path, which falls on the left branch and rises on the right one
    const named = label([at[0] + (beta > 0 ? -16 : 8), at[1] - 9], SYMBOLS[name], name);
    marks.append(svg("g", { "data-at": t }, dot(at, name), named));
  }
  const threshold = (name, ends) => svg("line", { class: `ex-threshold q-${name}`, ...ends });
  const [alphaLevel, betaLevel] = [y.map(flow.thresholds[0]), x.map(flow.thresholds[1])];
  const level = levelLine(flow, ranges).map(([beta, alpha]) => [x.map(beta), y.map(alpha)]);
  // its name stands left of it, at four fifths of the height
  const named = level.findLast((point) => point[1] >= box.top + 0.2 * (box.bottom - box.top));
  return svg(
    "g", {},
    clip(inner, box),
    axes({ box, x, y }),
    svg(
      "g", { "clip-path": `url(#${inner})` },
      threshold("alpha", { x1: box.left, x2: box.right, y1: alphaLevel, y2: alphaLevel }),
      threshold("beta", { x1: betaLevel, x2: betaLevel, y1: box.top, y2: box.bottom }),
      path(level, { class: "ex-level" }),
      trajectory,
    ),
    svg("text", { x: named[0] - 14, y: named[1], "text-anchor": "end" }, "first integral"),
    marks,
  );
}

/** Where the first integral has its value at the start: points [beta, alpha] from one branch to the other. */
function levelLine({ start, nPairs }, { alpha: [least, most] }) {
  const value = firstIntegral(start[0], start[1], nPairs);
  const branches = { 1: [], "-1": [] };
  for (let i = 0; i <= 200; i++) {
    const alpha = least + ((most - least) * i) / 200;
    const square = (firstIntegral(alpha, 0, nPairs) - value) / (nPairs - 1);
    if (square < 0) continue;
    for (const sign of [1, -1]) branches[sign].push([sign * Math.sqrt(square), alpha]);
  }
  // The branches meet where beta = 0, at the lowest alpha.
  return [...branches[-1].reverse(), ...branches[1]];
}

/** How far the first integral strays along the flow, as a part of its largest term. */
export function strayed(flow) {
  const value = firstIntegral(flow.start[0], flow.start[1], flow.nPairs);
  const last = Math.max(...Object.values(flow.times)); // beyond, the flow is integrated for the eye only
  return Math.max(...flow.nodes.filter(({ t }) => t <= last).map(({ y: [alpha, beta] }) => {
    const size = Math.max(1, (flow.nPairs - 1) * beta ** 2, Math.exp(alpha));
    return Math.abs(firstIntegral(alpha, beta, flow.nPairs) - value) / size;
  }));
}

/** The table of emergence times beside their leading order. */
export function timesTable(flow) {
  const leading = leadingOrder(flow.nPairs, flow);
  const slowest = PARAMETERS.find((name) => leading[name] === leading.icl);
  const rows = Object.entries(EVENTS).map(([name, [words, letter, index]]) => {
    const t = flow.times[name];
    const quantity = { icl: "icl", collapse: "loss" }[name] ?? name;
    const label = letter ? [", ", html("i", {}, letter), html("sub", {}, index)] : [];
    const order = leadingTerm(name === "icl" ? slowest : name, leading[name], flow);
    const ratio = leading[name] > 0 ? (t / leading[name]).toFixed(4) : "—";
    return html(
      "tr", { class: `q-${quantity}`, "data-event": name },
      html("th", { scope: "row" }, html("span", { class: "ex-swatch", "aria-hidden": "true" }), words, ...label),
      html("td", {}, number(t, 5)), html("td", {}, order), html("td", {}, ratio),
    );
  });
  const heads = ["Event", "Flow time", "Leading order", "Ratio"];
  return [
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    html("tbody", {}, ...rows),
  ];
}

function leadingTerm(name, value, { nPairs, query }) {
  if (value === 0) return "0";
  if (Number.isNaN(value)) return "—";
  if (name === "gamma") return `${(value / nPairs).toFixed(4)} N`;
  if (query === "last") return `${(value / nPairs ** 2).toFixed(4)} N²`;
  return `${((value * Math.log(nPairs)) / nPairs ** 2).toFixed(4)} N²/ln N`;
}

/** The mark of an event. */
export function dot([x, y], quantity) {
  return svg("circle", { class: `ex-dot q-${quantity}`, cx: x, cy: y, r: 4.5 });
}

function label([x, y], text, quantity) {
  return svg("text", { class: `ex-label q-${quantity}`, x, y }, text);
}
