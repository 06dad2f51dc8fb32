/**
 * The full model: loss and gradient of all 19 pseudo-parameters of Theorem 1, on orthonormal inputs.
 *
 * The sums over rows are those of `emergence.theory._full.sums`, where they are explained; names are
 * the same, and d_x is the derivative of the loss by x. Three passes over the N pairs, up, down and
 * up, collect all sums over earlier and over later pairs.
 */

const range = (letter, count) => Array.from({ length: count }, (_, i) => `${letter}_${i + 1}`);

/** The pseudo-parameters in the order of Python's `subspace.NAMES`. */
export const NAMES = [...range("alpha", 3), ...range("beta", 12), ...range("gamma", 4)];

/** How often the query asks for each pair, under the rule "last" or "uniform". */
export function chancesOf(query, nPairs) {
  const rules = { last: (k) => Number(k === nPairs - 1), uniform: () => 1 / nPairs };
  if (!Object.hasOwn(rules, query)) throw new RangeError(`query must be "last" or "uniform", got ${query}`);
  return Float64Array.from({ length: nPairs }, (_, k) => rules[query](k));
}

/**
 * Loss and gradient where the query asks for pair q with the chance chances[q].
 * @param {Float64Array} chances one a pair; they sum to 1
 * @returns {(point: number[]) => {loss: number, gradient: number[]}} of the 19 values
 */
export function landscape(chances) {
  const n = chances.length;
  // one number a pair, written anew at every point
  const row = () => new Float64Array(n);
  const item = Float64Array.from({ length: n }, (_, k) => (k ? 0.5 / k : 0));
  const label = row(), own = row(), shares = row(), before = row();
  const onLabel = row(), lateItem = row(), lateLabel = row(), through = row();
  const pastItem = row(), pastLabel = row(), pastSums = row(), pastSquares = row();
  const weight = row(), weightNorm = row(), dNorm = row();
  const onRight = row(), onWrong = row(), onEarly = row(), dPastItem = row(), dPastLabel = row(), dShare = row();

  return (point) => {
    const beta = [0, ...point.slice(3, 15)], gamma = [0, ...point.slice(15)];
    const [, g1, g2, g3, g4] = gamma;

    // layer 1: what the query pays to a row, and to its own item beyond that
    const e = Math.exp(point[0]), own0 = Math.exp(point[2]);
    const rest = 1 / (2 * n - 1 + e), ahead = (e - 1) * rest;
    // layer 2: the score for what a row pays to item q, and to both of pair q
    const looking = beta[2] + (beta[8] + beta[11]) * ahead, both = looking + beta[12] * ahead;
    const first0 = Math.exp(-(beta[8] + beta[11] + beta[12]) * rest); // row 0 attends to nothing
    const onItem = Math.exp(beta[1] + (beta[7] + beta[9]) * ahead);
    const equalLate = g2 * rest;

    let total = 0, rows = 0, sum = 0, square = 0;
    for (let k = 0; k < n; k++) {
      const first = k ? 1 : first0;
      label[k] = 1 / (2 * k + own0);
      own[k] = own0 * label[k];
      total += k ? item[k] + label[k] : 0;
      shares[k] = total;
      onLabel[k] = Math.exp(beta[10] * ahead + looking * own[k]);
      lateItem[k] = Math.exp(both * item[k]);
      lateLabel[k] = Math.exp(both * label[k]);
      pastItem[k] = g3 * first - g4 * (shares[k] - own[k]);
      pastLabel[k] = g3 - g4 * shares[k];
      before[k] = rows;
      pastSums[k] = sum;
      pastSquares[k] = square;
      rows += 1 + first;
      sum += pastItem[k] + pastLabel[k];
      square += pastItem[k] ** 2 + pastLabel[k] ** 2;
    }

    let loss = 1, dEqualLate = 0, dG1 = 0, dG3 = 0, dG4 = 0, byItem = 0, dLogFirst = 0;
    let seen = 0, lateRows = 0, lateSum = 0, lateSquare = 0; // of pairs after k
    let early1 = 0, early2 = 0, onEarlySum = 0, takenSum = 0; // of queries after k
    for (let k = n - 1; k >= 0; k--) {
      const first = k ? 1 : first0, chance = chances[k];
      through[k] = seen;
      const each = 1 / (before[k] + onItem * first + onLabel[k] + lateRows);
      const early = seen + onItem * first * item[k] + onLabel[k] * label[k] + (k ? shares[k - 1] : 0);
      const equalEarly = equalLate + g4 * early * each;
      const right = equalLate + (g3 * onLabel[k] + g4 * seen) * each;
      const wrong = equalLate + (g3 * onItem * first + g4 * (seen + onLabel[k] * own[k])) * each;
      const heldWrong = wrong + g2 * ahead + g1;
      const late = 2 * (n - 1 - k) * equalLate + lateSum * each;
      const past = 2 * k * equalEarly + pastSums[k] * each;
      const squares = right ** 2 + heldWrong ** 2
        + equalLate * (late + lateSum * each) + lateSquare * each ** 2
        + equalEarly * (past + pastSums[k] * each) + pastSquares[k] * each ** 2;
      loss += chance * (squares - 2 * right);

      const dRight = 2 * chance * (right - 1), dWrong = 2 * chance * heldWrong, dEarly = 2 * chance * past;
      dEqualLate += 2 * chance * late + dRight + dWrong + dEarly;
      weight[k] = 2 * chance * each;
      weightNorm[k] = weight[k] * each;
      dNorm[k] = -each * (
        weight[k] * (equalLate * lateSum + equalEarly * pastSums[k])
        + weightNorm[k] * (lateSquare + pastSquares[k])
        + dEarly * (equalEarly - equalLate) + dRight * (right - equalLate) + dWrong * (wrong - equalLate)
      );
      onRight[k] = dRight * each;
      onWrong[k] = dWrong * each;
      onEarly[k] = dEarly * each;
      dPastItem[k] = early1 + pastItem[k] * early2;
      dPastLabel[k] = early1 + pastLabel[k] * early2;
      const taken = g4 * (dPastItem[k] + dPastLabel[k]);
      dShare[k] = k ? g4 * onEarlySum - taken - takenSum : 0;
      dG1 += dWrong;
      dG3 += dPastItem[k] * first + dPastLabel[k] + onRight[k] * onLabel[k] + onWrong[k] * onItem * first;
      dG4 += onEarly[k] * early + onRight[k] * seen + onWrong[k] * (seen + onLabel[k] * own[k])
        - dPastItem[k] * (shares[k] - own[k]) - dPastLabel[k] * shares[k];
      const dLogItem = onItem * first * (g3 * onWrong[k] + g4 * item[k] * onEarly[k] + dNorm[k]);
      byItem += dLogItem;
      dLogFirst += k ? first0 * dNorm[k] : dLogItem + first0 * g3 * dPastItem[0];

      early1 += weight[k] * equalEarly;
      early2 += weightNorm[k];
      onEarlySum += onEarly[k];
      takenSum += taken;
      const holdsItem = g3 * lateItem[k] + g4 * (seen + lateLabel[k] * own[k]);
      const holdsLabel = g3 * lateLabel[k] + g4 * seen;
      lateRows += lateItem[k] + lateLabel[k];
      lateSum += holdsItem + holdsLabel;
      lateSquare += holdsItem ** 2 + holdsLabel ** 2;
      seen += lateItem[k] * item[k] + lateLabel[k] * label[k];
    }

    let late1 = 0, late2 = 0, dSeen = 0, normed = 0; // of queries before k
    let dBoth = 0, dLooking = 0, byLabel = 0, dAlpha3 = 0;
    for (let k = 0; k < n; k++) {
      const passed = through[k] + lateLabel[k] * own[k];
      const dLateItem = equalLate * late1 + (g3 * lateItem[k] + g4 * passed) * late2;
      const dLateLabel = equalLate * late1 + (g3 * lateLabel[k] + g4 * through[k]) * late2;
      dG3 += dLateItem * lateItem[k] + dLateLabel * lateLabel[k];
      dG4 += dLateItem * passed + dLateLabel * through[k];
      const byLateItem = g3 * dLateItem + item[k] * dSeen + normed;
      const byLateLabel = g3 * dLateLabel + g4 * own[k] * dLateItem + label[k] * dSeen + normed;
      const dLogLabel = onLabel[k]
        * (g3 * onRight[k] + g4 * (label[k] * onEarly[k] + own[k] * onWrong[k]) + dNorm[k]);
      dBoth += byLateItem * lateItem[k] * item[k] + byLateLabel * lateLabel[k] * label[k];
      dLooking += dLogLabel * own[k];
      byLabel += dLogLabel;
      const dOwn = g4 * (dLateItem * lateLabel[k] + dPastItem[k] + onWrong[k] * onLabel[k]) + looking * dLogLabel;
      const dLabel = g4 * onEarly[k] * onLabel[k] + lateLabel[k] * (dSeen + both * byLateLabel) + dShare[k];
      dAlpha3 += own[k] * ((1 - own[k]) * dOwn - label[k] * dLabel);
      late1 += weight[k];
      late2 += weightNorm[k];
      dSeen += g4 * (dLateItem + dLateLabel + onRight[k] + onWrong[k] + onEarly[k]);
      normed += dNorm[k];
    }
    dLooking += dBoth;

    const dAhead = byItem * (beta[7] + beta[9]) + byLabel * beta[10] + dLooking * (beta[8] + beta[11])
      + dBoth * beta[12] + dG1 * g2;
    const dRest = dEqualLate * g2 - dLogFirst * (beta[8] + beta[11] + beta[12]);
    // rest = 1/(2N - 1 + e^alpha_1), and ahead = 1 - 2N rest
    const dAlpha1 = e * rest ** 2 * (2 * n * dAhead - dRest);
    const beta7 = byItem * ahead, lost = dLogFirst * rest, beta8 = dLooking * ahead - lost;
    const gradient = [
      dAlpha1, 0, dAlpha3,
      byItem, dLooking, 0, 0, 0, 0, beta7, beta8, beta7, byLabel * ahead, beta8, dBoth * ahead - lost,
      dG1, dEqualLate * rest + dG1 * ahead, dG3, dG4,
    ];
    return { loss, gradient };
  };
}
