/** The reduced model with a loss at every position: the mean over prefixes, each asked for its last pair. */

import { follow } from "./flow.js";
import { lossLast } from "./reduced.js";

const LEVEL = 0.5; // of Definition 1, and of the loss

/**
 * Loss and gradient of the mean over prefixes of 1 to N pairs, in a time of order N.
 * @returns {number[]} [L, dL/dalpha, dL/dbeta, dL/dgamma]
 */
export function lossEvery(y, nPairs) {
  const sum = [0, 0, 0, 0];
  for (let n = 1; n <= nPairs; n++) {
    const one = lossLast(y, n);
    for (let i = 0; i < 4; i++) sum[i] += one[i];
  }
  return sum.map((total) => total / nPairs);
}

/**
 * The gradient flow from zero with a loss at every position, as `gradientFlow` returns its own.
 * @param {number} nPairs N, the item-label pairs in the context
 */
export function everyPosition(nPairs) {
  if (!Number.isInteger(nPairs) || nPairs < 2) throw new RangeError(`N must be at least 2, got ${nPairs}`);
  const start = [0, 0, 0], thresholds = [LEVEL, LEVEL, LEVEL];
  const loss = (y) => lossEvery(y, nPairs)[0];
  const velocity = (y) => lossEvery(y, nPairs).slice(1).map((slope) => -slope);
  const heights = [...thresholds.map((level, i) => (y) => y[i] - level), (y) => LEVEL - loss(y)];
  const setting = { start, heights, latest: 30 * nPairs + 100, firstStep: 0.001 * nPairs };
  const { crossings: [alpha, beta, gamma, collapse], ...path } = follow(velocity, setting);
  const times = { alpha, beta, gamma, icl: Math.max(alpha, beta, gamma), collapse };
  return { nPairs, query: "last", start, thresholds, loss, ...path, times };
}

/** Emergence times with a loss at every position, as in Python. */
export function everyTimes(nPairs) {
  return everyPosition(nPairs).times;
}
