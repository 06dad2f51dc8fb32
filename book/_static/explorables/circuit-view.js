/** What the explorable of the circuit draws: which token attends to which, the answer, both attention maps. */

import { fixed, html, svg } from "./dom.js";
import { linear } from "./chart.js";

const VISIBLE = 0.015; // a fainter arc would only be noise

/**
 * The context as a row of tokens: below, each attends back in layer 1; above, the query attends back in
 * layer 2; on top, the answer along each symbol.
 */
export function contextPicture(circuit, symbols, query, width) {
  const tokens = [...symbols, symbols[2 * query]];
  const last = tokens.length - 1;
  const cell = Math.min(56, (width - 8) / tokens.length);
  const left = (width - cell * tokens.length) / 2 + cell / 2;
  const x = (i) => left + i * cell;
  const half = Math.min(cell * 0.42, 17);
  const reach = Math.min(96, cell * 4);
  const bars = { zero: 124, top: 42 };
  const line = bars.zero + reach + 54;
  const height = line + half + cell * 0.75 + 34;
  const extent = Math.max(1, ...circuit.output.map(Math.abs));
  const y = linear([0, extent], [bars.zero, bars.top]);
  const group = svg("g");
  group.append(
    svg("text", { class: "ex-title", x: 2, y: 14 }, "Answer along each symbol"),
    svg("line", { class: "ex-zero", x1: x(0) - half, x2: x(last - 1) + half, y1: bars.zero, y2: bars.zero }),
  );
  circuit.output.forEach((value, i) => {
    const target = i === 2 * query + 1;
    const [from, to] = [y(Math.max(0, value)), y(Math.min(0, value))];
    group.append(svg("rect", {
      class: target ? "ex-answer q-gamma" : "ex-answer", x: x(i) - half * 0.7, width: half * 1.4,
      y: from, height: Math.max(0.75, to - from),
    }));
    if (target) {
      group.append(svg("text", { class: "ex-value", x: x(i), y: from - 5, "text-anchor": "middle" }, fixed(value)));
    }
  });
  circuit.layer2[last].forEach((weight, i) => {
    if (weight > VISIBLE && i < last) {
      const rise = Math.min(reach, (last - i) * cell * 0.5 + 14);
      group.append(arc(x(last), x(i), line - half - 2, -rise, weight, "beta"));
    }
  });
  circuit.layer1.forEach((row, i) => row.forEach((weight, j) => {
    if (weight > VISIBLE && i < last) {
      const fall = Math.min(cell * 0.75, (i - j) * cell * 0.3 + 10);
      group.append(arc(x(i), x(j), line + half + 2, fall, weight, "alpha"));
    }
  }));
  tokens.forEach((symbol, i) => {
    const kind = i === last ? "query" : i % 2 ? "label" : "item";
    group.append(
      svg("rect", {
        class: `ex-token ex-${kind}`, x: x(i) - half, y: line - half, width: 2 * half, height: 2 * half, rx: 5,
      }),
      svg("text", { class: "ex-symbol", x: x(i), y: line, dy: "0.36em", "text-anchor": "middle" }, symbol),
    );
  });
  group.append(
    svg("text", { class: "ex-title", x: 2, y: bars.zero + 22 }, "Layer 2: the query attends to"),
    svg("text", { class: "ex-title", x: 2, y: height - 8 }, "Layer 1: each position attends to"),
  );
  return { group, height: Math.round(height) };
}

/** An arc that ends in an arrow head at what it attends to; its weight is its width and its ink. */
function arc(from, to, y, bend, weight, quantity) {
  const head = Math.sign(bend) * -1;
  return svg(
    "g", { class: `ex-arc q-${quantity}`, opacity: 0.12 + 0.88 * weight },
    svg("path", {
      d: `M${from} ${y}C${from} ${y + bend * 1.3} ${to} ${y + bend * 1.3} ${to} ${y}`,
      fill: "none", "stroke-width": 0.6 + 2.6 * weight,
    }),
    svg("path", { class: "ex-head", d: `M${to} ${y}l-4 ${-7 * head}h8z` }),
  );
}

/** One attention map: row attends to column, ink is weight. */
export function attentionMap(weights, tokens, size, quantity) {
  const edge = 22;
  const cell = (size - edge) / tokens.length;
  const group = svg("g", { class: `ex-map q-${quantity}` });
  tokens.forEach((symbol, i) => {
    const middle = edge + (i + 0.5) * cell;
    group.append(
      svg("text", { x: middle, y: edge - 7, "text-anchor": "middle" }, symbol),
      svg("text", { x: edge - 7, y: middle, dy: "0.35em", "text-anchor": "end" }, symbol),
    );
    weights[i].forEach((weight, j) => {
      const masked = j >= i;
      group.append(svg(
        "rect",
        {
          class: masked ? "ex-masked" : "ex-cell", x: edge + j * cell, y: edge + i * cell,
          width: cell - 1, height: cell - 1, "fill-opacity": masked ? 1 : weight,
        },
        svg("title", {}, masked ? `${symbol} does not see ${tokens[j]}` : `${symbol} attends to ${tokens[j]}: ${weight.toFixed(3)}`),
      ));
    });
  });
  if (quantity === "beta") {
    const row = tokens.length - 1;
    group.append(svg("rect", {
      class: "ex-row", x: edge - 1.5, y: edge + row * cell - 1.5, width: size - edge + 1, height: cell + 1,
    }));
  }
  return group;
}

/** The query's attention and the answer as numbers. */
export function attentionTable(circuit, symbols, query) {
  const heads = ["Symbol", "Its attention to the query's item", "The query's attention to it", "Component of the answer"];
  const looked = circuit.layer2[symbols.length];
  const rows = symbols.map((symbol, i) => html(
    "tr", { class: i === 2 * query + 1 ? "q-gamma" : "" },
    html("th", { scope: "row" }, symbol),
    html("td", {}, fixed(circuit.layer1[i][2 * query], 3)),
    html("td", {}, fixed(looked[i], 3)),
    html("td", {}, fixed(circuit.output[i], 3)),
  ));
  return [
    html("caption", {}, "Attention and answer, symbol by symbol"),
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    html("tbody", {}, ...rows),
  ];
}
