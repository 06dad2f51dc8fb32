/** The explorable of the gradient flow: choose N, thresholds and a start, and watch. */

import { through } from "./chart.js";
import { button, fit, fixed, html, number, oncePerFrame, svg } from "./dom.js";
import { fineControls, paperSetting, sizeControls } from "./emergence-controls.js";
import {
  PARAMETERS, SYMBOLS, curvePoints, planeChart, planeMaps, strayed, timeAxis, timeChart, timesTable, walked,
} from "./emergence-view.js";
import { gradientFlow, stateAt } from "./flow.js";
import { flowTime, scaleChoice } from "./flow-time.js";
import { showNear } from "./near.js";
import { unveil } from "./unveil.js";

const HEIGHT = 360; // of the curves, in pixels
const TWO_COLUMNS = 640; // from this width on

function show(mount) {
  const state = { nPairs: 64, query: "last", scale: "log", ...paperSetting() };
  let flow; // the last one computed
  let view; // how it is drawn: time axis, its range in pixels, maps of the plane, points

  const recompute = oncePerFrame(() => {
    flow = gradientFlow(state.nPairs, state);
    summary.textContent = inWords(flow);
    table.replaceChildren(html("caption", {}, "Emergence times"), ...timesTable(flow));
    note.textContent = aboutIntegral(flow);
    redraw();
  });
  const redraw = oncePerFrame(() => {
    if (mount.clientWidth === 0) return;
    view = draw(flow, state.scale, mount.clientWidth, { curves, plane, trajectory });
    curves.append(cursor);
    plane.append(spot);
    time.refresh();
    moveCursor();
  });

  const { time, now, point } = flowTime({
    seen: () => view && { events: Object.values(flow.times), ...view },
    spoken: (t) => spoken(flow, t),
    moved: () => moveCursor(),
  });
  const scale = scaleChoice(state, redraw);
  const circuits = document.querySelectorAll("[data-explorable=circuit]");
  const hand = button("Show this network in the circuit", () => {
    const [alpha, beta, gamma] = stateAt(flow, now());
    document.dispatchEvent(new CustomEvent("circuit:show", { detail: { alpha, beta, gamma } }));
  });

  const curves = svg("svg", {
    role: "img", "aria-label": "Curves of alpha, beta, gamma and the loss against flow time",
    class: "ex-curves", pointerdown: point, pointermove: point,
  });
  const plane = svg("svg", { role: "img", "aria-label": "The path of the flow in the plane of alpha and beta" });
  const cursor = svg("line", { class: "ex-cursor" });
  const spot = svg("circle", { class: "ex-spot", r: 6 });
  const trajectory = svg("path", { class: "ex-trajectory", fill: "none" });
  const reading = html("p", { class: "ex-reading" });
  function moveCursor() {
    const t = Math.min(now(), flow.end);
    const y = stateAt(flow, t);
    place(cursor, { x1: view.x.map(t), x2: view.x.map(t), y1: 24, y2: HEIGHT - 38 });
    const { box, x: beta, y: alpha } = view.maps;
    const [cx, cy] = [beta.map(y[1]), alpha.map(y[0])];
    place(spot, { cx, cy });
    spot.toggleAttribute("hidden", cx > box.right || cy < box.top);
    trajectory.setAttribute("d", through(walked(view.points, view.maps, t, y)));
    for (const picture of [curves, plane]) unveil(picture, { pixel: view.x.map(t), t, playing: time.playing() });
    reading.replaceChildren(...values(flow, y));
  }

  const summary = html("p", { class: "ex-summary", role: "status" });
  const note = html("p", { class: "ex-note" });
  const table = html("table", { class: "ex-times" });
  mount.replaceChildren(
    html("div", { class: "ex-controls" }, ...sizeControls(state, recompute), scale.root),
    fineControls(state, recompute),
    summary,
    html("div", { class: "ex-charts" }, curves, plane),
    html("div", { class: "ex-time" }, time.play, time.slider, reading, ...(circuits.length ? [hand] : [])),
    note,
    html("div", { class: "ex-scroll", tabindex: 0, role: "region", "aria-label": "Emergence times" }, table),
  );
  mount.classList.add("ex-live");
  new ResizeObserver(() => flow && redraw()).observe(mount);
}

/** Draw both pictures at this width; returns the view that the cursor needs. */
function draw(flow, scale, width, { curves, plane, trajectory }) {
  const wide = width >= TWO_COLUMNS;
  const curvesWidth = wide ? Math.round(width * 0.58) : width;
  const planeWidth = wide ? width - curvesWidth - 16 : Math.min(width, 360);
  const planeHeight = wide ? HEIGHT : planeWidth;
  const range = [34, curvesWidth - 10];
  const x = timeAxis(flow, scale, range);
  const points = curvePoints(flow, x, range);
  const maps = planeMaps(flow, planeWidth, planeHeight);
  fit(curves, curvesWidth, HEIGHT);
  fit(plane, planeWidth, planeHeight);
  curves.replaceChildren(timeChart(flow, points, x, curvesWidth, HEIGHT));
  plane.replaceChildren(planeChart(flow, trajectory, maps));
  return { x, range, maps, points };
}

function place(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

function values(flow, y) {
  const all = [...PARAMETERS.map((name, i) => [name, y[i]]), ["loss", flow.loss(y)]];
  return all.map(([name, value]) => html(
    "span", { class: `q-${name}` },
    html("span", { class: "ex-swatch", "aria-hidden": "true" }), `${SYMBOLS[name]} = ${fixed(value, 3)} `,
  ));
}

function spoken(flow, t) {
  const y = stateAt(flow, Math.min(t, flow.end));
  return [number(t), ...PARAMETERS.map((name, i) => `${name} ${fixed(y[i])}`), `loss ${fixed(flow.loss(y))}`].join(", ");
}

function inWords({ nPairs, times }) {
  const order = [...PARAMETERS].sort((a, b) => times[a] - times[b]);
  const emerge = order.map((name) => `${SYMBOLS[name]} emerges at ${number(times[name])}`).join(", ");
  return `With N = ${number(nPairs, 7)}, ${emerge}. The loss falls to ½ at ${number(times.collapse)}.`;
}

function aboutIntegral(flow) {
  if (flow.query === "uniform") {
    return "The pale line is a level of the first integral for the last pair. The flow with a query for any pair leaves this line.";
  }
  const parts = number(strayed(flow), 1);
  return `The pale line is a level of the first integral. The flow deviates from this level by at most ${parts} of the largest term.`;
}

showNear("emergence", show);
