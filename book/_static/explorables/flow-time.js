/** The time of a flow as a reader goes through it: playback, pointing at a curve, choice of axis. */

import { choice, number } from "./dom.js";
import { playback } from "./playback.js";

/**
 * @param {object} given
 * @param {() => {events: number[], x: object, range: number[]} | undefined} given.seen
 *   what is drawn: the times of events, the time axis and its ends in pixels; undefined before that
 * @param {(t: number) => string} given.spoken a flow time in words
 * @param {() => void} given.moved called after each move
 * @returns {{time: object, now: () => number, point: (event: PointerEvent) => void}}
 *   the controls, the flow time they stand at, and what a pointer on the picture does
 */
export function flowTime({ seen, spoken, moved }) {
  const timeAt = (share) => {
    if (share === 0) return 0; // where a logarithmic axis begins, too
    const { x, range: [start, end] } = seen();
    return Math.max(0, x.map.invert(start + share * (end - start)));
  };
  const shareOf = (pixel) => {
    const { range: [start, end] } = seen();
    return (pixel - start) / (end - start);
  };
  const time = playback({
    format: (share) => (seen() ? number(timeAt(share)) : ""),
    spoken: (share) => (seen() ? spoken(timeAt(share)) : ""),
    moved,
    next: (share) => {
      const { events, x } = seen();
      const finite = events.filter((t) => t < Infinity);
      const later = finite.filter((t) => t > timeAt(share) * (1 + 1e-6));
      return shareOf(x.map(Math.min(...(later.length ? later : finite))));
    },
  });
  const point = (event) => {
    if (event.type === "pointermove" && event.buttons === 0) return;
    time.pause();
    time.go(shareOf(event.clientX - event.currentTarget.getBoundingClientRect().left));
  };
  return { time, now: () => timeAt(time.at()), point };
}

/** The choice between a linear and a logarithmic time axis, kept in the state. */
export function scaleChoice(state, changed) {
  return choice({
    legend: "Time axis", value: state.scale, options: { linear: "linear", log: "logarithmic" },
    change: (value) => {
      state.scale = value;
      changed();
    },
  });
}
