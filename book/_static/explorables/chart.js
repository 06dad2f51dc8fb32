/** Axes and lines of a chart, in pixels. */

import { number, svg } from "./dom.js";

/** A map from data to pixels, with its inverse. */
export function linear([from, to], [start, end]) {
  const map = (value) => start + ((value - from) / (to - from)) * (end - start);
  map.invert = (pixel) => from + ((pixel - start) / (end - start)) * (to - from);
  return map;
}

/** Round values between two ends, about `count` of them. */
export function ticks(from, to, count) {
  const rough = (to - from) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => ({
    value: (first + i) * step,
    text: number(Number(((first + i) * step).toPrecision(12)), 3),
  }));
}

/**
 * Grid, tick labels and axis labels of a chart.
 * @param {object} frame
 * @param {{left: number, right: number, top: number, bottom: number}} frame.box in pixels
 * @param {{map: Function, ticks: {value: number, text: string}[], label?: string, quantity?: string}} frame.x
 * @param {{map: Function, ticks: {value: number, text: string}[], label: string, quantity?: string}} frame.y
 */
export function axes({ box, x, y }) {
  const group = svg("g", { class: "ex-axes" });
  for (const { value, text } of y.ticks) {
    const at = y.map(value);
    group.append(svg("line", { x1: box.left, x2: box.right, y1: at, y2: at }));
    group.append(svg("text", { x: box.left - 6, y: at, dy: "0.35em", "text-anchor": "end" }, text));
  }
  for (const { value, text } of x.ticks) {
    const at = x.map(value);
    group.append(svg("line", { x1: at, x2: at, y1: box.top, y2: box.bottom }));
    group.append(svg("text", { x: at, y: box.bottom + 16, "text-anchor": "middle" }, text));
  }
  const kind = ({ quantity }) => (quantity ? `ex-axis q-${quantity}` : "ex-axis");
  group.append(svg("text", { class: kind(y), x: box.left, y: box.top - 8 }, y.label));
  if (x.label) {
    group.append(svg("text", { class: kind(x), x: box.right, y: box.bottom + 33, "text-anchor": "end" }, x.label));
  }
  return group;
}

/** A line through points [x, y] in pixels; far outside the chart they are pulled closer. */
export function path(points, attributes) {
  return svg("path", { fill: "none", ...attributes, d: through(points) });
}

/** What draws a path through points. */
export function through(points) {
  const pull = (pixel) => Math.max(-1e4, Math.min(1e4, pixel)).toFixed(2);
  return points.map(([x, y], i) => `${i ? "L" : "M"}${pull(x)} ${pull(y)}`).join("");
}

/** A clip path of a box, and the reference to it. */
export function clip(id, { left, right, top, bottom }) {
  const shape = svg("rect", { x: left, y: top, width: right - left, height: bottom - top });
  return svg("clipPath", { id }, shape);
}
