/** The explorable that trains all weights of the minimal model in the page, beside the prediction. */

import { button, fit, fixed, html, number, oncePerFrame, reducedMotion, svg } from "./dom.js";
import { showNear } from "./near.js";
import { controls, fromAddress, HEAD, toAddress, tooMuch } from "./training-settings.js";
import { attended, eventsTable, fallen, HEIGHT, inWords, lastStep, LOSS, pictures, trainingChart } from "./training-view.js";
import { worker } from "./training-worker.js";

const LEAP = 25; // steps at once, for readers who want less motion
const LAST_PREDICTED = 2000; // steps in which the fall is searched for
const BESIDE = 640; // pixels from which on pictures stand beside the curves
const KEYS = { "": "this run", "ex-predicted": "predicted", "ex-last": "last run", "ex-hair": "the other sixteen" };

function show(mount) {
  const setting = fromAddress(location.search);
  let run, predicted, last, latest; // three records, and the latest report of this run
  let current = 0, playing = false, goal, longer, maps; // longer: steps beyond the first end

  // Training
  const train = worker((report) => {
    if (report.fault) {
      fault.textContent = `Training stopped: ${report.fault}.`;
      return pause();
    }
    if (report.run !== current) return;
    run.rows.push(...report.rows);
    latest = report;
    if (report.paused) pause();
    else if (!reducedMotion()) redraw();
  });
  const predict = worker((report) => {
    if (report.run !== current || report.fault) return;
    predicted.rows.push(...report.rows);
    predicted.ended = report.paused;
    if (fallen(predicted) >= 0) predict({ until: end() });
    if (playing) go();
    if (!reducedMotion() || !playing) redraw();
  });
  const fresh = () => ({ setting: structuredClone(setting), rows: [] });
  const end = () => lastStep(predicted) + longer;
  function begin() {
    if (run?.rows.length > 1) last = run;
    [run, predicted, latest, longer] = [fresh(), fresh(), undefined, 0];
    current += 1;
    maps = pictures(setting);
    shown.replaceChildren(...maps.roots);
    fault.textContent = tooMuch(setting);
    for (const stop of [train, predict]) stop({ until: 0 });
    play.disabled = step.disabled = fault.textContent !== "";
    if (!play.disabled) {
      train({ run: current, settings: setting });
      if (setting.optimiser === "sgd") predict({ run: current, settings: { ...setting, population: true }, until: LAST_PREDICTED });
    }
    pause();
  }
  const go = () => train({ until: Math.min(goal, end()) });
  function pause() {
    playing = false;
    play.textContent = reducedMotion() ? `Train ${LEAP} steps` : "Train";
    redraw();
  }

  // Pictures
  const redraw = oncePerFrame(() => {
    const width = mount.clientWidth;
    if (width === 0 || !run) return;
    const records = { run, predicted, last };
    const wide = width >= BESIDE ? Math.round(0.6 * width) : width;
    fit(picture, wide, HEIGHT);
    picture.replaceChildren(trainingChart(records, Math.max(end(), run.rows.length), wide));
    if (latest) maps.draw(latest);
    const steps = run.rows.length;
    reading.replaceChildren(...[
      `step ${number(steps, 6)}`, ...steps ? [...HEAD, LOSS].map(([, symbol, place]) => `${symbol} = ${fixed(run.rows.at(-1)[place])}`) : [],
    ].map((text) => html("span", {}, text)));
    if (playing) return; // while it trains, nothing is read aloud
    const said = latest ? inWords(records, attended(latest, setting.pairs)) : "";
    if (said !== summary.textContent) summary.textContent = said; // or it would be read again
    table.replaceChildren(html("caption", {}, "When the head forms"), ...eventsTable(records));
  });
  const picture = svg("svg", { role: "img", "aria-label": "Scores, γ₃ and loss by training step, with their predictions" });
  const shown = html("div", { class: "ex-pictures" });
  const reading = html("p", { class: "ex-reading" });
  const summary = html("p", { class: "ex-summary", role: "status" });
  const fault = html("p", { class: "ex-fault", role: "alert" });
  const table = html("table", { class: "ex-times" });
  const keys = html("p", { class: "ex-note ex-keys" }, ...Object.entries(KEYS).map(([kind, text]) => (
    html("span", {}, html("span", { class: `ex-key ${kind}`, "aria-hidden": "true" }), text))));

  // Controls
  const play = button("Train", () => {
    if (playing) {
      train({ until: 0 });
      return pause();
    }
    if (run.rows.length >= end()) longer += end();
    if (fallen(predicted) >= 0) predict({ until: end() });
    goal = reducedMotion() ? run.rows.length + LEAP : Infinity;
    playing = true;
    play.textContent = "Pause";
    go();
  });
  const step = button("One step", () => train({ until: run.rows.length + 1 }));
  const { head, rest } = controls(setting, () => {
    history.replaceState(null, "", toAddress(setting, location.href, mount.id));
    begin();
  });
  mount.replaceChildren(
    html("div", { class: "ex-buttons ex-run" }, play, step, button("Start again", begin), reading),
    html("div", { class: "ex-controls" }, ...head),
    html("details", { class: "ex-more" }, html("summary", {}, "All settings"), html("div", { class: "ex-controls" }, ...rest)),
    fault,
    html("div", { class: "ex-training" }, html("div", {}, picture, keys), shown),
    summary,
    html("div", { class: "ex-scroll", tabindex: 0, role: "region", "aria-label": "When the head forms" }, table),
  );
  mount.classList.add("ex-live");
  begin();
  new ResizeObserver(redraw).observe(mount);
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

showNear("training", show);
