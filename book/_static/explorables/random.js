/** Random numbers with a 128-bit state, whose function a worker can get as text. */

/**
 * A stream of random numbers, the same for the same seed.
 * @returns {{normal: () => number, below: (n: number) => number}} standard normal numbers, and whole
 *   ones from 0 to n - 1
 */
export function random(seed) {
  const s = new Int32Array(4);
  for (let i = 0, z = seed | 0; i < 4; i++) { // spread the seed over the state
    z = (z + 0x9e3779b9) | 0;
    const y = Math.imul(z ^ (z >>> 16), 0x21f0aaad), x = Math.imul(y ^ (y >>> 15), 0x735a2d97);
    s[i] = x ^ (x >>> 15);
  }
  function bits() { // xoshiro128**
    const five = Math.imul(s[1], 5), t = s[1] << 9;
    s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t;
    s[3] = (s[3] << 11) | (s[3] >>> 21);
    return Math.imul((five << 7) | (five >>> 25), 9) >>> 0;
  }
  const uniform = () => (bits() + 0.5) / 4294967296, height = (x) => Math.exp(-0.5 * x * x);
  // The ziggurat method: 128 layers of equal area under exp(-x^2/2), from the tail inwards.
  const tail = 3.442619855899, area = 9.91256303526217e-3, edge = new Float64Array(129);
  edge.set([area / height(tail), tail]);
  for (let i = 1; i < 127; i++) edge[i + 1] = Math.sqrt(-2 * Math.log(area / edge[i] + height(edge[i])));
  function normal() {
    for (;;) {
      const u = bits(), layer = u & 127, sign = u & 128 ? 1 : -1;
      const x = ((u >>> 8) + 0.5) / 16777216 * edge[layer];
      if (x < edge[layer + 1]) return sign * x;
      const low = height(edge[layer]), high = height(edge[layer + 1]);
      if (layer && low + uniform() * (high - low) < height(x)) return sign * x;
      while (layer === 0) { // Beyond the tail one tries until one is accepted: a fresh start would
        const extra = -Math.log(uniform()) / tail; // make the tails lighter.
        if (-2 * Math.log(uniform()) > extra * extra) return sign * (tail + extra);
      }
    }
  }
  return { normal, below: (n) => Math.floor(uniform() * n) };
}
