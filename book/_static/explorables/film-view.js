/** What the film draws: matrices as pixels, attention as cells with letters, the curve of the loss. */

import { axes, linear, path, ticks } from "./chart.js";
import { fit, html, svg } from "./dom.js";
import { paint } from "./pixels.js";
import { growing } from "./unveil.js";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const TOP = 31; // digits above that of zero
const GROUPS = ["E", "P", "E′", "P′", "E″", "P″", "E‴", "P‴"]; // of directions, as in §2
const HEAD = 20; // pixels above a matrix, for the names of groups
// Where the band of each matrix is, in groups: its row (the output has one, of tokens) and column.
const BANDS = { layer1: [1, 1], layer2: [0, 2], output: [0, 4] };

const TITLES = {
  layer1: ["alpha", "Layer 1: scores"],
  layer2: ["beta", "Layer 2: scores"],
  output: ["gamma", "Output: logits"],
  first: ["alpha", "Attention of layer 1"],
  second: ["beta", "Attention of layer 2"],
};

/** The maps of a film: their levels from -TOP to TOP by frame, their titles and colours. */
export function mapsOf(film) {
  const level = new Map([...DIGITS].map((digit, i) => [digit.charCodeAt(0), i - TOP]));
  return Object.fromEntries(Object.entries(film.maps).map(([name, { rows, columns, frames }]) => {
    const [quantity, title] = TITLES[name];
    const size = rows * columns;
    const levels = Int8Array.from(frames, (digit) => level.get(digit.charCodeAt(0)));
    const at = (frame) => levels.subarray(frame * size, (frame + 1) * size);
    const groups = groupsOf(columns, film.maps.output.rows, film.maps.layer1.columns);
    return [name, { rows, columns, at, quantity, title, groups, spoken: `${title}, ${rows} rows and ${columns} columns` }];
  }));
}

/** The groups of a matrix's columns: tokens and positions in turn. */
function groupsOf(columns, tokens, both) {
  const groups = [];
  for (let start = 0; start < columns; start = groups.at(-1).end) {
    const end = start + (groups.length % 2 ? both - tokens : tokens);
    groups.push({ start, end, title: GROUPS[groups.length] });
  }
  return groups;
}

/** A matrix with the names of its groups above, and a frame about the block that holds its band. */
export function matrix(name, map) {
  const { rows, columns, spoken, groups } = map;
  const canvas = html("canvas", { width: columns, height: rows, role: "img", "aria-label": spoken });
  const overlay = svg("svg", { "aria-hidden": "true" });
  const edges = [0, ...groups.map(({ end }) => end)];
  const fitTo = (cell) => {
    const [width, height] = [cell * columns, cell * rows + HEAD];
    fit(overlay, width, height);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${cell * rows}px`;
    const [row, column] = BANDS[name];
    overlay.replaceChildren(
      ...edges.slice(1, -1).map((edge) => svg("line", { class: "ex-zero", x1: cell * edge, x2: cell * edge, y1: HEAD, y2: height })),
      ...groups.map(({ start, end, title }) => svg("text", { x: (cell * (start + end)) / 2, y: HEAD - 6, "text-anchor": "middle" }, title)),
      svg("rect", {
        class: "ex-block", x: cell * edges[column] + 1, y: HEAD + cell * edges[row] + 1,
        width: cell * (edges[column + 1] - edges[column]) - 2, height: cell * (name === "output" ? rows : edges[row + 1] - edges[row]) - 2,
      }),
    );
  };
  return { name, root: html("div", { class: "ex-matrix" }, overlay, canvas), fitTo, draw: (frame) => paint(canvas, map.at(frame), TOP) };
}

/** The attention of a layer on the context: each row attends to the columns. */
export function attentionMap(name, map, context) {
  const letters = [...context];
  const root = svg("svg", { role: "img", "aria-label": `${map.title}: each row of the context attends to the columns` });
  const cells = [];
  const fitTo = (size) => {
    const cell = Math.floor(size / (letters.length + 1));
    fit(root, cell * (letters.length + 1), cell * (letters.length + 1));
    const place = (i) => cell * (i + 1);
    const named = letters.flatMap((letter, i) => [
      svg("text", { class: "ex-symbol", x: place(i) + cell / 2, y: cell / 2, dy: "0.35em", "text-anchor": "middle" }, letter),
      svg("text", { class: "ex-symbol", x: cell / 2, y: place(i) + cell / 2, dy: "0.35em", "text-anchor": "middle" }, letter),
    ]);
    cells.length = 0;
    for (let row = 0; row < letters.length; row++) {
      for (let column = 0; column < letters.length; column++) {
        cells.push(svg("rect", { class: "ex-cell", x: place(column), y: place(row), width: cell, height: cell }));
      }
    }
    root.replaceChildren(...named, ...cells);
  };
  const draw = (frame) => map.at(frame).forEach((level, i) => {
    const opacity = (level / TOP).toFixed(2);
    if (cells[i].getAttribute("fill-opacity") !== opacity) cells[i].setAttribute("fill-opacity", opacity);
  });
  return { name, root, fitTo, draw };
}

/** The loss of each step's batch, drawn as far as the film has come. */
export function lossChart(film, x, width, height) {
  const box = { left: 34, right: width - 10, top: 24, bottom: height - 38 };
  const most = Math.max(...film.loss);
  const map = linear([0, most], [box.bottom, box.top]);
  const line = path(film.loss.map((loss, step) => [x.map(step), map(loss)]), { class: "ex-curve q-loss" });
  return svg("g", {}, axes({ box, x, y: { map, ticks: ticks(0, most, 3), label: "loss", quantity: "loss" } }), growing(box, line));
}
