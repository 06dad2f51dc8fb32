/** The explorable of clustering and alignment: particles, or a network, that move while you watch. */

import { split, startWeights, training } from "./adder.js";
import { describe, heightOf, markerPicture, particlePicture, particleTable } from "./clustering-view.js";
import { button, fit, fixed, freshId, html, number, oncePerFrame, reducedMotion, slider, svg } from "./dom.js";
import { showNear } from "./near.js";
import { markers, scores, SEED, simulation, start } from "./particles.js";

const STEPS_A_FRAME = 4;
const KINDS = { particles: "Particles", network: "A network" };
const PAUSE_AFTER = 1500; // steps: a run of the chapter
const LEAP = 100; // steps at once, for readers who want less motion
const TWO_COLUMNS = 560; // from this width on

function show(mount) {
  const setting = { mix: 1, width: 0.5, core: 0.3, rate: 0.02 };
  const learning = { decay: 1, rate: 0.01 };
  const state = { n: 17, seed: SEED, sum: null, kind: "particles", heldOut: 0.2 };
  const begin = () => {
    if (state.kind === "particles") return simulation(start(state.n, state.seed));
    const trained = split(markers(state.n).length, state.heldOut, state.seed);
    return training(startWeights(state.n, state.seed), trained);
  };
  let run = begin();
  let frame = 0;

  const redraw = oncePerFrame(() => {
    const width = mount.clientWidth;
    if (width === 0) return;
    const size = Math.floor(width >= TWO_COLUMNS ? (width - 16) / 2 : Math.min(width, 400));
    for (const picture of [particles, marks]) fit(picture, size, heightOf(size));
    particles.replaceChildren(particlePicture(run.points, size));
    marks.replaceChildren(markerPicture(run.points, size, state.sum));
    const found = scores(run.points);
    const learned = Number.isFinite(run.loss)
      ? [`loss ${number(run.loss, 2)}`, `held-out accuracy ${Number.isFinite(run.accuracy) ? fixed(run.accuracy) : "none held out"}`]
      : [];
    reading.replaceChildren(...[
      `step ${number(run.steps, 6)}`, `circle score ${fixed(found.circle)}`, `grid score ${fixed(found.grid)}`, ...learned,
    ].map((text) => html("span", {}, `${text} `)));
    if (frame) return; // while they move, nothing is read aloud
    summary.textContent = describe(run, found, state.kind);
    table.replaceChildren(...particleTable(run.points));
  });
  const steps = (count) => {
    for (let i = 0; i < count; i++) run.step(state.kind === "particles" ? setting : learning);
  };

  // Time
  function pause() {
    cancelAnimationFrame(frame);
    frame = 0;
    play.textContent = reducedMotion() ? `${LEAP} steps` : "Play";
    redraw();
  }
  function tick() {
    steps(STEPS_A_FRAME);
    if (run.steps % PAUSE_AFTER < STEPS_A_FRAME) return pause();
    frame = requestAnimationFrame(tick);
    redraw();
  }
  const play = button("", () => {
    if (reducedMotion()) steps(LEAP);
    if (frame || reducedMotion()) return pause();
    frame = requestAnimationFrame(tick);
    play.textContent = "Pause";
  });
  const single = button("One step", () => {
    steps(1);
    pause();
  });
  const restart = () => {
    run = begin();
    sum.input.max = state.n;
    sum.set(Math.min(Number(sum.input.value), state.n));
    state.sum = sumOf(Number(sum.input.value));
    pause();
  };

  // Controls
  const control = (key, options, values = setting) => slider({
    value: values[key], change: (value) => { values[key] = value; }, ...options,
  }).root;
  const ofKind = {
    particles: html(
      "div", { class: "ex-grid" },
      control("mix", { label: "Share of alignment; the rest is clustering", min: 0, max: 1, step: 0.05, format: (x) => `${Math.round(100 * x)}%` }),
      control("width", { label: "Reach of clustering", min: 0.2, max: 1, step: 0.05, format: (x) => fixed(x) }),
      control("core", { label: "Core without direction", min: 0, max: 0.6, step: 0.05, format: (x) => fixed(x) }),
      control("rate", { label: "Step size", min: 0.002, max: 0.1, step: 0.002, format: (x) => fixed(x, 3) }),
    ),
    network: html(
      "div", { class: "ex-grid", hidden: "" },
      control("decay", { label: "Weight decay", min: 0, max: 2, step: 0.05, format: (x) => fixed(x) }, learning),
      control("rate", { label: "Learning rate", min: 0.001, max: 0.03, step: 0.001, format: (x) => fixed(x, 3) }, learning),
      slider({
        label: "Pairs held out for validation", min: 0, max: 0.5, step: 0.05, value: state.heldOut,
        format: (x) => `${Math.round(100 * x)}%`,
        change: (value) => {
          state.heldOut = value;
          restart();
        },
      }).root,
    ),
  };
  const kindId = freshId("kind");
  const kind = html(
    "select", {
      id: kindId,
      change: () => {
        state.kind = kind.value;
        for (const [name, group] of Object.entries(ofKind)) group.hidden = name !== state.kind;
        restart();
      },
    },
    ...Object.entries(KINDS).map(([value, text]) => html("option", { value }, text)),
  );
  const sumOf = (value) => (value === 0 ? null : value - 1);
  const sum = slider({
    label: "Single out the sum", min: 0, max: state.n, step: 1, value: 0,
    format: (value) => (value === 0 ? "all" : String(value - 1)),
    change: (value) => {
      state.sum = sumOf(value);
      redraw();
    },
  });
  const size = slider({
    label: "Residues", min: 3, max: 29, step: 1, value: state.n, format: String,
    change: (value) => {
      state.n = value;
      restart();
    },
  });
  const seedId = freshId("seed");
  const seed = html("input", {
    id: seedId, type: "number", min: 0, max: 999999, step: 1, value: state.seed,
    change: () => {
      state.seed = Math.min(Math.max(Math.round(Number(seed.value)) || 0, 0), 999999);
      seed.value = state.seed;
      restart();
    },
  });
  const other = button("Next start", () => {
    state.seed += 1;
    seed.value = state.seed;
    restart();
  });

  // Pictures
  const summary = html("p", { class: "ex-summary", role: "status" });
  const reading = html("p", { class: "ex-reading" });
  const particles = svg("svg", { role: "img", "aria-label": "The particles in the plane, each with its residue" });
  const marks = svg("svg", { role: "img", "aria-label": "The markers, sums of two particles, coloured by the sum of their residues" });
  const table = html("table", { class: "ex-times" });

  mount.replaceChildren(
    html("p", { class: "ex-seed" }, html("label", { for: kindId }, "What moves"), kind),
    ofKind.particles, ofKind.network,
    html(
      "div", { class: "ex-grid" },
      size.root, sum.root,
    ),
    html(
      "div", { class: "ex-buttons ex-run" }, play, single, button("Start again", restart), other,
      html("span", { class: "ex-seed" }, html("label", { for: seedId }, "Seed"), seed),
    ),
    summary, html("div", { class: "ex-charts" }, particles, marks), reading,
    html(
      "details", { class: "ex-more" }, html("summary", {}, "The same as a table"),
      html("div", { class: "ex-scroll", tabindex: 0, role: "region", "aria-label": "Places of the particles" }, table),
    ),
  );
  mount.classList.add("ex-live");
  pause();
  new ResizeObserver(redraw).observe(mount);
}

showNear("clustering", show);
