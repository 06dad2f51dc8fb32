/**
 * The disentangled transformer of Eq. 1 with alpha_3, beta_2, gamma_3 alone, on orthonormal inputs.
 *
 * Positions 0 to 2N: item, label, item, label, ..., query. Since inputs are orthonormal, vectors
 * need not be written out: what counts is which symbol, and which place, a position holds.
 */

import { number } from "./dom.js";

/**
 * @typedef {object} Circuit
 * @property {number[][]} layer1 attention of layer 1, row attends to column; strict mask
 * @property {number[][]} layer2 attention of layer 2
 * @property {number[]} output the answer's part along each of the 2N symbols
 * @property {number} loss squared distance of the answer from the query's label
 */

/**
 * Attention maps, answer and loss.
 * @param {{alpha: number, beta: number, gamma: number}} parameters
 * @param {number} nPairs N
 * @param {number} query the pair that is asked for, from 0
 * @returns {Circuit}
 */
export function circuit({ alpha, beta, gamma }, nPairs, query) {
  if (!(query >= 0 && query < nPairs)) throw new RangeError(`the query must be in 0 to ${nPairs - 1}, got ${query}`);
  const last = 2 * nPairs;
  // Position j < 2N holds symbol j; the query holds an item again, and has no place.
  const symbolAt = (position) => (position === last ? 2 * query : position);
  const positions = Array.from({ length: last + 1 }, (_, i) => i);
  // M swaps the place of an item with that of its label, so a position scores its partner.
  const partner = (position) => (position === last ? null : position ^ 1);
  const layer1 = positions.map((row) =>
    softmax(positions.map((column) => (column === partner(row) ? alpha : 0)), row),
  );
  const retrieved = (position, symbol) =>
    layer1[position].reduce((sum, weight, i) => sum + (symbolAt(i) === symbol ? weight : 0), 0);
  const layer2 = positions.map((row) =>
    softmax(positions.map((column) => beta * retrieved(column, symbolAt(row))), row),
  );
  const output = positions.slice(0, last).map((position) => gamma * layer2[last][position]);
  const target = 2 * query + 1;
  const loss = output.reduce((sum, value, i) => sum + (value - (i === target ? 1 : 0)) ** 2, 0);
  return { layer1, layer2, output, loss };
}

/** Softmax over the first `visible` scores; the others, and all where none is visible, weigh 0. */
function softmax(scores, visible) {
  const top = Math.max(...scores.slice(0, visible));
  const powers = scores.map((score, i) => (i < visible ? Math.exp(score - top) : 0));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => (visible === 0 ? 0 : power / total));
}

/** What the query finds, in words; `symbols` are the 2N symbols of the context. */
export function describe({ layer2, output, loss }, symbols, query) {
  const attention = layer2[symbols.length];
  const best = Math.max(...attention.slice(0, -1));
  const target = 2 * query + 1;
  const item = symbols[2 * query], label = symbols[target];
  const answer = `The answer is ${output[target].toFixed(2)} times ${label}, with a loss of ${number(loss, 2)}.`;
  if (best - Math.min(...attention.slice(0, -1)) < 1e-9) {
    return `The query ${item} looks everywhere alike, at ${label} with weight ${attention[target].toFixed(2)}. ${answer}`;
  }
  if (attention[target] < best - 1e-9) {
    const found = symbols[attention.indexOf(best)];
    return `The query ${item} attends to ${found} most, with weight ${best.toFixed(2)}, not at its label ${label}. ${answer}`;
  }
  return `The query ${item} finds ${label} with weight ${best.toFixed(2)}. ${answer}`;
}
