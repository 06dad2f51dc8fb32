/** The reduced model with a loss at every position: the mean over prefixes, each asked for its last pair. */

import { follow } from "./flow.js";
import { lossLast } from "./reduced.js";

const LEVEL = 0.5; // of Definition 1, and of the loss

/**
 * Loss and gradient of one prefix under the causal mask: the label, the item and the query itself
 * hold the queried item, and the last two write the same vector.
 * @returns {number[]} [L, dL/dalpha, dL/dbeta, dL/dgamma]
 */
export function lossCausal([alpha, beta, gamma], nPairs) {
  const blank = 2 * nPairs - 2, raised = Math.exp(alpha);
  const own = raised / (blank + 1 + raised), item = 1 / (blank + 1), query = 2 / (blank + 3);
  const [w, u, v] = [own, item, query].map((share) => Math.exp(beta * share));
  const norm = w + u + v + blank, answer = w / norm, same = (u + v) / norm;
  const square = answer ** 2 + same ** 2 + blank / norm ** 2;
  const slope = (byAnswer, bySame) => { // from the derivatives of w and of u + v, over w and the norm
    const byNorm = answer * byAnswer + bySame;
    const bySquare = answer ** 2 * byAnswer + same * bySame - square * byNorm;
    return 2 * gamma * (gamma * bySquare - answer * (byAnswer - byNorm));
  };
  return [
    gamma ** 2 * square - 2 * gamma * answer + 1,
    slope(beta * own * (1 - own), 0),
    slope(own, (item * u + query * v) / norm),
    2 * gamma * square - 2 * answer,
  ];
}

/**
 * Loss and gradient of the mean over prefixes of 1 to N pairs, in a time of order N.
 * @returns {number[]} [L, dL/dalpha, dL/dbeta, dL/dgamma]
 */
export function lossEvery(y, nPairs, lossOfPrefix = lossLast) {
  const sum = [0, 0, 0, 0];
  for (let n = 1; n <= nPairs; n++) {
    const one = lossOfPrefix(y, n);
    for (let i = 0; i < 4; i++) sum[i] += one[i];
  }
  return sum.map((total) => total / nPairs);
}

/**
 * The gradient flow from zero with a loss at every position, as `gradientFlow` returns its own.
 * @param {number} nPairs N, the item-label pairs in the context
 * @param {function} lossOfPrefix lossLast for the strict mask, lossCausal for the causal one
 */
export function everyPosition(nPairs, lossOfPrefix = lossLast) {
  if (!Number.isInteger(nPairs) || nPairs < 2) throw new RangeError(`N must be at least 2, got ${nPairs}`);
  const start = [0, 0, 0], thresholds = [LEVEL, LEVEL, LEVEL];
  const loss = (y) => lossEvery(y, nPairs, lossOfPrefix)[0];
  const velocity = (y) => lossEvery(y, nPairs, lossOfPrefix).slice(1).map((slope) => -slope);
  const heights = [...thresholds.map((level, i) => (y) => y[i] - level), (y) => LEVEL - loss(y)];
  const setting = { start, heights, latest: 30 * nPairs + 100, firstStep: 0.001 * nPairs };
  const { crossings: [alpha, beta, gamma, collapse], ...path } = follow(velocity, setting);
  const times = { alpha, beta, gamma, icl: Math.max(alpha, beta, gamma), collapse };
  return { nPairs, query: "last", start, thresholds, loss, ...path, times };
}

/** Emergence times with a loss at every position, as in Python. */
export function everyTimes(nPairs, lossOfPrefix = lossLast) {
  return everyPosition(nPairs, lossOfPrefix).times;
}
