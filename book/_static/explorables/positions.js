/** The explorable of a loss at every position: under both masks, with one query beside it. */

import { linear, ticks } from "./chart.js";
import { fit, html, number, oncePerFrame, slider, svg } from "./dom.js";
import { curvePoints, PARAMETERS, SYMBOLS, timeChart } from "./emergence-view.js";
import { everyPosition, lossCausal } from "./every.js";
import { gradientFlow } from "./flow.js";
import { showNear } from "./near.js";

const HEIGHT = 320; // of the curves, in pixels
const TWO_COLUMNS = 640; // from this width on
const SIZES = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
const KINDS = [
  { name: "One query, strict mask", power: 2, unit: "N²", flow: (n) => gradientFlow(n) },
  { name: "Every position, strict mask", power: 1, unit: "N", flow: (n) => everyPosition(n) },
  { name: "Every position, causal mask", power: 1, unit: "N", flow: (n) => everyPosition(n, lossCausal) },
];

function show(mount) {
  let nPairs = 64;
  let flows;
  const recompute = oncePerFrame(() => {
    flows = KINDS.map(({ flow }) => flow(nPairs));
    summary.textContent = inWords(flows);
    table.replaceChildren(html("caption", {}, "Times, and in units"), ...timesTable(flows));
    redraw();
  });
  const redraw = oncePerFrame(() => {
    if (mount.clientWidth === 0) return;
    const width = mount.clientWidth >= TWO_COLUMNS ? (mount.clientWidth - 16) / 2 : mount.clientWidth;
    KINDS.forEach((kind, i) => draw(flows[i], kind, pictures[i], Math.floor(width)));
  });
  const size = slider({
    label: "Pairs in the context, N", min: 0, max: SIZES.length - 1, step: 1, value: SIZES.indexOf(nPairs),
    format: (i) => number(SIZES[i]),
    change: (i) => {
      nPairs = SIZES[i];
      recompute();
    },
  });
  const pictures = KINDS.map(({ name }) => svg("svg", {
    role: "img", "aria-label": `${name}: curves of alpha, beta, gamma and the loss against flow time`,
  }));
  const summary = html("p", { class: "ex-summary", role: "status" });
  const table = html("table", { class: "ex-times" });
  mount.replaceChildren(
    html("div", { class: "ex-controls" }, html("div", { class: "ex-size-plain" }, size.root)),
    summary,
    html("div", { class: "ex-charts" }, ...KINDS.map(({ name }, i) => html(
      "div", {}, html("p", { class: "ex-note" }, name), pictures[i],
    ))),
    html("div", { class: "ex-scroll", tabindex: 0, role: "region", "aria-label": "Times of all three" }, table),
  );
  mount.classList.add("ex-live");
  new ResizeObserver(() => flows && redraw()).observe(mount);
  recompute();
}

function draw(flow, { power, unit }, picture, width) {
  const range = [34, width - 10];
  const scale = flow.nPairs ** power;
  const map = linear([0, flow.end], range);
  const marks = ticks(0, flow.end / scale, Math.max(3, Math.floor((range[1] - range[0]) / 70)));
  const x = {
    map, from: 0, label: `flow time t, in units of ${unit}`,
    ticks: marks.map(({ value, text }) => ({ value: value * scale, text })),
  };
  fit(picture, width, HEIGHT);
  picture.replaceChildren(timeChart(flow, curvePoints(flow, x, range), x, width, HEIGHT));
}

function inWords([single, every, causal]) {
  const gain = number(single.times.alpha / every.times.alpha, 3);
  return `With N = ${number(single.nPairs)} and the strict mask, α emerges at ${number(every.times.alpha)} where a `
    + `loss is taken at every position, and at ${number(single.times.alpha)} with one query: ${gain} times as late. `
    + `Under the causal mask with a loss at every position: ${number(causal.times.alpha)}.`;
}

function timesTable(flows) {
  const rows = [...PARAMETERS, "collapse"].map((name) => {
    const quantity = name === "collapse" ? "loss" : name;
    const words = name === "collapse" ? "loss falls to ½" : `${SYMBOLS[name]} emerges`;
    const cells = flows.flatMap((flow, i) => [
      html("td", {}, number(flow.times[name], 5)),
      html("td", {}, flow.times[name] < Infinity
        ? `${(flow.times[name] / flow.nPairs ** KINDS[i].power).toFixed(4)} ${KINDS[i].unit}` : ""),
    ]);
    return html(
      "tr", { class: `q-${quantity}`, "data-event": name },
      html("th", { scope: "row" }, html("span", { class: "ex-swatch", "aria-hidden": "true" }), words), ...cells,
    );
  });
  const heads = ["Event", ...KINDS.flatMap(({ name, unit }) => [name, `in ${unit}`])];
  return [
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    html("tbody", {}, ...rows),
  ];
}

showNear("positions", show);
