/**
 * The gradient flow of the 19 pseudo-parameters from zero, of which any may be frozen.
 *
 * States are the values of those that move; time t is flow time, at unit learning rate.
 */

import { follow } from "./flow.js";
import { chancesOf, landscape, NAMES } from "./full.js";

/** The three of the paper's §6. */
export const HEAD = { alpha: "alpha_3", beta: "beta_2", gamma: "gamma_3" };
/** Positions are met by their partner only, and the query has none: the loss never knows of these. */
export const RESTING = ["alpha_2", "beta_3", "beta_4", "beta_5", "beta_6"];
/** The same term of the loss: from zero they move alike, if both move. */
export const TWINS = { beta_7: "beta_9", beta_8: "beta_11" };
/** When to give up, in units of N^2. */
export const LATEST = 10;

/**
 * Integrate until alpha_3, beta_2 and gamma_3, those not frozen, and the loss are at 1/2, and a
 * little on.
 * @param {number} nPairs N, the item-label pairs in the context
 * @param {object} [options]
 * @param {"last"|"uniform"} [options.query] which pair the query asks for
 * @param {string[]} [options.frozen] names of parameters that stay at zero
 * @returns the path as of `follow`; names, of those that move in the order of its states; times,
 *   Infinity for never
 */
export function fullFlow(nPairs, { query = "last", frozen = [] } = {}) {
  if (!Number.isInteger(nPairs) || nPairs < 2) throw new RangeError(`N must be at least 2, got ${nPairs}`);
  const names = NAMES.filter((name) => !RESTING.includes(name) && !frozen.includes(name));
  const places = names.map((name) => NAMES.indexOf(name));
  const at = landscape(chancesOf(query, nPairs));
  const all = (y) => {
    const point = new Array(NAMES.length).fill(0);
    places.forEach((place, i) => { point[place] = y[i]; });
    return at(point);
  };
  const velocity = (y) => {
    const { gradient } = all(y);
    return places.map((place) => -gradient[place]);
  };
  const loss = (y) => all(y).loss;
  const events = Object.entries(HEAD)
    .filter(([, name]) => names.includes(name))
    .map(([event, name]) => [event, (y) => y[names.indexOf(name)] - 0.5]);
  events.push(["collapse", (y) => 0.5 - loss(y)]);
  const { crossings, ...path } = follow(velocity, {
    start: places.map(() => 0), heights: events.map(([, height]) => height),
    latest: LATEST * nPairs ** 2, firstStep: 0.01,
  });
  const times = { alpha: Infinity, beta: Infinity, gamma: Infinity };
  events.forEach(([event], i) => { times[event] = crossings[i]; });
  return { nPairs, query, names, loss, ...path, times };
}
