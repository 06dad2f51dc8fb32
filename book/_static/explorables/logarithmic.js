/** Logarithmic axes. */

import { linear } from "./chart.js";
import { power } from "./dom.js";

/** A map from data to pixels on a logarithmic axis, with its inverse; what is below its start stays at its start. */
export function logarithmic([from, to], range) {
  const inner = linear([Math.log10(from), Math.log10(to)], range);
  const map = (value) => inner(Math.log10(Math.max(value, from)));
  map.invert = (pixel) => 10 ** inner.invert(pixel);
  return map;
}

/** Powers of ten between two ends, not more than `count`. */
export function powers(from, to, count) {
  const first = Math.ceil(Math.log10(from) - 1e-9), last = Math.floor(Math.log10(to) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / count));
  const all = [];
  for (let exponent = first; exponent <= last; exponent += step) {
    all.push({ value: 10 ** exponent, text: power(exponent) });
  }
  return all;
}
