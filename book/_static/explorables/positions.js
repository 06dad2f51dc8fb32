/** The explorable of a loss at every position: a race of one query and of both masks on one time axis. */

import { axes, linear, ticks } from "./chart.js";
import { fit, fixed, html, number, oncePerFrame, slider, svg } from "./dom.js";
import { curvePoints, lossCurve, PARAMETERS, SYMBOLS, threeCurves, timeAxis } from "./emergence-view.js";
import { everyPosition, lossCausal } from "./every.js";
import { gradientFlow, stateAt } from "./flow.js";
import { flowTime, scaleChoice } from "./flow-time.js";
import { showNear } from "./near.js";
import { growing, unveil } from "./unveil.js";

const LANE = 132, BELOW = 40; // pixels: for each flow, and for the axis below the last
const SHOWN = [-0.6, 1.6]; // of alpha, beta and gamma
const SIZES = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
const KINDS = [
  { name: "One query, strict mask", power: 2, unit: "N²", flow: (n) => gradientFlow(n) },
  { name: "Every position, strict mask", power: 1, unit: "N", flow: (n) => everyPosition(n) },
  { name: "Every position, causal mask", power: 1, unit: "N", flow: (n) => everyPosition(n, lossCausal) },
];

function show(mount) {
  const state = { nPairs: 64, scale: "log" };
  let flows; // the last ones computed
  let view; // how they are drawn: the axis of all and its range in pixels

  const recompute = oncePerFrame(() => {
    flows = KINDS.map(({ flow }) => flow(state.nPairs));
    summary.textContent = inWords(flows);
    table.replaceChildren(html("caption", {}, "Flow times, as numbers and in units of N² or N"), ...timesTable(flows));
    redraw();
  });
  const redraw = oncePerFrame(() => {
    const width = mount.clientWidth;
    if (width === 0) return;
    const range = [34, width - 10];
    const x = timeAxis(together(flows), state.scale, range);
    view = { x, range };
    fit(picture, width, LANE * KINDS.length + BELOW);
    picture.replaceChildren(...flows.map((flow, i) => lane(flow, i, view)), cursor);
    time.refresh();
    moveCursor();
  });

  const { time, now, point } = flowTime({
    seen: () => view && { events: Object.values(together(flows).times), ...view },
    spoken: (t) => [number(t), ...flows.map((flow, i) => `${KINDS[i].name}: ${standing(flow, t)}`)].join(". "),
    moved: () => moveCursor(),
  });
  const scale = scaleChoice(state, redraw);
  const size = slider({
    label: "Pairs in the context, N", min: 0, max: SIZES.length - 1, step: 1, value: SIZES.indexOf(state.nPairs),
    format: (i) => number(SIZES[i]),
    change: (i) => {
      state.nPairs = SIZES[i];
      recompute();
    },
  });
  const picture = svg("svg", {
    role: "img", "aria-label": "Three flows on one time axis: curves of alpha, beta, gamma and the loss of each",
    class: "ex-curves", pointerdown: point, pointermove: point,
  });
  const cursor = svg("line", { class: "ex-cursor", y1: 24, y2: LANE * KINDS.length });
  const reading = html("p", { class: "ex-reading" });
  function moveCursor() {
    const t = now();
    const pixel = view.x.map(t);
    cursor.setAttribute("x1", pixel);
    cursor.setAttribute("x2", pixel);
    unveil(picture, { pixel, t, playing: time.playing() });
    reading.replaceChildren(...flows.map((flow, i) => html("span", {}, `${KINDS[i].name}: ${standing(flow, t)}. `)));
  }

  const summary = html("p", { class: "ex-summary", role: "status" });
  const table = html("table", { class: "ex-times" });
  mount.replaceChildren(
    html("div", { class: "ex-controls" }, html("div", { class: "ex-size-plain" }, size.root), scale.root),
    summary,
    picture,
    html("div", { class: "ex-time" }, time.play, time.slider, reading),
    html("div", { class: "ex-scroll", tabindex: 0, role: "region", "aria-label": "Times of all three" }, table),
  );
  mount.classList.add("ex-live");
  new ResizeObserver(() => flows && redraw()).observe(mount);
  recompute();
}

/** What a time axis has to hold: the last end of all flows, and all their events. */
function together(flows) {
  const events = flows.flatMap(({ times }, i) => Object.entries(times).map(([name, t]) => [`${name} ${i}`, t]));
  return { nPairs: flows[0].nPairs, end: Math.max(...flows.map(({ end }) => end)), times: Object.fromEntries(events) };
}

/** One flow on the axis of all, whose numbers stand below the last. */
function lane(flow, i, { x, range: [left, right] }) {
  const box = { left, right, top: LANE * i + 24, bottom: LANE * (i + 1) - 8 };
  const y = { map: linear(SHOWN, [box.bottom, box.top]), ticks: ticks(...SHOWN, 3), label: KINDS[i].name };
  const last = i === KINDS.length - 1;
  const points = curvePoints(flow, x, [left, right]);
  const { levels, curves, marks } = threeCurves(flow, points, { x, y, box });
  const loss = lossCurve(flow, points, x, y.map);
  return svg(
    "g", {},
    axes({ box, x: last ? x : { ...x, ticks: x.ticks.map((tick) => ({ ...tick, text: "" })), label: "" }, y }),
    growing(box, curves, loss.line), levels, marks, ...loss.marks,
  );
}

/** How far a flow has come, in words. */
function standing(flow, t) {
  const there = PARAMETERS.filter((name) => flow.times[name] <= t).sort((a, b) => flow.times[a] - flow.times[b]);
  const loss = flow.loss(stateAt(flow, Math.min(t, flow.end)));
  return `${there.map((name) => SYMBOLS[name]).join(", ") || "nothing"} emerged, loss ${fixed(loss)}`;
}

function inWords([single, every, causal]) {
  const gain = number(single.times.alpha / every.times.alpha, 3);
  return `With N = ${number(single.nPairs)} and the strict mask, α emerges at ${number(every.times.alpha)} where a `
    + `loss is taken at every position, and at ${number(single.times.alpha)} with one query, ${gain} times as late. `
    + `Under the causal mask with a loss at every position, α ${reached(causal)}.`;
}

function reached({ times, end }) {
  return times.alpha < Infinity ? `emerges at ${number(times.alpha)}` : `has not emerged by ${number(end)}`;
}

function timesTable(flows) {
  const rows = [...PARAMETERS, "collapse"].map((name) => {
    const quantity = name === "collapse" ? "loss" : name;
    const words = name === "collapse" ? "loss falls to ½" : `${SYMBOLS[name]} emerges`;
    const cells = flows.flatMap((flow, i) => [
      html("td", {}, flow.times[name] < Infinity ? number(flow.times[name], 5) : `> ${number(flow.end)}`),
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
