/**
 * Particles in the plane under clustering and alignment, as in chapters.companions.clustering.
 *
 * Particle a stands for a residue mod n; every unordered pair {a, b} has a marker at E_a + E_b,
 * and markers act on each other: those of the same sum a + b mod n attract, others repel.
 */

import { stream } from "./random.js";

/** @typedef {[number, number]} Point */

/** The start at which all that the chapter proposes to try can be seen. */
export const SEED = 2;

const TINY = 1e-12; // of |s|^2: at the centre a marker has no angle
const RADIUS = 0.15, GRID = 0.3, CIRCLE = 0.8; // of the scores

/** The unordered pairs of n residues: first, second and the sum mod n. */
export function markers(n) {
  const pairs = [];
  for (let a = 0; a < n; a++) for (let b = a; b < n; b++) pairs.push([a, b, (a + b) % n]);
  return pairs;
}

/** Where the markers are. */
export function places(points, pairs) {
  return pairs.map(([a, b]) => [points[a][0] + points[b][0], points[a][1] + points[b][1]]);
}

/** The points centred and with unit root mean square, and the scale they had. */
export function normalise(points) {
  const n = points.length;
  const centre = [0, 1].map((k) => points.reduce((sum, p) => sum + p[k], 0) / n);
  const moved = points.map(([x, y]) => [x - centre[0], y - centre[1]]);
  const scale = Math.sqrt(moved.reduce((sum, [x, y]) => sum + x * x + y * y, 0) / n);
  return { points: moved.map(([x, y]) => [x / scale, y / scale]), scale };
}

/** What a pair of markers counts in a mean over pairs of the same sum, and of different sums. */
function shares(pairs) {
  let same = 0;
  for (let i = 0; i < pairs.length; i++) for (let j = 0; j < i; j++) if (pairs[i][2] === pairs[j][2]) same++;
  const all = (pairs.length * (pairs.length - 1)) / 2;
  return { same: -1 / same, other: 1 / (all - same) };
}

/**
 * The energy U and the forces -grad U on the particles, pair by pair.
 * @param {Point[]} embeddings
 * @param {{mix: number, width: number, core: number}} setting share of alignment, reach of
 *   clustering, and how near the centre a marker has no clear direction
 * @returns {{energy: number, forces: Point[]}}
 */
export function forces(embeddings, { mix, width, core }) {
  const n = embeddings.length;
  const pairs = markers(n), share = shares(pairs);
  const { points, scale } = normalise(embeddings);
  const marks = places(points, pairs);
  const squares = marks.map(([x, y]) => Math.max(x * x + y * y + core * core, TINY));
  const doubled = marks.map(([x, y], i) => [(x * x - y * y) / squares[i], (2 * x * y) / squares[i]]);
  const pull = marks.map(() => [0, 0]);
  let energy = 0;
  const align = (i, j, product, weight) => {
    const [x, y] = marks[i], [c, d] = doubled[j];
    const strength = (2 * mix * weight) / squares[i];
    pull[i][0] += strength * (product * x - x * c - y * d);
    pull[i][1] += strength * (product * y - x * d + y * c);
  };
  for (let i = 0; i < marks.length; i++) {
    for (let j = 0; j < i; j++) {
      const weight = pairs[i][2] === pairs[j][2] ? share.same : share.other;
      const [dx, dy] = [marks[i][0] - marks[j][0], marks[i][1] - marks[j][1]];
      const near = Math.exp(-(dx * dx + dy * dy) / (2 * width * width));
      const product = doubled[i][0] * doubled[j][0] + doubled[i][1] * doubled[j][1];
      energy += weight * ((1 - mix) * near + mix * product);
      const along = ((1 - mix) * weight * near) / (width * width);
      pull[i][0] += along * dx;
      pull[i][1] += along * dy;
      pull[j][0] -= along * dx;
      pull[j][1] -= along * dy;
      align(i, j, product, weight);
      align(j, i, product, weight);
    }
  }
  const total = points.map(() => [0, 0]);
  pairs.forEach(([a, b], i) => {
    for (const k of [0, 1]) {
      total[a][k] += pull[i][k];
      total[b][k] += pull[i][k];
    }
  });
  return { energy, forces: shapeOnly(total, points).map(([x, y]) => [x / scale, y / scale]) };
}

/** What is left of vectors without common motion and without growth. */
function shapeOnly(vectors, points) {
  const n = points.length;
  const growth = vectors.reduce((sum, [x, y], a) => sum + x * points[a][0] + y * points[a][1], 0) / n;
  const left = vectors.map(([x, y], a) => [x - growth * points[a][0], y - growth * points[a][1]]);
  const mean = [0, 1].map((k) => left.reduce((sum, v) => sum + v[k], 0) / n);
  return left.map(([x, y]) => [x - mean[0], y - mean[1]]);
}

/** A simulation: `step` moves its particles by Adam, with the settings of that moment. */
export function simulation(start) {
  const state = { points: start.map((p) => [...p]), steps: 0, energy: NaN };
  const first = start.map(() => [0, 0]), second = start.map(() => [0, 0]);
  state.step = (setting) => {
    const found = forces(state.points, setting);
    state.energy = found.energy;
    state.steps += 1;
    const [kept1, kept2] = [1 - 0.9 ** state.steps, 1 - 0.999 ** state.steps];
    state.points.forEach((point, a) => [0, 1].forEach((k) => {
      const slope = -found.forces[a][k];
      first[a][k] += 0.1 * (slope - first[a][k]);
      second[a][k] += 0.001 * (slope * slope - second[a][k]);
      point[k] -= (setting.rate * (first[a][k] / kept1)) / (Math.sqrt(second[a][k] / kept2) + 1e-8);
    }));
  };
  return state;
}

/** Standard normal places. */
export function start(n, seed) {
  const { both } = stream(seed);
  return Array.from({ length: n }, () => both());
}

/**
 * Circle score: the share of variance at the best frequency. Grid score: the share of same-sum
 * marker pairs that nearly coincide.
 * @returns {{circle: number, grid: number, frequency: number, isCircle: boolean, isGrid: boolean}}
 */
export function scores(embeddings) {
  const n = embeddings.length;
  const { points } = normalise(embeddings);
  let circle = 0, frequency = 0;
  for (let k = 1; k <= n / 2; k++) {
    let power = 0;
    for (const axis of [0, 1]) {
      let re = 0, im = 0;
      points.forEach((p, a) => {
        re += p[axis] * Math.cos((2 * Math.PI * k * a) / n);
        im += p[axis] * Math.sin((2 * Math.PI * k * a) / n);
      });
      power += re * re + im * im;
    }
    const share = ((2 * k === n ? 1 : 2) * power) / (n * n); // all variance is 1
    if (share > circle) [circle, frequency] = [share, k];
  }
  const pairs = markers(n), marks = places(points, pairs);
  let same = 0, close = 0;
  pairs.forEach((pair, i) => {
    for (let j = 0; j < i; j++) {
      if (pairs[j][2] !== pair[2]) continue;
      same++;
      if (Math.hypot(marks[i][0] - marks[j][0], marks[i][1] - marks[j][1]) < RADIUS) close++;
    }
  });
  const grid = close / same;
  return { circle, grid, frequency, isCircle: circle > CIRCLE, isGrid: grid > GRID };
}
