/** What the explorable of the full model draws: the curves with their names, and the table of times. */

import { clip, linear, path, ticks } from "./chart.js";
import { freshId, html, number, svg } from "./dom.js";
import { aboveLoss, dot } from "./emergence-view.js";
import { HEAD, LATEST, TWINS } from "./full-flow.js";

/** Beside the chart, in pixels; on the right stand the names of the curves. */
export const MARGINS = { left: 34, right: 66 };
const QUIET = 0.1; // who never leaves this band about zero has no name of its own
const SHOWN = 2.4; // after the loss has fallen some go far beyond
const LINE = 14; // from one name to the next, in pixels

const LETTERS = { alpha: "α", beta: "β", gamma: "γ" };

/** The symbol of a pseudo-parameter: beta_12 becomes β₁₂. */
export function symbol(name) {
  const [letter, index] = name.split("_");
  return LETTERS[letter] + [...index].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
}

/** The symbols of the three of §6, by the words of their times. */
export const SYMBOL = Object.fromEntries(Object.entries(HEAD).map(([event, name]) => [event, symbol(name)]));
const EVENTS = { gamma: `${SYMBOL.gamma} emerges`, beta: `${SYMBOL.beta} emerges`, alpha: `${SYMBOL.alpha} emerges`, collapse: "loss falls to ½" };

/**
 * The curves to draw: one for each parameter that moves, and one for both of a pair of twins.
 * @returns {{label: string, quantity: string, of: number, event?: string, dash: number, quiet: boolean}[]}
 *   `of` is its place in the states of the flow, `event` the time that is its own
 */
export function curvesOf({ names }, points) {
  const second = Object.entries(TWINS).filter(([first]) => names.includes(first)).map(([, twin]) => twin);
  return names.filter((name) => !second.includes(name)).map((name) => {
    const twin = names.includes(TWINS[name]) ? [TWINS[name]] : [];
    const of = names.indexOf(name);
    const [quantity, index] = name.split("_");
    const event = Object.keys(HEAD).find((one) => HEAD[one] === name);
    const most = Math.max(...points.map(({ y }) => Math.abs(y[of])));
    return {
      label: [name, ...twin].map(symbol).join(" = "), quantity, of, event,
      dash: index % 4, quiet: !event && most < QUIET,
    };
  });
}

/** Who is drawn without a name, in words. */
export function quietNames(curves) {
  const quiet = curves.filter((curve) => curve.quiet).map(({ label }) => label);
  const near = quiet.length ? `Grey curves stay within ${QUIET} of zero: ${quiet.join(", ")}. ` : "";
  return `${near}α₂ and β₃ to β₆ stay at zero, because the loss does not depend on them.`;
}

/** All curves above, the loss below, on one time axis. */
export function fullChart(flow, points, curves, x, width, height) {
  const split = Math.round(height * 0.72);
  const sides = { left: MARGINS.left, right: width - MARGINS.right };
  const box = { ...sides, top: 24, bottom: split - 26 };
  const low = { ...sides, top: split + 16, bottom: height - 38 };
  const values = points.flatMap(({ y }) => y);
  const least = Math.max(-SHOWN, Math.min(-QUIET, ...values)), most = Math.min(SHOWN, Math.max(1, ...values));
  const y = {
    map: linear([least - 0.05, most + 0.05], [box.bottom, box.top]), ticks: ticks(least, most, 5),
    label: "pseudo-parameters",
  };
  const inner = freshId("clip");
  const lines = svg("g", { "clip-path": `url(#${inner})` }, clip(inner, box));
  const marks = svg("g");
  const ends = [];
  // the loud ones above
  for (const curve of [...curves].sort((a, b) => rank(a) - rank(b))) {
    const { label, quantity, of, event, quiet } = curve;
    const line = points.map((point) => [x.map(point.t), y.map(point.y[of])]);
    lines.append(path(line, { class: kind(curve), "data-curve": label }));
    if (event && flow.times[event] <= flow.end) {
      const at = x.map(flow.times[event]);
      // right below its curve, or left above it where the next one would be in the way
      const free = Object.keys(HEAD).every((one) => !(flow.times[one] > flow.times[event] && x.map(flow.times[one]) < at + 44));
      const place = free ? { x: at + 8, y: y.map(0.5) + 17 } : { x: at - 5, y: y.map(0.5) - 8, "text-anchor": "end" };
      const named = svg("text", { class: `ex-label q-${quantity}`, ...place }, label);
      marks.append(svg("g", { "data-at": flow.times[event] }, dot([at, y.map(0.5)], quantity), named));
    } else if (!quiet) ends.push({ label, quantity, at: line.at(-1)[1] });
  }
  const below = { x, y, box, low, highest: 1 };
  return aboveLoss(flow, points, below, lines, level(y.map(0.5), box), marks, ...names(ends, box, flow.end * (1 - 1e-9)));
}

const rank = ({ quiet, event }) => (quiet ? 0 : event ? 2 : 1);

/** The classes of a curve: one of three loud ones, of the others, or of the quiet ones. */
function kind({ quantity, event, dash, quiet }) {
  if (quiet) return "ex-hair";
  return event ? `ex-curve q-${quantity}` : `ex-thin q-${quantity} ex-dash-${dash}`;
}

/** The names of curves beside their ends, pushed apart where they would touch. */
function names(ends, { right, top, bottom }, t) {
  const placed = ends.map((end) => ({ ...end, at: Math.min(Math.max(end.at, top), bottom) })).sort((a, b) => a.at - b.at);
  const places = placed.map(({ at }) => at);
  for (let i = 1; i < places.length; i++) places[i] = Math.max(places[i], places[i - 1] + LINE);
  for (let i = places.length - 1, most = bottom; i >= 0; i--, most -= LINE) places[i] = Math.min(places[i], most);
  return placed.map(({ label, quantity, at }, i) => svg(
    "g", { class: `ex-end q-${quantity}`, "data-at": t },
    svg("line", { x1: right + 1, x2: right + 9, y1: at, y2: places[i] }),
    svg("text", { x: right + 11, y: places[i], dy: "0.35em" }, label),
  ));
}

function level(at, { left, right }) {
  return svg("line", { class: "ex-threshold", x1: left, x2: right, y1: at, y2: at });
}

/** The table of times, in flow time and in units of N or N^2, beside those of three parameters alone. */
export function timesTable({ nPairs, names, times }, alone) {
  const rows = Object.entries(EVENTS).map(([event, words]) => {
    const quantity = event === "collapse" ? "loss" : event;
    const frozen = event in HEAD && !names.includes(HEAD[event]);
    const never = frozen ? "frozen" : `> ${LATEST} N²`;
    const cells = [
      times[event] < Infinity ? number(times[event]) : never, scaled(event, times[event], nPairs), scaled(event, alone[event], nPairs),
      times[event] < Infinity ? (times[event] / alone[event]).toFixed(3) : "—",
    ];
    return html(
      "tr", { class: `q-${quantity}`, "data-event": event },
      html("th", { scope: "row" }, html("span", { class: "ex-swatch", "aria-hidden": "true" }), words),
      ...cells.map((text) => html("td", {}, text)),
    );
  });
  const heads = ["Event", "Flow time", "In units of N or N²", "Three parameters alone", "Ratio"];
  return [
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    html("tbody", {}, ...rows),
  ];
}

/** gamma_3 takes a time of order N, all else one of order N^2. */
function scaled(event, t, nPairs) {
  if (t === Infinity) return "—";
  return event === "gamma" ? `${(t / nPairs).toFixed(3)} N` : `${(t / nPairs ** 2).toFixed(3)} N²`;
}
