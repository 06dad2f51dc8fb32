/**
 * The reduced model of §6 and App. B: loss and gradient in alpha, beta, gamma.
 *
 * alpha, beta, gamma stand for alpha_3, beta_2, gamma_3. Inputs are orthonormal, the mask is
 * strict, the loss is the squared norm summed over dimensions, nPairs is N.
 */

/** Largest N for q uniform, where one gradient costs O(N). */
export const UNIFORM_LIMIT = 512;

/**
 * Attention of the last label to its item in layer 1, e^alpha / (e^alpha + 2N - 2).
 * @returns {number} rho, between 0 and 1
 */
export function retrieval(alpha, nPairs) {
  return 1 / (1 + (2 * nPairs - 2) * Math.exp(-alpha));
}

/**
 * Loss and gradient of App. B.3 and B.4, where the query asks for the last pair.
 * @returns {number[]} [L, dL/dalpha, dL/dbeta, dL/dgamma]
 */
export function lossLast([alpha, beta, gamma], nPairs) {
  const rho = retrieval(alpha, nPairs);
  const others = 2 * nPairs - 1;
  const target = 1 / (1 + others * Math.exp(-beta * rho));
  const other = 1 / (Math.exp(beta * rho) + others);
  const norm = target ** 2 + others * other ** 2;
  const push = 2 * others * target * other * (gamma ** 2 * (target - other) - gamma);
  return [
    gamma ** 2 * norm - 2 * gamma * target + 1,
    push * beta * rho * (1 - rho),
    push * rho,
    2 * gamma * norm - 2 * target,
  ];
}

/**
 * Loss and gradient for a query drawn uniformly from the N pairs: the mean over queries.
 *
 * After layer 1 label q holds the query's item with share e^alpha / (2q + e^alpha); of later pairs
 * k, item k holds it with 1 / 2k and label k with 1 / (2k + e^alpha). Sums over later pairs, taken
 * from the end, serve all queries at once: a gradient takes O(N).
 * @returns {number[]} [L, dL/dalpha, dL/dbeta, dL/dgamma]
 */
export function lossUniform([alpha, beta, gamma], nPairs) {
  const a = Math.exp(alpha);
  // over later positions: e^(beta share), its square, and their derivatives
  let sum = 0, sumAlpha = 0, sumBeta = 0;
  let square = 0, squareAlpha = 0, squareBeta = 0;
  let loss = 0, byAlpha = 0, byBeta = 0, byGamma = 0;
  for (let q = nPairs - 1; q >= 0; q--) {
    const label = 1 / (2 * q + a);
    const own = a * label;
    const gain = beta * own * (1 - own); // of beta own in alpha
    const s = Math.exp(beta * own);
    const each = 1 / (2 * q + 1 + s + sum);
    const target = s * each;
    const norm = (2 * q + 1 + s * s + square) * each * each;
    const logAlpha = (gain * s + sumAlpha) * each, logBeta = (own * s + sumBeta) * each; // of 1 / each
    const normAlpha = 2 * ((gain * s * s + squareAlpha) * each * each - norm * logAlpha);
    const normBeta = 2 * ((own * s * s + squareBeta) * each * each - norm * logBeta);
    loss += gamma * gamma * norm - 2 * gamma * target + 1;
    byAlpha += gamma * (gamma * normAlpha - 2 * target * (gain - logAlpha));
    byBeta += gamma * (gamma * normBeta - 2 * target * (own - logBeta));
    byGamma += 2 * gamma * norm - 2 * target;
    if (q > 0) {
      const item = 1 / (2 * q);
      const lost = -beta * a * label * label; // of beta label in alpha
      const u = Math.exp(beta * item), v = Math.exp(beta * label);
      sum += u + v;
      sumAlpha += lost * v;
      sumBeta += item * u + label * v;
      square += u * u + v * v;
      squareAlpha += lost * v * v;
      squareBeta += item * u * u + label * v * v;
    }
  }
  return [loss, byAlpha, byBeta, byGamma].map((total) => total / nPairs);
}

/** The loss of one query rule, "last" or "uniform". */
export function lossOf(query) {
  const rules = { last: lossLast, uniform: lossUniform };
  if (!Object.hasOwn(rules, query)) throw new RangeError(`query must be "last" or "uniform", got ${query}`);
  return rules[query];
}

/** e^alpha - 1 + (2N - 2) alpha - (N - 1) beta^2: constant along the flow for q = last. */
export function firstIntegral(alpha, beta, nPairs) {
  return Math.expm1(alpha) + (2 * nPairs - 2) * alpha - (nPairs - 1) * beta ** 2;
}
