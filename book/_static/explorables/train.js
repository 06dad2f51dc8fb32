/**
 * Training of the disentangled transformer (Eq. 1) in the page: all 28 D^2 weights, from zero.
 *
 * Matrices are stored by rows in flat arrays. There are N pairs, and a context of L = 2N rows of
 * width 2D with M queries, each of which sees the first rows only: one query of all rows (section 4),
 * or one of every prefix. Rows of the context see no query, so all queries share what layer 1 makes.
 */

/** What trains; a worker gets this function as text. */
export function engine(stream) {
  "use strict";
  /** out[i, j] += sum over k of a[i, k] b[k, j]; any strides, so either factor may be transposed. */
  function multiply(out, outAt, outRow, a, aAt, aRow, aCol, b, bAt, bRow, bCol, rows, inner, cols) {
    const evenRows = rows & ~1, fourCols = cols & ~3, b2 = 2 * bCol, b3 = 3 * bCol;
    for (let j = 0; j < fourCols; j += 4) {
      for (let i = 0; i < evenRows; i += 2) { // a 2 x 4 tile in registers
        let s0 = 0, s1 = 0, s2 = 0, s3 = 0, t0 = 0, t1 = 0, t2 = 0, t3 = 0;
        for (let k = 0, p = aAt + i * aRow, q = bAt + j * bCol; k < inner; k++, p += aCol, q += bRow) {
          const x = a[p], y = a[p + aRow], u0 = b[q], u1 = b[q + bCol], u2 = b[q + b2], u3 = b[q + b3];
          s0 += x * u0; s1 += x * u1; s2 += x * u2; s3 += x * u3;
          t0 += y * u0; t1 += y * u1; t2 += y * u2; t3 += y * u3;
        }
        const z = outAt + i * outRow + j, y = z + outRow;
        out[z] += s0; out[z + 1] += s1; out[z + 2] += s2; out[z + 3] += s3;
        out[y] += t0; out[y + 1] += t1; out[y + 2] += t2; out[y + 3] += t3;
      }
    }
    for (let i = 0; i < rows; i++) { // what the tiles leave over
      for (let j = i < evenRows ? fourCols : 0; j < cols; j++) {
        out[outAt + i * outRow + j] += dot(a, aAt + i * aRow, b, bAt + j * bCol, inner, aCol, bRow);
      }
    }
  }

  function dot(a, at, b, from, n, aStep = 1, bStep = 1) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += a[at + i * aStep] * b[from + i * bStep];
    return sum;
  }
  function add(out, at, factor, a, from, n) {
    for (let i = 0; i < n; i++) out[at + i] += factor * a[from + i];
  }
  /** Softmax of n scores in place, with one more score `own` apart; returns the share of that. */
  function softmax(scores, at, n, own = -Infinity) {
    let top = own, sum = 0;
    for (let i = at; i < at + n; i++) if (scores[i] > top) top = scores[i];
    for (let i = at; i < at + n; i++) sum += scores[i] = Math.exp(scores[i] - top);
    const rest = Math.exp(own - top), scale = 1 / (sum + rest);
    for (let i = at; i < at + n; i++) scores[i] *= scale;
    return rest * scale;
  }
  /** Softmax of the first `seen` scores of a row, if any, and zeros up to its end. */
  function masked(scores, at, seen, end, own) {
    const share = seen ? softmax(scores, at, seen, own) : 0;
    scores.fill(0, at + seen, at + end);
    return share;
  }

  // The blocks of the 19 pseudo-parameters (Eqs. 6 to 8), by row and column, m for the matrix M.
  const BLOCKS = [
    [2, "00 11 11m"], [4, "00 02 11 11m 13 13m 20 22 31 31m 33 33m"], [1, "00 20 40 60"],
  ].flatMap(([width, blocks], layer) => blocks.split(" ").map((block) => ({ layer, width, block })));
  const HEAD = [2, 4, 17]; // alpha_3, beta_2 and gamma_3 among them

  class Training {
    /**
     * @param {object} settings
     * @param {number} settings.pairs N
     * @param {number} settings.dim D, even
     * @param {number} settings.batch B, fresh contexts a step
     * @param {"strict"|"causal"} settings.mask
     * @param {"one"|"every"} settings.asked one query of a context, or one of every prefix
     * @param {"sgd"|"adamw"} settings.optimiser
     * @param {number} settings.rate
     * @param {number} settings.seed
     * @param {"all"|"three"} settings.trained
     * @param {(number|null)[]} settings.held scores D alpha_3, D beta_2 and gamma_3, null if free
     * @param {boolean} [settings.population] whether to descend on the loss averaged over all data,
     *   on orthonormal inputs of squared norm D and in the 19 dimensions of Theorem 1
     */
    constructor(settings) {
      const { pairs: n, dim, batch, asked, held, trained, population } = settings;
      const d = population ? 2 * n : dim, contexts = population ? 1 : batch, every = asked === "every";
      const each = population ? (every ? n * (n + 1) / 2 : n) : every ? n : 1; // queries of a context
      const L = 2 * n, all = contexts * each, q = 4 * d;
      const lengths = {
        weights: 28 * d * d, slope: 28 * d * d, mean: 28 * d * d, square: 28 * d * d, // W1, W2, W3 in turn
        x: contexts * L * 2 * d, T: contexts * L * L, target: all * d,
        sizes: all, wanted: all, share: all, // of each query: rows that it sees, its pair, its chance
        query: all * q, look: all * q, found: all * q, dQuery: all * q, dLook: all * q, dFound: all * q,
        y: all * d, P: 2 * all * L, w: 2 * all * L, own: all, through: all * L, first: all * L, firstOwn: all,
        A: Math.max(L, each) * 2 * d, dS: L * L, G: 2 * each * L, Ds: 2 * each * L, back: each * L,
      };
      for (const name in lengths) this[name] = new Float64Array(lengths[name]);
      Object.assign(this, { settings, n, d, batch: contexts, each, population, steps: 0 });
      this.stream = stream(settings.seed);
      // Orthonormal inputs see scores; Gaussian ones, of squared norm D, weights that are 1/D of them.
      this.units = BLOCKS.map(({ layer }) => (population || layer === 2 ? 1 : dim));
      const free = trained === "three" ? HEAD : BLOCKS.map((_, i) => i);
      this.free = population || trained === "three" ? free : null; // null: all weights
      this.pace = BLOCKS.map(({ layer }) => (population ? d * d * (layer === 2 ? 1 / dim : dim) : 1));
      this.held = HEAD.map((which, i) => ({ which, value: held[i] })).filter(({ value }) => value !== null);
      if (population) this.fill();
      this.hold();
    }
    /** Fill in a fresh batch: Gaussian pairs (Eqs. 3 to 5), every query for any pair that it sees. */
    draw() {
      const { n, d, batch, each, x, stream: { both, uniform } } = this, half = d / 2;
      for (let pair = 0; pair < batch * n; pair++) {
        const at = pair * 4 * d;
        for (let i = 0; i < 3 * d; i += 2) both(x, at + i); // item, position, label
        for (let i = 0; i < d; i++) x[at + 3 * d + i] = x[at + d + (i + half) % d]; // M position
      }
      for (let m = 0; m < batch * each; m++) {
        const seen = each === 1 ? n : m % n + 1;
        this.ask(m, seen, Math.floor(seen * uniform()));
      }
    }
    /** Fill in all that the population loss knows: orthonormal inputs, and each query with its chance. */
    fill() {
      const { n, d, each, x } = this;
      for (let k = 0; k < n; k++) // the content of item and label, their positions p and M p
        [k, d + k, 2 * d + n + k, 3 * d + n + k].forEach((place) => { x[k * 4 * d + place] = 1; });
      let m = 0;
      for (let seen = each === n ? n : 1; seen <= n; seen++)
        for (let k = 0; k < seen; k++) this.ask(m++, seen, k, 1 / (each === n ? n : n * seen));
    }
    /** Let query m of the batch see `seen` pairs of its context and ask for pair `wanted`. */
    ask(m, seen, wanted, share = 1 / (this.batch * this.each)) {
      const { n, d } = this, at = (Math.floor(m / this.each) * n + wanted) * 4 * d;
      this.sizes[m] = 2 * seen;
      this.wanted[m] = wanted;
      this.share[m] = share;
      this.query.set(this.x.subarray(at, at + d), m * 4 * d); // its position stays zero
      this.target.set(this.x.subarray(at + 2 * d, at + 3 * d), m * d);
    }
    /** The loss of the batch in place, a mean over dimensions and by `share` over queries; its slope. */
    gradient() {
      const { n, d, batch, each, settings: { mask } } = this;
      const { x, target, sizes, share, T, query, look, found, first, firstOwn, P, through, w, own, y } = this;
      const { dQuery, dLook, dFound, A, dS, G, back, Ds, weights: W, slope } = this;
      const causal = mask === "causal", L = 2 * n, wide = 2 * d, q = 4 * d, all = batch * each;
      const W2 = 4 * d * d, W3 = 20 * d * d, W3found = 24 * d * d, strip = 32;
      for (const part of [T, look, found, first, P, through, y, dQuery, dLook, dFound, slope]) part.fill(0);
      for (let c = 0; c < batch; c++) { // layer 1: attention T of the context, and of its queries
        const at = c * L * wide, t = c * L * L, m0 = c * each;
        A.fill(0);
        multiply(A, 0, wide, x, at, wide, 1, W, 0, wide, 1, L, wide, wide);
        for (let i = 0; i < L; i += 4) { // of the scores only what the mask shows, in strips
          const cols = Math.min(i + 4, L);
          multiply(T, t + i * L, L, A, i * wide, wide, 1, x, at, 1, wide, cols - i, wide, cols);
          for (let row = i; row < cols; row++) masked(T, t + row * L, row + (causal ? 1 : 0), cols);
        }
        A.fill(0, 0, each * wide);
        multiply(A, 0, wide, query, m0 * q, q, 1, W, 0, wide, 1, each, d, wide);
        multiply(first, m0 * L, L, A, 0, wide, 1, x, at, 1, wide, each, wide, L);
        for (let k = 0, m = m0; k < each; k++, m++) {
          const self = causal ? dot(A, k * wide, query, m * q, d) : -Infinity;
          firstOwn[m] = masked(first, m * L, sizes[m], L, self);
          query.fill(0, m * q + wide, (m + 1) * q);
          if (causal) add(query, m * q + wide, firstOwn[m], query, m * q, d);
        }
        multiply(query, m0 * q + wide, q, first, m0 * L, L, 1, x, at, wide, 1, each, L, wide);
      }
      for (let r = 0; r < all; r += strip)
        multiply(look, r * q, q, query, r * q, q, 1, W, W2, q, 1, Math.min(strip, all - r), q, q);
      for (let c = 0; c < batch; c++) { // layer 2: the keys are [X | TX], met as Xu + T(Xv)
        const at = c * L * wide, t = c * L * L, m0 = c * each, row = 2 * m0 * L;
        multiply(P, row, L, look, m0 * q, wide, 1, x, at, 1, wide, 2 * each, wide, L);
        multiply(through, m0 * L, L, P, row + L, 2 * L, 1, T, t, 1, L, each, L, L);
        for (let m = m0; m < m0 + each; m++) {
          const self = causal ? dot(look, m * q, query, m * q, q) : -Infinity;
          for (let j = 0; j < L; j++) w[2 * m * L + j] = P[2 * m * L + j] + through[m * L + j];
          own[m] = masked(w, 2 * m * L, sizes[m], L, self);
          w.fill(0, (2 * m + 1) * L, (2 * m + 2) * L);
          if (causal) add(found, m * q, own[m], query, m * q, q);
        }
        multiply(w, row + L, 2 * L, w, row, 2 * L, 1, T, t, L, 1, each, L, L);
        multiply(found, m0 * q, wide, w, row, L, 1, x, at, wide, 1, 2 * each, L, wide);
      }
      let loss = 0;
      for (let r = 0; r < all; r += strip) { // output, error and their way back
        const rows = Math.min(strip, all - r);
        multiply(y, r * d, d, query, r * q, q, 1, W, W3, d, 1, rows, q, d);
        multiply(y, r * d, d, found, r * q, q, 1, W, W3found, d, 1, rows, q, d);
        for (let i = r * d; i < (r + rows) * d; i++) {
          const weight = share[Math.floor(i / d)] / d;
          loss += weight * (y[i] - target[i]) ** 2;
          y[i] = 2 * weight * (y[i] - target[i]); // from here on the slope of the loss
        }
        multiply(dQuery, r * q, q, y, r * d, d, 1, W, W3, 1, d, rows, d, q);
        multiply(dFound, r * q, q, y, r * d, d, 1, W, W3found, 1, d, rows, d, q);
        multiply(slope, W3, d, query, r * q, 1, q, y, r * d, d, 1, q, rows, d);
        multiply(slope, W3found, d, found, r * q, 1, q, y, r * d, d, 1, q, rows, d);
      }
      for (let c = 0; c < batch; c++) { // back through layer 2 and the context's layer 1
        const at = c * L * wide, t = c * L * L, m0 = c * each, row = 2 * m0 * L;
        for (const part of [A, G, back, Ds, dS]) part.fill(0);
        multiply(G, 0, L, dFound, m0 * q, wide, 1, x, at, 1, wide, 2 * each, wide, L);
        multiply(back, 0, L, G, L, 2 * L, 1, T, t, 1, L, each, L, L);
        for (let k = 0, m = m0; k < each; k++, m++) {
          const at2 = 2 * k * L, share = 2 * m * L, dOwn = causal ? dot(dFound, m * q, query, m * q, q) : 0;
          let mean = own[m] * dOwn;
          for (let j = 0; j < sizes[m]; j++) mean += w[share + j] * (G[at2 + j] += back[k * L + j]);
          for (let j = 0; j < sizes[m]; j++) Ds[at2 + j] = w[share + j] * (G[at2 + j] - mean);
          if (!causal) continue;
          const dSelf = own[m] * (dOwn - mean); // the query's own score, look . query
          add(dLook, m * q, dSelf, query, m * q, q);
          add(dQuery, m * q, dSelf, look, m * q, q);
          add(dQuery, m * q, own[m], dFound, m * q, q);
        }
        multiply(Ds, L, 2 * L, Ds, 0, 2 * L, 1, T, t, L, 1, each, L, L);
        multiply(dLook, m0 * q, wide, Ds, 0, L, 1, x, at, wide, 1, 2 * each, L, wide);
        for (let i = 0; i < L; i += 4) { // dT = w (x) dwT + ds (x) Xv, and through the softmax
          const cols = Math.min(i + 4, L);
          multiply(dS, i * L, L, w, row + i, 1, 2 * L, G, L, 2 * L, 1, cols - i, each, cols);
          multiply(dS, i * L, L, Ds, i, 1, 2 * L, P, row + L, 2 * L, 1, cols - i, each, cols);
          for (let j = i; j < cols; j++) {
            const mean = dot(dS, j * L, T, t + j * L, cols);
            for (let k = 0; k < cols; k++) dS[j * L + k] = T[t + j * L + k] * (dS[j * L + k] - mean);
          }
          multiply(A, i * wide, wide, dS, i * L, L, 1, x, at, wide, 1, cols - i, cols, wide);
        }
        multiply(slope, 0, wide, x, at, 1, wide, A, 0, wide, 1, wide, L, wide);
      }
      for (let r = 0; r < all; r += strip) {
        const rows = Math.min(strip, all - r);
        multiply(dQuery, r * q, q, dLook, r * q, q, 1, W, W2, 1, q, rows, q, q);
        multiply(slope, W2, q, query, r * q, 1, q, dLook, r * q, q, 1, q, rows, q);
      }
      for (let c = 0; c < batch; c++) { // back through the queries' layer 1
        const at = c * L * wide, m0 = c * each;
        back.fill(0); A.fill(0, 0, each * wide);
        multiply(back, 0, L, dQuery, m0 * q + wide, q, 1, x, at, 1, wide, each, wide, L);
        for (let k = 0, m = m0; k < each; k++, m++) {
          const dOwn = causal ? dot(dQuery, m * q + wide, query, m * q, d) : 0;
          const mean = firstOwn[m] * dOwn + dot(first, m * L, back, k * L, L);
          for (let j = 0; j < L; j++) back[k * L + j] = first[m * L + j] * (back[k * L + j] - mean);
          if (causal) add(A, k * wide, firstOwn[m] * (dOwn - mean), query, m * q, d);
        }
        multiply(A, 0, wide, back, 0, L, 1, x, at, wide, 1, each, L, wide);
        multiply(slope, 0, wide, query, m0 * q, 1, q, A, 0, wide, 1, d, each, wide);
      }
      return loss;
    }
    /** Keep of the slope what moves the pseudo-parameters that are free, at the pace of each. */
    project() {
      const { slope, free, pace } = this;
      const kept = free.map((which) => this.read(slope, which));
      slope.fill(0);
      free.forEach((which, i) => {
        for (const place of this.entries(which)) slope[place] = pace[which] * kept[i];
      });
    }
    /** Move the weights down the slope: gradient descent, or AdamW as in PyTorch (decay 0.01). */
    descend() {
      const { settings: { rate, optimiser }, weights, slope, mean, square } = this, time = ++this.steps;
      if (this.free) this.project();
      if (optimiser === "sgd") add(weights, 0, -rate, slope, 0, weights.length);
      else {
        const first = rate / (1 - 0.9 ** time), root = Math.sqrt(1 - 0.999 ** time);
        for (let i = 0; i < weights.length; i++) {
          mean[i] += 0.1 * (slope[i] - mean[i]);
          square[i] += 0.001 * (slope[i] ** 2 - square[i]);
          weights[i] -= 0.01 * rate * weights[i] + first * mean[i] / (Math.sqrt(square[i]) / root + 1e-8);
        }
      }
      this.hold();
    }
    /** Places of the D entries that make a pseudo-parameter: the diagonal of a block, or that of M. */
    entries(which) {
      const { d } = this, { layer, width, block: [row, column, swapped] } = BLOCKS[which];
      const at = [0, 4, 20][layer] * d * d + row * d * width * d + column * d;
      return Array.from({ length: d }, (_, i) => at + i * width * d + (swapped ? (i + d / 2) % d : i));
    }
    /** A pseudo-parameter as read off weights (Theorem 1), or that of a slope. */
    read(of, which) {
      return this.entries(which).reduce((sum, place) => sum + of[place], 0) / this.d;
    }
    /** All 19, those of both layers as scores, D times the weights. */
    scores() {
      return BLOCKS.map((_, which) => this.units[which] * this.read(this.weights, which));
    }
    /** Put held pseudo-parameters at their values, the rest of the weights untouched. */
    hold() {
      for (const { which, value } of this.held) {
        const gap = value / this.units[which] - this.read(this.weights, which);
        for (const place of this.entries(which)) this.weights[place] += gap;
      }
    }
    /** Layer 1's attention in the first context, and what its last query attends to in layer 2, itself last. */
    attention() {
      const L = 2 * this.n, m = this.each - 1;
      return [this.T.slice(0, L * L), [...this.w.subarray(2 * m * L, (2 * m + 1) * L), this.own[m]]];
    }
    /** One step on a fresh batch; the loss before it, a mean over dimensions. */
    step() {
      if (!this.population) this.draw();
      const loss = this.gradient() * (this.population ? this.d : 1); // orthonormal labels have norm 1
      if (!Number.isFinite(loss)) throw Error(`the loss is no longer finite at step ${this.steps}`);
      this.descend();
      return loss;
    }
  }
  return Training;
}
