/** Random numbers; the same seed gives the same ones (mulberry32, Box and Muller). */
export function stream(seed) {
  let word = seed >>> 0;
  const uniform = () => {
    word = (word + 0x6d2b79f5) >>> 0;
    let t = Math.imul(word ^ (word >>> 15), word | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const both = () => {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform())), angle = 2 * Math.PI * uniform();
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  };
  return { uniform, both, normal: () => both()[0] };
}
