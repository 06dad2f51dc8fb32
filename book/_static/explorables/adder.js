/**
 * The network of chapters.companions.clustering.training in the page: two-dimensional embeddings,
 * their sum, one hidden layer of ReLU units, a softmax over the residues; full-batch AdamW.
 */

import { markers, places } from "./particles.js";
import { stream } from "./random.js";

const SCALE = 0.3; // of the first embeddings
const HIDDEN = 64;

/** @typedef {{embeddings: number[][], first: number[][], firstBias: number[], second: number[][], secondBias: number[]}} Weights */

/** Weights as the book's Python draws them (uniform layers, biases zero), from a stream of its own. */
export function startWeights(n, seed, hidden = HIDDEN) {
  const { uniform, normal } = stream(seed);
  const table = (rows, columns, draw) => Array.from({ length: rows }, () => Array.from({ length: columns }, draw));
  const even = (fan) => () => (2 * uniform() - 1) / Math.sqrt(fan);
  return {
    embeddings: table(n, 2, () => SCALE * normal()),
    first: table(2, hidden, even(2)), firstBias: new Array(hidden).fill(0),
    second: table(hidden, n, even(hidden)), secondBias: new Array(n).fill(0),
  };
}

/** Which markers are trained: all but this share, drawn at random. */
export function split(count, share, seed) {
  const { uniform } = stream(seed + 1_000_003);
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(uniform() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  const trained = new Array(count).fill(true);
  for (const i of order.slice(0, Math.round(share * count))) trained[i] = false;
  return trained;
}

/**
 * Mean loss of the trained markers, its gradient, and which markers are right.
 * @param {Weights} weights
 * @param {boolean[]} trained
 * @returns {{loss: number, right: boolean[], gradient: Weights}}
 */
export function gradient(weights, trained) {
  const n = weights.embeddings.length, hidden = weights.firstBias.length;
  const pairs = markers(n), marks = places(weights.embeddings, pairs);
  const zero = (like) => like.map((row) => (Array.isArray(row) ? row.map(() => 0) : 0));
  const slope = Object.fromEntries(Object.entries(weights).map(([name, part]) => [name, zero(part)]));
  const share = 1 / Math.max(trained.filter(Boolean).length, 1);
  const right = [];
  let loss = 0;
  const unit = new Float64Array(hidden), back = new Float64Array(hidden), out = new Float64Array(n);
  pairs.forEach(([a, b, total], i) => {
    const [x, y] = marks[i];
    out.set(weights.secondBias);
    for (let k = 0; k < hidden; k++) {
      unit[k] = Math.max(x * weights.first[0][k] + y * weights.first[1][k] + weights.firstBias[k], 0);
      if (unit[k] === 0) continue;
      const row = weights.second[k];
      for (let c = 0; c < n; c++) out[c] += unit[k] * row[c];
    }
    const top = Math.max(...out);
    right.push(out[total] === top);
    if (!trained[i]) return;
    let sum = 0;
    for (let c = 0; c < n; c++) sum += Math.exp(out[c] - top);
    loss += share * (Math.log(sum) + top - out[total]);
    for (let c = 0; c < n; c++) out[c] = share * (Math.exp(out[c] - top) / sum - (c === total ? 1 : 0));
    let [dx, dy] = [0, 0];
    for (let c = 0; c < n; c++) slope.secondBias[c] += out[c];
    for (let k = 0; k < hidden; k++) {
      if (unit[k] === 0) continue;
      back[k] = 0;
      const row = weights.second[k], change = slope.second[k];
      for (let c = 0; c < n; c++) {
        back[k] += out[c] * row[c];
        change[c] += unit[k] * out[c];
      }
      slope.first[0][k] += x * back[k];
      slope.first[1][k] += y * back[k];
      slope.firstBias[k] += back[k];
      dx += back[k] * weights.first[0][k];
      dy += back[k] * weights.first[1][k];
    }
    for (const member of [a, b]) {
      slope.embeddings[member][0] += dx;
      slope.embeddings[member][1] += dy;
    }
  });
  return { loss, right, gradient: slope };
}

/** A training: `step` is one epoch of AdamW with the rate and the weight decay of that moment. */
export function training(weights, trained) {
  const state = { weights, trained, points: weights.embeddings, steps: 0, loss: NaN, accuracy: NaN };
  const rows = Object.values(weights).flatMap((part) => (Array.isArray(part[0]) ? part : [part]));
  const moments = rows.map((row) => [row.map(() => 0), row.map(() => 0)]);
  state.step = ({ rate, decay }) => {
    const found = gradient(weights, trained);
    state.loss = found.loss;
    const held = found.right.filter((_, i) => !trained[i]);
    state.accuracy = held.length ? held.filter(Boolean).length / held.length : NaN;
    state.steps += 1;
    const [kept1, kept2] = [1 - 0.9 ** state.steps, 1 - 0.999 ** state.steps];
    const slopes = Object.values(found.gradient).flatMap((part) => (Array.isArray(part[0]) ? part : [part]));
    rows.forEach((row, r) => {
      const [first, second] = moments[r];
      for (let i = 0; i < row.length; i++) {
        const slope = slopes[r][i];
        row[i] *= 1 - rate * decay;
        first[i] += 0.1 * (slope - first[i]);
        second[i] += 0.001 * (slope * slope - second[i]);
        row[i] -= (rate * (first[i] / kept1)) / (Math.sqrt(second[i] / kept2) + 1e-8);
      }
    });
  };
  return state;
}
