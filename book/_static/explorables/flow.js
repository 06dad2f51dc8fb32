/**
 * The gradient flow of App. B.5, its emergence times, and their leading order in N.
 *
 * Time t is flow time, at unit learning rate. States are [alpha, beta, gamma].
 */

import { lossOf } from "./reduced.js";
import { advance, DRAWN, integrate } from "./stiff.js";

const MARGIN = 1.12; // the curves go on a little after the last event

/**
 * Integrate the flow until every threshold is reached and the loss is <= 1/2, and a little on.
 * @param {number} nPairs N, the item-label pairs in the context
 * @param {object} [options]
 * @param {"last"|"uniform"} [options.query] which pair the query asks for
 * @param {number[]} [options.start] alpha, beta, gamma at t = 0
 * @param {number[]} [options.thresholds] of alpha, beta, gamma (Definition 1: 1/2 each)
 */
export function gradientFlow(nPairs, options = {}) {
  const { query = "last", start = [0, 0, 0], thresholds = [0.5, 0.5, 0.5] } = options;
  if (!Number.isInteger(nPairs) || nPairs < 2) throw new RangeError(`N must be at least 2, got ${nPairs}`);
  const rule = lossOf(query);
  const loss = (y) => rule(y, nPairs)[0];
  const velocity = (y) => {
    const [, alpha, beta, gamma] = rule(y, nPairs);
    return [-alpha, -beta, -gamma];
  };
  const heights = [
    ...thresholds.map((level, i) => (y) => y[i] - level),
    (y) => 0.5 - loss(y),
  ];
  // As in Python: thresholds above 1/2 take exponentially longer.
  const latest = 10 * nPairs ** 2 * Math.exp(2 * Math.max(0.5, ...thresholds, ...start.map(Math.abs))) + 10;
  const { crossings, ...path } = follow(velocity, { start, heights, latest, firstStep: 0.01 * nPairs });
  return { nPairs, query, start, thresholds, loss, ...path, times: named(crossings) };
}

/**
 * Go along a flow until all `heights` that can be are reached, and a little on.
 * @param {(y: number[]) => number[]} velocity
 * @param {object} setting
 * @param {number[]} setting.start the state at t = 0
 * @param {((y: number[]) => number)[]} setting.heights of events, reached where they are at least 0
 * @param {number} setting.latest when to give up
 * @param {number} setting.firstStep well within the fastest time of the flow
 * @returns its nodes, its velocity, its end, and when each height is reached first, or Infinity
 */
export function follow(velocity, { start, heights, latest, firstStep }) {
  const reached = ({ y }) => heights.every((height) => height(y) >= 0);
  const nodes = integrate(velocity, { t: 0, y: start }, { end: latest, done: reached, firstStep });
  const last = nodes.at(-1);
  // Nothing is timed after this, and rounding of gamma - 1 forbids more digits at large N.
  const end = MARGIN * last.t + firstStep;
  const tail = integrate(velocity, last, { end, done: () => false, firstStep, precision: DRAWN });
  const crossings = heights.map((height) => firstCrossing(velocity, nodes, height));
  return { nodes: [...nodes, ...tail.slice(1)], velocity, end, crossings };
}

/** Emergence times of Definitions 1 and 3: {alpha, beta, gamma, icl, collapse}, as in Python. */
export function emergenceTimes(nPairs, options) {
  return gradientFlow(nPairs, options).times;
}

/** The state of a flow at time t, exact. */
export function stateAt(flow, t) {
  const node = nodeBefore(flow, t);
  return advance(flow.velocity, node, t - node.t);
}

/** Points {t, y, loss} of a flow at ascending times, for drawing. */
export function sample(flow, times) {
  return times.map((t) => {
    const node = nodeBefore(flow, t);
    const y = advance(flow.velocity, node, t - node.t, DRAWN);
    return { t, y, loss: flow.loss(y) };
  });
}

/**
 * The emergence times to leading order as N grows, for thresholds of gamma below 1.
 *
 * Once gamma is near 1, alpha' = beta e^alpha / 2N^2 and beta' = e^alpha / 2N^2. Hence alpha =
 * beta^2 / 2 + c, and beta takes the time 2 N^2 e^-c times the integral of e^(-x^2/2). For a
 * uniform query both go faster by log N, while alpha and beta are bounded: the collapse is open.
 */
export function leadingOrder(nPairs, options = {}) {
  const { query = "last", start = [0, 0, 0], thresholds = [0.5, 0.5, 0.5] } = options;
  const [alpha, beta, gamma] = start;
  const [levelAlpha, levelBeta, levelGamma] = thresholds;
  const c = alpha - beta ** 2 / 2;
  const speed = query === "uniform" ? Math.log(nPairs) : 1;
  const until = (x) => ((2 * nPairs ** 2 * Math.exp(-c)) / speed) * gaussian(beta, x);
  return named([
    alpha >= levelAlpha ? 0 : until(Math.sqrt(2 * (levelAlpha - c))),
    beta >= levelBeta ? 0 : until(levelBeta),
    gamma >= levelGamma ? 0 : nPairs * Math.log((1 - gamma) / (1 - levelGamma)),
    query === "uniform" ? NaN : until(Infinity),
  ]);
}

/** The integral of e^(-x^2/2) from a to b by Simpson's rule; nothing is left beyond 10. */
export function gaussian(a, b) {
  const from = Math.min(a, 10);
  const panels = 1024;
  const width = (Math.min(b, 10) - from) / panels;
  let sum = 0;
  for (let i = 0; i <= panels; i++) {
    const weight = i === 0 || i === panels ? 1 : 2 + 2 * (i % 2);
    sum += weight * Math.exp(-((from + i * width) ** 2) / 2);
  }
  return (sum * width) / 3;
}

function named([alpha, beta, gamma, collapse]) {
  return { alpha, beta, gamma, icl: Math.max(alpha, beta, gamma), collapse };
}

function nodeBefore({ nodes }, t) {
  let low = 0, high = nodes.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (nodes[middle].t <= t) low = middle;
    else high = middle - 1;
  }
  return nodes[low];
}

/** When `height` first is at least 0, by the Illinois method within the step where it crosses. */
function firstCrossing(velocity, nodes, height) {
  const after = nodes.findIndex(({ y }) => height(y) >= 0);
  if (after <= 0) return after === 0 ? 0 : Infinity;
  const before = nodes[after - 1];
  let low = 0, high = nodes[after].t - before.t;
  let atLow = height(before.y), atHigh = height(nodes[after].y);
  for (let i = 0, side = 0; i < 60 && high - low > 1e-13 * nodes[after].t; i++) {
    const wait = (low * atHigh - high * atLow) / (atHigh - atLow);
    const value = height(advance(velocity, before, wait));
    if (value === 0) return before.t + wait;
    if (value > 0) {
      [high, atHigh] = [wait, value];
      if (side > 0) atLow /= 2;
      side = 1;
    } else {
      [low, atLow] = [wait, value];
      if (side < 0) atHigh /= 2;
      side = -1;
    }
  }
  return before.t + high;
}
