/** A place on the time axis that slider, pointer and a play button move. */

import { button, reducedMotion, slider } from "./dom.js";

const PLACES = 1000; // positions of the slider
const PLAY_SECONDS = 6;

/**
 * @param {object} options
 * @param {number} options.at where to begin, from 0 to 1
 * @param {(at: number) => string} options.format the time at a place
 * @param {(at: number) => string} options.spoken the time and what is so then, in words
 * @param {(at: number) => void} options.moved
 * @param {(at: number) => number} options.next the place of the next event, for readers who want
 *   less motion
 */
export function playback({ at, format, spoken, moved, next }) {
  let frame = 0;
  const time = slider({
    label: "Look at time", min: 0, max: PLACES, step: 1, value: at * PLACES,
    format: () => format(at), spoken: () => spoken(at),
    change: (place) => {
      pause();
      go(place / PLACES);
    },
  });
  const play = button("", () => {
    if (reducedMotion()) go(next(at));
    else if (frame) pause();
    else start();
  });
  function go(place) {
    at = Math.min(Math.max(place, 0), 1);
    refresh();
    moved(at);
  }
  function refresh() {
    // The slider takes whole positions; `at` stays where the event is.
    time.set(at * PLACES);
  }
  function start() {
    const from = at >= 1 ? 0 : at;
    const opened = performance.now();
    const tick = (now) => {
      go(from + (now - opened) / 1000 / PLAY_SECONDS);
      if (at < 1) frame = requestAnimationFrame(tick);
      else pause();
    };
    frame = requestAnimationFrame(tick);
    play.textContent = "Pause";
  }
  function pause() {
    cancelAnimationFrame(frame);
    frame = 0;
    play.textContent = reducedMotion() ? "Next event" : "Play";
  }
  pause();
  return { play, slider: time.root, go, pause, refresh, at: () => at };
}
