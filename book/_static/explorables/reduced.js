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
 * Which positions hold the query's item after layer 1, and with what weight: its own label, with
 * e^alpha / (2q + e^alpha); each later item k, with 1 / 2k; each later label, with
 * 1 / (2k + e^alpha). Sums over later pairs are suffix sums, so a gradient takes O(N).
 * @returns {number[]} [L, dL/dalpha, dL/dbeta, dL/dgamma]
 */
export function lossUniform([alpha, beta, gamma], nPairs) {
  const a = Math.exp(alpha);
  // over later positions: e^(beta w), its derivatives in beta and alpha; the same for its square
  let sum = 0, sumBeta = 0, sumAlpha = 0;
  let square = 0, squareBeta = 0, squareAlpha = 0;
  const total = [0, 0, 0, 0];
  for (let q = nPairs - 1; q >= 0; q--) {
    const weight = a / (2 * q + a);
    const slope = weight * (1 - weight); // of the weight in alpha
    const score = Math.exp(beta * weight);
    const z = 2 * q + 1 + score + sum;
    const zBeta = weight * score + sumBeta;
    const zAlpha = beta * slope * score + sumAlpha;
    const target = score / z;
    const norm = (2 * q + 1 + score ** 2 + square) / z ** 2;
    const targetBeta = target * (weight - zBeta / z);
    const targetAlpha = target * (beta * slope - zAlpha / z);
    const normBeta = 2 * ((weight * score ** 2 + squareBeta) / z ** 2 - (norm * zBeta) / z);
    const normAlpha = 2 * ((beta * slope * score ** 2 + squareAlpha) / z ** 2 - (norm * zAlpha) / z);
    total[0] += gamma ** 2 * norm - 2 * gamma * target + 1;
    total[1] += gamma ** 2 * normAlpha - 2 * gamma * targetAlpha;
    total[2] += gamma ** 2 * normBeta - 2 * gamma * targetBeta;
    total[3] += 2 * gamma * norm - 2 * target;
    if (q > 0) {
      const item = 1 / (2 * q);
      const itemScore = Math.exp(beta * item);
      const label = 1 / (2 * q + a);
      const labelScore = Math.exp(beta * label);
      const labelSlope = -beta * a * label ** 2;
      sum += itemScore + labelScore;
      sumBeta += item * itemScore + label * labelScore;
      sumAlpha += labelSlope * labelScore;
      square += itemScore ** 2 + labelScore ** 2;
      squareBeta += item * itemScore ** 2 + label * labelScore ** 2;
      squareAlpha += labelSlope * labelScore ** 2;
    }
  }
  return total.map((value) => value / nPairs);
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
