/** The controls of the full model: N, query rule, and which pseudo-parameters learn. */

import { button, choice, freshId, html, slider } from "./dom.js";
import { NAMES } from "./full.js";
import { HEAD, RESTING } from "./full-flow.js";
import { symbol } from "./nineteen-view.js";

const MOST = 64;
const LAYERS = { alpha: "layer 1", beta: "layer 2", gamma: "output" };
const MOVING = NAMES.filter((name) => !RESTING.includes(name));
const only = (...names) => MOVING.filter((name) => !names.includes(name));

/** Subsets of frozen parameters to begin with. */
const CHOICES = {
  "All free": [],
  "Only the paper's three": only(...Object.values(HEAD)),
  "The three with γ₂ and γ₄": only(...Object.values(HEAD), "gamma_2", "gamma_4"),
  "Without γ₂": ["gamma_2"],
  "Without γ₄": ["gamma_4"],
  "Without γ₂ and γ₄": ["gamma_2", "gamma_4"],
};

/**
 * N, and which pair the query asks for.
 * @param {object} state its nPairs and query are set
 * @param {() => void} changed called after each change
 */
export function mainControls(state, changed) {
  const size = slider({
    label: "Pairs in the context, N", min: 2, max: MOST, step: 1, value: state.nPairs, format: String,
    change: (nPairs) => {
      state.nPairs = nPairs;
      changed();
    },
  });
  const query = choice({
    legend: "The query asks for", value: state.query,
    options: { last: "the last pair", uniform: "any pair" },
    change: (rule) => {
      state.query = rule;
      changed();
    },
  });
  return [html("div", { class: "ex-size-plain" }, size.root), query.root];
}

/** A switch for each parameter, and buttons for some subsets; state.frozen is set. */
export function subsetControls(state, changed) {
  const switches = new Map(NAMES.map((name) => [name, oneSwitch(name, changeOne)]));
  const buttons = Object.entries(CHOICES).map(([words, frozen]) => ({
    frozen, root: button(words, () => freeze(frozen)),
  }));
  function changeOne() {
    freeze(MOVING.filter((name) => !switches.get(name).input.checked));
  }
  function freeze(frozen) {
    state.frozen = frozen;
    for (const name of MOVING) switches.get(name).input.checked = !frozen.includes(name);
    for (const one of buttons) one.root.setAttribute("aria-pressed", one.frozen.join() === frozen.join());
    changed();
  }
  freeze(state.frozen);
  const layers = Object.entries(LAYERS).map(([letter, words]) => html(
    "span", { class: `ex-layer q-${letter}`, role: "group", "aria-label": words },
    html("span", { "aria-hidden": "true" }, words),
    html("span", {}, ...NAMES.filter((name) => name.startsWith(letter)).map((name) => switches.get(name).root)),
  ));
  return html(
    "fieldset", { class: "ex-choice ex-subset" },
    html("legend", {}, "Parameters that learn; the others stay at zero"),
    html("div", { class: "ex-buttons" }, ...buttons.map(({ root }) => root)),
    ...layers,
  );
}

function oneSwitch(name, change) {
  const id = freshId("switch");
  const input = html("input", { id, type: "checkbox", change, disabled: RESTING.includes(name) });
  return { input, root: html("span", { class: "ex-switch" }, input, html("label", { for: id }, symbol(name))) };
}
