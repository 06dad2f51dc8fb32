/** The explorable of the full model: the flow of all pseudo-parameters, any of which may be frozen. */

import { fit, fixed, html, number, oncePerFrame, svg } from "./dom.js";
import { curvePoints, timeAxis } from "./emergence-view.js";
import { emergenceTimes, stateAt } from "./flow.js";
import { flowTime, scaleChoice } from "./flow-time.js";
import { fullFlow, HEAD, LATEST } from "./full-flow.js";
import { showNear } from "./near.js";
import { mainControls, subsetControls } from "./nineteen-controls.js";
import { curvesOf, fullChart, MARGINS, quietNames, SYMBOL, timesTable } from "./nineteen-view.js";
import { unveil } from "./unveil.js";

const HEIGHT = 460; // of the picture, in pixels

function show(mount) {
  const state = { nPairs: 16, query: "last", scale: "log", frozen: [] };
  let flow; // the last one computed
  let view; // how it is drawn: time axis and its range in pixels

  const recompute = oncePerFrame(() => {
    flow = fullFlow(state.nPairs, state);
    summary.textContent = inWords(flow);
    const caption = html("caption", {}, "Emergence times, beside those of the three parameters alone");
    table.replaceChildren(caption, ...timesTable(flow, emergenceTimes(state.nPairs, state)));
    redraw();
  });
  const redraw = oncePerFrame(() => {
    const width = mount.clientWidth;
    if (width === 0) return;
    const range = [MARGINS.left, width - MARGINS.right];
    const x = timeAxis(flow, state.scale, range);
    const points = curvePoints(flow, x, range);
    const curves = curvesOf(flow, points);
    view = { x, range, curves };
    fit(picture, width, HEIGHT);
    picture.replaceChildren(fullChart(flow, points, curves, x, width, HEIGHT), cursor);
    note.textContent = quietNames(curves);
    time.refresh();
    moveCursor();
  });

  const { time, now, point } = flowTime({
    seen: () => view && { events: Object.values(flow.times), ...view },
    spoken: (t) => [number(t), ...valuesAt(t).map(({ text }) => text)].join(", "),
    moved: () => moveCursor(),
  });
  const scale = scaleChoice(state, redraw);
  const picture = svg("svg", {
    role: "img", "aria-label": "Curves of all pseudo-parameters that move, and of the loss, against flow time",
    class: "ex-curves", pointerdown: point, pointermove: point,
  });
  const cursor = svg("line", { class: "ex-cursor", y1: 24, y2: HEIGHT - 38 });
  const reading = html("p", { class: "ex-reading" });
  function valuesAt(t) {
    const y = stateAt(flow, Math.min(t, flow.end));
    const values = view.curves.map(({ label, quantity, of }) => ({ quantity, text: `${label} = ${fixed(y[of], 3)}` }));
    return [...values, { quantity: "loss", text: `loss = ${fixed(flow.loss(y), 3)}` }];
  }
  function moveCursor() {
    const t = Math.min(now(), flow.end);
    const pixel = view.x.map(t);
    cursor.setAttribute("x1", pixel);
    cursor.setAttribute("x2", pixel);
    unveil(picture, { pixel, t, playing: time.playing() });
    reading.replaceChildren(...valuesAt(now()).map(({ quantity, text }) => html(
      "span", { class: `q-${quantity}` }, html("span", { class: "ex-swatch", "aria-hidden": "true" }), `${text} `,
    )));
  }

  const summary = html("p", { class: "ex-summary", role: "status" });
  const note = html("p", { class: "ex-note" });
  const table = html("table", { class: "ex-times" });
  mount.replaceChildren(
    html("div", { class: "ex-controls" }, ...mainControls(state, recompute), scale.root),
    subsetControls(state, recompute),
    summary,
    picture,
    note,
    html("div", { class: "ex-time" }, time.play, time.slider, reading),
    html("div", { class: "ex-scroll", tabindex: 0, role: "region", "aria-label": "Times of all parameters" }, table),
  );
  mount.classList.add("ex-live");
  recompute();
  new ResizeObserver(() => flow && redraw()).observe(mount);
}

function inWords({ nPairs, names, times }) {
  const order = Object.keys(HEAD).sort((a, b) => times[a] - times[b]);
  const reached = order.filter((event) => times[event] < Infinity);
  const events = reached.map((event, i) => `${SYMBOL[event]} ${i ? "" : "emerges "}at ${number(times[event])}`);
  const missing = order.filter((event) => times[event] === Infinity).map((event) =>
    `${SYMBOL[event]} ${names.includes(HEAD[event]) ? `has not emerged by ${LATEST} N²` : "is frozen"}`);
  const fall = times.collapse < Infinity
    ? `The loss falls to ½ at ${number(times.collapse)}.` : `The loss stays above ½ until ${LATEST} N².`;
  return `With N = ${nPairs}, ${[...events, ...missing].join(", ")}.${verdict(reached)} ${fall}`;
}

/** Whether three parameters emerge in the order of Theorem 2. */
function verdict(order) {
  if (order.length < 3) return "";
  return order.join() === "gamma,beta,alpha" ? " This is the order of Theorem 2." : " Theorem 2 has the order γ₃, β₂, α₃.";
}

showNear("nineteen", show);
