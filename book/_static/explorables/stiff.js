/**
 * Stiff initial-value problems in a few unknowns: the linearly implicit Euler method,
 * extrapolated (Hairer and Wanner, Solving ODEs II, IV.9), with steps of adaptive size.
 */

/**
 * How well to integrate: a step of order `columns` takes columns (columns + 1) / 2 velocities.
 * @typedef {{columns: number, tolerance: number}} Precision
 */

/** Emergence times come out right to better than 1e-8. */
export const EXACT = { columns: 6, tolerance: 1e-8 };
/** For a curve on the screen. */
export const DRAWN = { columns: 3, tolerance: 1e-4 };

/** The Jacobian of `velocity` at y by one-sided differences; `now` is the velocity at y. */
function jacobian(velocity, y, now) {
  const columns = y.map((value, j) => {
    const shift = 1e-7 * Math.max(1, Math.abs(value));
    const moved = y.slice();
    moved[j] = value + shift;
    return velocity(moved).map((v, i) => (v - now[i]) / shift);
  });
  return y.map((_, i) => columns.map((column) => column[i]));
}

/** Factor 1 - h J by Gauss with row exchange; returns a function that solves for a right side. */
function factor(jacobianMatrix, h) {
  const n = jacobianMatrix.length;
  const rows = jacobianMatrix.map((row, i) => Float64Array.from(row, (value, j) => Number(i === j) - h * value));
  const order = rows.map((_, i) => i);
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[best][k])) best = i;
    [rows[k], rows[best]] = [rows[best], rows[k]];
    [order[k], order[best]] = [order[best], order[k]];
    const pivot = rows[k];
    for (let i = k + 1; i < n; i++) {
      const row = rows[i];
      const part = row[k] /= pivot[k];
      for (let j = k + 1; j < n; j++) row[j] -= part * pivot[j];
    }
  }
  return (right) => {
    const x = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const row = rows[i];
      let value = right[order[i]];
      for (let j = 0; j < i; j++) value -= row[j] * x[j];
      x[i] = value;
    }
    for (let i = n - 1; i >= 0; i--) {
      const row = rows[i];
      let value = x[i];
      for (let j = i + 1; j < n; j++) value -= row[j] * x[j];
      x[i] = value / row[i];
    }
    return x;
  };
}

/**
 * One step of size h from a node.
 * @returns {{y: number[], error: number}} the new state, and its error, relative or to 0.01
 */
function step(velocity, node, h, { columns }) {
  let row = [];
  for (let k = 1; k <= columns; k++) {
    const solve = factor(node.jacobian, h / k);
    let state = node.y;
    for (let i = 0; i < k; i++) {
      const rate = i === 0 ? node.v : velocity(state);
      const change = solve(rate.map((v) => (h / k) * v));
      state = state.map((value, j) => value + change[j]);
    }
    const coarser = row;
    row = [state];
    for (let j = 1; j < k; j++) {
      const ratio = k / (k - j) - 1;
      row.push(row[j - 1].map((value, i) => value + (value - coarser[j - 1][i]) / ratio));
    }
  }
  const [lower, y] = row.slice(-2);
  const errors = y.map((value, i) => {
    const size = Math.max(Math.abs(value), Math.abs(node.y[i]));
    return Math.abs(value - lower[i]) / (0.01 + size);
  });
  return { y, error: Math.max(0, ...errors) };
}

function makeNode(velocity, t, y) {
  const v = velocity(y);
  return { t, y, v, jacobian: jacobian(velocity, y, v) };
}

/**
 * Integrate dy/dt = velocity(y) from a state at a time until `done(node)` or t = end.
 * @returns {{t: number, y: number[], v: number[], jacobian: number[][]}[]} one node a step
 */
export function integrate(velocity, { t, y }, { end, done, firstStep, precision = EXACT }) {
  const { columns, tolerance } = precision;
  const scale = (error) => 0.9 * (error / tolerance) ** (-1 / columns);
  let h = Math.min(firstStep, end - t);
  let node = makeNode(velocity, t, y);
  const nodes = [node];
  while (node.t < end && !done(node)) {
    let next = step(velocity, node, h, precision);
    while (!(next.error <= tolerance)) {
      h *= Math.max(0.1, scale(next.error) || 0.1);
      if (node.t + h === node.t) throw new Error(`the step size vanished at t = ${node.t}`);
      next = step(velocity, node, h, precision);
    }
    node = makeNode(velocity, node.t + h, next.y);
    nodes.push(node);
    h = Math.min(end - node.t, h * Math.min(4, scale(next.error)));
  }
  return nodes;
}

/** The state a time `wait` after a node, by one step, for a wait no longer than the node's own. */
export function advance(velocity, node, wait, precision = EXACT) {
  return wait === 0 ? node.y : step(velocity, node, wait, precision).y;
}
