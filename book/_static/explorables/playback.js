/** A place on the time axis that slider, pointer and a play button move. All have been when it begins. */

import { button, reducedMotion, slider } from "./dom.js";

/**
 * The first press of play starts at zero, for all is shown before; later ones go on from where the
 * reader is.
 * @param {object} options
 * @param {string} [options.label] what the slider is called
 * @param {number} [options.places] positions of the slider after the first
 * @param {number} [options.seconds] from zero to the end
 * @param {(at: number) => string} options.format the time at a place, a share from 0 to 1
 * @param {(at: number) => string} options.spoken the time and what is so then, in words
 * @param {(at: number) => void} options.moved called after each move, and when play has ended
 * @param {(at: number) => number} options.next the place of the next event, for readers who want
 *   less motion
 */
export function playback({ label = "Look at time", places = 1000, seconds = 6, format, spoken, moved, next }) {
  let at = 1, frame = 0;
  const time = slider({
    label, min: 0, max: places, step: 1, value: places,
    format: () => format(at), spoken: () => spoken(at),
    change: (place) => {
      pause();
      go(place / places);
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
    time.set(at * places);
  }
  function start() {
    const from = at >= 1 ? 0 : at;
    let opened; // the time of the first frame, which shows where it starts
    const tick = (now) => {
      opened ??= now;
      const left = 1 - Math.min((now - opened) / 1000 / seconds + 1 - Math.sqrt(1 - from), 1);
      go(1 - left ** 2); // slower towards the end, where events lie close
      if (at < 1) frame = requestAnimationFrame(tick);
      else pause();
    };
    frame = requestAnimationFrame(tick);
    play.textContent = "Pause";
  }
  function pause() {
    const wasPlaying = frame !== 0;
    cancelAnimationFrame(frame);
    frame = 0;
    play.textContent = reducedMotion() ? "Next event" : "Play";
    if (wasPlaying) moved(at);
  }
  pause();
  return { play, slider: time.root, go, pause, refresh, at: () => at, playing: () => frame !== 0 };
}
