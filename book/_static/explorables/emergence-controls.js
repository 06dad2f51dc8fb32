/** The controls of the gradient flow: N, query rule, time axis, thresholds and initial values. */

import { button, choice, fixed, html, number, slider } from "./dom.js";
import { PARAMETERS, SYMBOLS } from "./emergence-view.js";
import { UNIFORM_LIMIT } from "./reduced.js";

const MOST = 1_000_000;
// Slider positions: every N up to 8, then four in each doubling.
const SIZES = [2, 3, 4, 5, 6, 7, 8];
while (SIZES.at(-1) < MOST) {
  const octave = SIZES.at(-1);
  SIZES.push(...[1.25, 1.5, 1.75, 2].map((factor) => Math.min(MOST, factor * octave)));
}

/** What the paper chose: thresholds of Definition 1, a start from zero. */
export function paperSetting() {
  return { thresholds: [0.5, 0.5, 0.5], start: [0, 0, 0] };
}

/**
 * N by slider and as a number, and which pair the query asks for. A query for any pair costs more,
 * so N is limited there; the page says so, and N comes back with the last pair.
 * @param {object} state its nPairs and query are set
 * @param {() => void} changed called after each change
 */
export function sizeControls(state, changed) {
  const size = slider({
    label: "Pairs in the context, N", min: 0, max: SIZES.length - 1, step: 1, value: 0,
    format: (i) => number(SIZES[i], 7), change: (i) => ask(SIZES[i]),
  });
  const exact = html("input", {
    "aria-label": "N, exactly", type: "number", min: 2, max: MOST, step: 1,
    change: () => ask(Math.round(Number(exact.value)) || state.nPairs),
  });
  const query = choice({
    legend: "The query asks for", value: state.query,
    options: { last: "the last pair", uniform: "any pair" },
    change: (value) => {
      state.query = value;
      set(asked);
    },
  });
  const limit = html("p", { class: "ex-limit", "aria-live": "polite" });
  let asked = state.nPairs; // what the reader chose, with either query
  function ask(nPairs) {
    asked = Math.min(Math.max(nPairs, 2), MOST);
    set(asked);
  }
  function set(nPairs) {
    const most = state.query === "uniform" ? UNIFORM_LIMIT : MOST;
    limit.textContent = nPairs > most
      ? `N is ${number(most)} and not ${number(nPairs, 7)}: with a query for any pair, this page computes only up to ${number(most)}.` : "";
    state.nPairs = Math.min(nPairs, most);
    exact.value = state.nPairs;
    size.input.max = SIZES.findLastIndex((n) => n <= most);
    size.set(SIZES.findIndex((n) => n >= state.nPairs));
    changed();
  }
  ask(state.nPairs);
  return [html("div", { class: "ex-size" }, size.root, exact), query.root, limit];
}

/** A fold with thresholds and initial values; state.thresholds and state.start are set. */
export function fineControls(state, changed) {
  const kinds = { thresholds: "Threshold", start: "Initial value" };
  const range = {
    thresholds: (name) => (name === "gamma" ? [0.05, 0.95] : [0.05, 1.5]),
    start: (name) => (name === "gamma" ? [-0.9, 0.9] : [-1.5, 1.5]),
  };
  const sliders = Object.entries(kinds).flatMap(([kind, words]) => PARAMETERS.map((name, i) => {
    const [min, max] = range[kind](name);
    const one = slider({
      label: `${words} of ${SYMBOLS[name]}`, quantity: name, min, max, step: 0.05,
      value: state[kind][i], format: (x) => fixed(x),
      change: (x) => {
        state[kind][i] = x;
        changed();
      },
    });
    return { ...one, back: () => one.set(state[kind][i]) };
  }));
  const reset = button("Back to the paper's setting", () => {
    Object.assign(state, paperSetting());
    sliders.forEach(({ back }) => back());
    changed();
  });
  return html(
    "details", { class: "ex-more" },
    html("summary", {}, "Thresholds and initial values"),
    html("div", { class: "ex-grid" }, ...sliders.map(({ root }) => root)),
    reset,
  );
}
