/** What the explorable of clustering and alignment draws: particles, markers, a table, a sentence. */

import { fixed, html, number, svg } from "./dom.js";
import { linear } from "./chart.js";
import { markers, normalise, places } from "./particles.js";

const TITLE = 26; // pixels above a picture

/** A colour for each residue, round the circle of hues. */
const hue = (residue, n) => `hsl(${Math.round((360 * residue) / n)} 70% 50%)`;

function frame(size, extent, title) {
  const map = linear([-extent, extent], [8, size - 8]);
  const x = map, y = (value) => TITLE + size - map(value);
  const group = svg("g");
  group.append(
    svg("text", { class: "ex-title", x: 2, y: 14 }, title),
    svg("rect", { class: "ex-plane", x: 1, y: TITLE, width: size - 2, height: size - 2, rx: 4 }),
    svg("path", { class: "ex-cross", d: `M${x(0) - 5} ${y(0)}h10M${x(0)} ${y(0) - 5}v10` }),
  );
  return { group, x, y };
}

/** How far out to draw, in steps so that the picture does not tremble. */
function extentOf(points) {
  const farthest = Math.max(...points.map(([x, y]) => Math.max(Math.abs(x), Math.abs(y))));
  return Math.max(1.3, Math.ceil(4.6 * farthest) / 4);
}

/** The height of a picture of this width. */
export const heightOf = (size) => size + TITLE;

/** The particles, each with its residue. */
export function particlePicture(embeddings, size) {
  const { points } = normalise(embeddings);
  const { group, x, y } = frame(size, extentOf(points), "Embeddings: one particle for each residue");
  points.forEach(([u, v], a) => {
    const out = 14 / Math.max(Math.hypot(u, v), 1e-6); // the number stands away from the centre
    group.append(
      svg("circle", { class: "ex-particle", cx: x(u), cy: y(v), r: 6, fill: hue(a, points.length) }),
      svg("text", { class: "ex-number", x: x(u) + out * u, y: y(v) - out * v, dy: "0.35em", "text-anchor": "middle" }, a),
    );
  });
  return group;
}

/** The markers by their sum; one sum may be singled out. */
export function markerPicture(embeddings, size, sum) {
  const { points } = normalise(embeddings);
  const title = sum === null ? "Markers: one colour for each sum" : `Markers: those with sum ${sum} stand out`;
  const { group, x, y } = frame(size, 2 * extentOf(points), title);
  const n = points.length, pairs = markers(n);
  const marks = places(points, pairs);
  const order = pairs.map((_, i) => i).sort((i, j) => (pairs[i][2] === sum) - (pairs[j][2] === sum));
  for (const i of order) {
    const total = pairs[i][2];
    const faint = sum !== null && total !== sum;
    group.append(svg(
      "circle", { class: faint ? "ex-mark ex-faint" : "ex-mark", cx: x(marks[i][0]), cy: y(marks[i][1]), r: faint ? 3 : 4.5, fill: hue(total, n) },
      svg("title", {}, `${pairs[i][0]} + ${pairs[i][1]} = ${total} mod ${n}`),
    ));
  }
  return group;
}

/** Where the particles are, as numbers. */
export function particleTable(points) {
  const heads = ["Residue", "x", "y", "Distance from the centre", "Angle in degrees"];
  const rows = normalise(points).points.map(([u, v], a) => html(
    "tr", {}, html("th", { scope: "row" }, a),
    ...[fixed(u), fixed(v), fixed(Math.hypot(u, v)), fixed((Math.atan2(v, u) * 180) / Math.PI, 0)].map((text) => html("td", {}, text)),
  ));
  return [
    html("caption", {}, "Where the particles are, centred and with unit root mean square"),
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    html("tbody", {}, ...rows),
  ];
}

/** What there is to see, in words. */
export function describe({ steps, points }, { circle, grid, frequency, isCircle, isGrid }, kind = "particles") {
  const after = kind === "particles"
    ? `After ${number(steps, 6)} steps of ${points.length} particles`
    : `After ${number(steps, 6)} epochs of a network with ${points.length} embeddings`;
  const percent = (share) => `${Math.round(100 * share)}%`;
  const details = `${percent(circle)} of their variance has one frequency (${frequency}), and ${percent(grid)} of the marker pairs of the same sum coincide.`;
  if (isCircle && isGrid) return `${after} they are a circle and a grid: ${details}`;
  if (isCircle) return `${after} they form a circle: ${details}`;
  if (isGrid) return `${after} they form a grid: ${details}`;
  return `${after} they form neither circle nor grid: ${details}`;
}
