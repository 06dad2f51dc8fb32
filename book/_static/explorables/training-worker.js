/** Workers that train. Pages that are read from a folder may load no file, so each gets text. */

import { stream } from "./random.js";
import { engine } from "./train.js";

const SLICE = 40; // milliseconds from one report to the next

/**
 * What runs in a worker. { run, settings } begins anew, { until } trains up to that step.
 * A report has a row for each step since the last one: the scores and the loss before it.
 */
function serve(scope, Training, slice) {
  let training, probe, run, until = 0, waiting = false;
  function report(rows) {
    const { steps, weights } = training;
    probe?.gradient(); // for its attention
    const seen = probe && { attention: probe.attention(), wanted: probe.wanted[0], weights };
    scope.postMessage({ run, rows, paused: steps >= until, ...seen });
  }
  function turn() {
    const rows = [], begun = performance.now();
    waiting = false;
    while (training && training.steps < until && performance.now() - begun < slice) {
      const scores = training.scores();
      rows.push([...scores, training.step()]);
    }
    if (training) report(rows);
  }
  function guarded(work) {
    try {
      work();
    } catch (error) {
      until = 0;
      scope.postMessage({ run, fault: error.message });
    }
    if (training && training.steps < until && !waiting) { // messages have their turn in between
      waiting = true;
      setTimeout(() => guarded(turn));
    }
  }
  scope.onmessage = ({ data }) => guarded(() => {
    if (data.settings) {
      training = probe = undefined;
      [run, until] = [data.run, 0];
      training = new Training(data.settings);
      if (!data.settings.population) { // one context, seen with the weights in training
        probe = new Training({ ...data.settings, batch: 1, asked: "one" });
        probe.draw();
        probe.weights = training.weights;
      }
      report([]);
    }
    if ("until" in data) until = data.until;
  });
}

/**
 * A worker that calls `heard` with each report.
 * @returns {(message: object) => void} sends a message to it
 */
export function worker(heard) {
  const source = `(${serve})(self, (${engine})(${stream}), ${SLICE})`;
  const works = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  works.onmessage = ({ data }) => heard(data);
  works.onerror = ({ message }) => heard({ fault: message || "this browser starts no worker" });
  return (message) => works.postMessage(message);
}
