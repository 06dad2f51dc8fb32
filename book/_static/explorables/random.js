/** Random numbers; the same seed gives the same ones (mulberry32, Box and Muller). */
export function stream(seed) {
  const state = new Uint32Array([seed]);
  const uniform = () => {
    const word = state[0] += 0x6d2b79f5;
    let t = Math.imul(word ^ (word >>> 15), word | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const both = (out = [0, 0], at = 0) => {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform())), angle = 2 * Math.PI * uniform();
    out[at] = radius * Math.cos(angle);
    out[at + 1] = radius * Math.sin(angle);
    return out;
  };
  return { uniform, both, normal: () => both()[0] };
}
