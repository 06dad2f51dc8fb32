/** The settings of a training in the page: their ranges, controls, words, and the address that keeps them. */

import { choice, fixed, freshId, html, number, slider } from "./dom.js";

/** Figure 4's. Held are the scores Dα₃ and Dβ₂, and γ₃: a value, or null where it is free. */
export const FIGURE_4 = {
  pairs: 16, dim: 32, batch: 256, mask: "strict", asked: "one", optimiser: "sgd", rate: 1, seed: 0,
  trained: "all", held: [null, null, null],
};
/** The three of the head: quantity, symbol, and place among the 19 pseudo-parameters. */
export const HEAD = [["alpha", "Dα₃", 2], ["beta", "Dβ₂", 4], ["gamma", "γ₃", 17]];
const CHOICES = {
  dim: { legend: "Dimension D", options: { 8: "8", 16: "16", 32: "32", 64: "64" } },
  batch: { legend: "Contexts in a batch, B", options: { 64: "64", 256: "256", 1024: "1,024" } },
  mask: { legend: "Mask", options: { strict: "strict", causal: "causal" } },
  asked: { legend: "The loss asks at", options: { one: "one query", every: "every position" } },
  optimiser: { legend: "Optimiser", options: { sgd: "SGD", adamw: "AdamW" } },
  trained: { legend: "What is trained", options: { all: "all 28D² weights", three: "α₃, β₂, γ₃ alone" } },
};
const RANGES = { pairs: [2, 32], rate: [1e-4, 100], seed: [0, 999999] };
const RATES = { sgd: 1, adamw: 0.01 }; // an optimiser's own scale
const FARTHEST = 20; // from zero, of what is held
const MOST = 2 ** 18; // numbers N D B in a batch: a page has to hold several times as many

const typed = (key, text) => (typeof FIGURE_4[key] === "number" ? Number(text) : text);

/** The settings that an address asks for; what it does not say, or says wrongly, is as in Figure 4. */
export function fromAddress(search) {
  const asked = new URLSearchParams(search), setting = structuredClone(FIGURE_4);
  const within = (text, [low, high]) => text && Number(text) >= low && Number(text) <= high;
  for (const [key, { options }] of Object.entries(CHOICES)) {
    const text = asked.get(key);
    if (Object.hasOwn(options, text)) setting[key] = typed(key, text);
  }
  setting.rate = RATES[setting.optimiser];
  for (const [key, range] of Object.entries(RANGES)) {
    const text = asked.get(key);
    if (within(text, range) && (key === "rate" || Number.isInteger(Number(text)))) setting[key] = Number(text);
  }
  HEAD.forEach(([name], i) => {
    if (within(asked.get(name), [-FARTHEST, FARTHEST])) setting.held[i] = Number(asked.get(name));
  });
  return setting;
}

/** An address with these settings, where they are not those of Figure 4, and a place on the page. */
export function toAddress(setting, address, place) {
  const url = new URL(address), defaults = { ...FIGURE_4, rate: RATES[setting.optimiser] };
  const put = (key, value, usual) => (value === usual ? url.searchParams.delete(key) : url.searchParams.set(key, value));
  for (const key of [...Object.keys(CHOICES), ...Object.keys(RANGES)]) put(key, setting[key], defaults[key]);
  HEAD.forEach(([name], i) => put(name, setting.held[i], null));
  url.hash = place;
  return url.href;
}

/** Why settings cannot be trained, in a sentence, or nothing. */
export function tooMuch({ pairs, dim, batch }) {
  return pairs * dim * batch > MOST ? `N · D · B can be up to ${number(MOST, 7)} in a page.` : "";
}

/** Settings in words, one for each that may differ between two runs. */
export function words(setting) {
  const { pairs, dim, batch, mask, asked, optimiser, rate, seed, trained, held } = setting;
  return [
    `N = ${pairs}`, `D = ${dim}`, `B = ${number(batch)}`, `${mask} mask`, CHOICES.asked.options[asked],
    `${CHOICES.optimiser.options[optimiser]} at rate ${number(rate)}`, `seed ${seed}`,
    `${CHOICES.trained.options[trained]} trained`,
    ...HEAD.map(([, symbol], i) => (held[i] === null ? `${symbol} free` : `${symbol} held at ${fixed(held[i])}`)),
  ];
}

/**
 * The controls; they write into `setting` and then call `changed`.
 * @returns {{head: Element[], rest: Element[]}} what is trained and held, and all else
 */
export function controls(setting, changed) {
  const chosen = (key, then) => choice({
    ...CHOICES[key], value: String(setting[key]),
    change: (value) => {
      setting[key] = typed(key, value);
      then?.(value);
      changed();
    },
  }).root;
  const field = (label, key) => {
    const id = freshId("field"), [min, max] = RANGES[key];
    const input = html("input", {
      id, type: "number", min, max, step: key === "rate" ? "any" : 1, value: setting[key],
      change: () => {
        const value = Math.min(Math.max(Number(input.value) || 0, min), max);
        setting[key] = key === "rate" ? value : Math.round(value);
        input.value = setting[key];
        changed();
      },
    });
    return { input, root: html("div", { class: "ex-field" }, html("label", { for: id }, label), input) };
  };
  const pairs = slider({
    label: "Pairs in the context, N", min: RANGES.pairs[0], max: RANGES.pairs[1], step: 1, value: setting.pairs, format: String,
    change: (value) => {
      setting.pairs = value;
      changed();
    },
  });
  const rate = field("Learning rate", "rate"), seed = field("Seed", "seed");
  const optimiser = chosen("optimiser", (value) => { rate.input.value = setting.rate = RATES[value]; });
  return {
    head: [chosen("trained"), holds(setting, changed)],
    rest: [html("div", { class: "ex-size-plain" }, pairs.root), ...["dim", "mask", "asked", "batch"].map((key) => chosen(key)),
      optimiser, rate.root, seed.root],
  };
}

/** A switch for each of the three that holds it at a value. */
function holds(setting, changed) {
  const parts = HEAD.map(([quantity, symbol], i) => {
    const [id, valueId] = [freshId("hold"), freshId("value")];
    const value = html("input", {
      id: valueId, type: "number", min: -FARTHEST, max: FARTHEST, step: "any", "aria-label": `Value of ${symbol}`,
      value: setting.held[i] ?? 0, disabled: setting.held[i] === null, change: put,
    });
    const input = html("input", { id, type: "checkbox", checked: setting.held[i] !== null, change: put });
    function put() {
      value.value = Math.min(Math.max(Number(value.value) || 0, -FARTHEST), FARTHEST);
      value.disabled = !input.checked;
      setting.held[i] = input.checked ? Number(value.value) : null;
      changed();
    }
    return html("span", { class: `ex-switch q-${quantity}` }, input, html("label", { for: id }, `${symbol} at`), value);
  });
  return html("fieldset", { class: "ex-choice ex-holds" }, html("legend", {}, "Hold, while all else learns"), html("div", {}, ...parts));
}
