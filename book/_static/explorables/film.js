/** The explorable of a head being born: a small training of §2, its matrices, attention and loss together. */

import { linear, ticks } from "./chart.js";
import { fit, fixed, html, number, oncePerFrame, svg } from "./dom.js";
import { attentionMap, lossChart, mapsOf, matrix } from "./film-view.js";
import { showNear } from "./near.js";
import { playback } from "./playback.js";
import { unveil } from "./unveil.js";

const HEIGHT = 190; // of the curve of the loss, in pixels
const EVENTS = {
  previous: { quantity: "alpha", words: "labels give half of their attention to the item before them" },
  label: { quantity: "beta", words: "the query gives half of its attention to the label that it asks for" },
  answer: { quantity: "gamma", words: "the right answer gets a probability of one half" },
};
const ATTENTION = 170, GAP = 32; // of a map of attention and between two, in pixels
const COLUMNS = 560; // from this width on, the loss stands beside them

function show(mount) {
  const film = JSON.parse(mount.querySelector("[data-film]").dataset.film);
  const maps = mapsOf(film);
  const last = film.steps.length - 1, end = film.steps[last];
  const frameAt = (at) => Math.round(at * last);
  let view; // how the loss is drawn: its time axis

  const time = playback({
    label: "Training step", places: last, seconds: 8,
    format: (at) => number(film.steps[frameAt(at)]),
    spoken: (at) => inWords(film, frameAt(at)),
    moved: () => redraw(),
    next: (at) => nextEvent(film, at),
  });
  const matrices = ["layer1", "layer2", "output"].map((name) => matrix(name, maps[name]));
  const attentions = ["first", "second"].map((name) => attentionMap(name, maps[name], film.context));
  const loss = svg("svg", { role: "img", "aria-label": "The curve of the loss", class: "ex-curves", pointerdown: point, pointermove: point });
  const cursor = svg("line", { class: "ex-cursor" });
  const summary = html("p", { class: "ex-summary" });

  function point(event) {
    if (event.type === "pointermove" && event.buttons === 0) return;
    time.pause();
    time.go(view.x.map.invert(event.clientX - loss.getBoundingClientRect().left) / end);
  }
  const layout = oncePerFrame(() => {
    const width = mount.clientWidth;
    if (width === 0) return;
    // a whole number of pixels a cell, the same in all three matrices
    const cell = Math.max(2, Math.floor((width - 8) / film.maps.output.columns));
    for (const { fitTo } of matrices) fitTo(cell);
    const size = Math.min(Math.floor((width - GAP) / 2), ATTENTION);
    for (const { fitTo } of attentions) fitTo(size);
    const beside = width >= COLUMNS ? width - 2 * (size + GAP) - 8 : width;
    const x = { map: linear([0, end], [34, beside - 10]), ticks: ticks(0, end, 4), label: "training step" };
    view = { x };
    fit(loss, beside, HEIGHT);
    loss.replaceChildren(lossChart(film, x, beside, HEIGHT), cursor);
    time.refresh();
    draw();
  });
  const redraw = oncePerFrame(() => view && draw());
  function draw() {
    const frame = frameAt(time.at()), step = film.steps[frame];
    for (const map of [...matrices, ...attentions]) map.draw(frame);
    const pixel = view.x.map(step);
    for (const [name, value] of Object.entries({ x1: pixel, x2: pixel, y1: 24, y2: HEIGHT - 38 })) cursor.setAttribute(name, value);
    unveil(loss, { pixel, t: step, playing: time.playing() });
    summary.textContent = inWords(film, frame);
  }

  const figure = (name, ...parts) => html(
    "figure", { class: `q-${maps[name].quantity}` }, html("figcaption", {}, maps[name].title), ...parts,
  );
  mount.replaceChildren(
    html("div", { class: "ex-time" }, time.play, time.slider),
    summary,
    html("div", { class: "ex-maps" }, ...matrices.map(({ name, root }) => figure(name, root))),
    html(
      "div", { class: "ex-maps" },
      ...attentions.map(({ name, root }) => figure(name, root)),
      html("figure", { class: "q-loss" }, html("figcaption", {}, "Loss of the batch"), loss),
    ),
    html("table", { class: "ex-times ex-wrapped" }, html("caption", {}, "When each part of the head has formed"), ...eventsTable(film)),
  );
  mount.classList.add("ex-live");
  new ResizeObserver(layout).observe(mount);
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

/** What a frame shows, in one sentence each for both layers, the answer and the loss. */
function inWords({ context, steps, loss, previous, label, answer }, frame) {
  const asked = context.at(-1), right = context[context.indexOf(asked) + 1];
  const share = (values) => `${Math.round(100 * values[frame])}%`;
  const now = loss[Math.min(steps[frame], loss.length - 1)];
  return `Step ${steps[frame]}, loss ${fixed(now)}. In layer 1, labels give ${share(previous)} of their attention to the item `
    + `before them. In layer 2, the query ${asked} gives ${share(label)} to ${right}. The answer ${right} gets the probability ${share(answer)}.`;
}

/** The frames in which shares pass one half: those that do, in their order. */
function events(film) {
  const frames = Object.keys(EVENTS).map((name) => [name, film[name].findIndex((share) => share >= 0.5)]);
  return frames.filter(([, frame]) => frame >= 0).sort(([, a], [, b]) => a - b);
}

function eventsTable(film) {
  const rows = events(film).map(([name, frame]) => html(
    "tr", { class: `q-${EVENTS[name].quantity}`, "data-event": name },
    html("th", { scope: "row" }, html("span", { class: "ex-swatch", "aria-hidden": "true" }), EVENTS[name].words),
    html("td", {}, film.steps[frame]),
  ));
  const heads = ["Event", "Training step"].map((head) => html("th", { scope: "col" }, head));
  return [html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows)];
}

/** The place of the next event, or of the end; from there that of the first. */
function nextEvent(film, at) {
  const last = film.steps.length - 1;
  const places = [...events(film).map(([, frame]) => frame / last), 1];
  return places.find((place) => place > at + 1e-9) ?? places[0];
}

showNear("film", show);
