/** Elements and controls. Styles live in explorables.css: markup carries no style attributes. */

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; attributes that are functions listen to the event of their name. */
export function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element, likewise. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Set the size of a picture, in pixels. */
export function fit(picture, width, height) {
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
}

let count = 0;

/** An id that no other element has. */
export function freshId(stem) {
  return `${stem}-${++count}`;
}

/**
 * A labelled slider with its value beside it.
 * @param {object} options
 * @param {string} options.label plain text, read aloud
 * @param {string} [options.quantity] "alpha", "beta" or "gamma": the colour
 * @param {(value: number) => string} options.format
 * @param {(value: number) => string} [options.spoken] where more is said than shown
 * @param {(value: number) => void} options.change
 */
export function slider({ label, quantity, min, max, step, value, format, spoken = format, change }) {
  const id = freshId("slider");
  const shown = html("output", { for: id });
  const input = html("input", { id, type: "range", min, max, step });
  const show = () => {
    shown.textContent = format(Number(input.value));
    input.setAttribute("aria-valuetext", spoken(Number(input.value)));
    input.style.setProperty("--at", (Number(input.value) - min) / (Number(input.max) - min));
  };
  input.addEventListener("input", () => {
    show();
    change(Number(input.value));
  });
  const set = (number) => {
    input.value = number;
    show();
  };
  set(value);
  const root = html(
    "div", { class: `ex-slider${quantity ? ` q-${quantity}` : ""}` },
    html("label", { for: id }, label), shown, input,
  );
  return { root, input, set };
}

/** One choice of several, as radio buttons that look like one bar. */
export function choice({ legend, options, value, change }) {
  const name = freshId("choice");
  const inputs = new Map();
  const root = html("fieldset", { class: "ex-choice" }, html("legend", {}, legend));
  const bar = html("div", { class: "ex-bar" });
  for (const [key, text] of Object.entries(options)) {
    const id = freshId(name);
    const input = html("input", {
      type: "radio", id, name, value: key, checked: key === value, change: () => change(key),
    });
    inputs.set(key, input);
    bar.append(input, html("label", { for: id }, text));
  }
  root.append(bar);
  return { root, set: (key) => { inputs.get(key).checked = true; } };
}

/** A push button. */
export function button(text, click) {
  return html("button", { type: "button", class: "ex-button", click }, text);
}

/** Call `draw` at most once a frame, however often it is asked for. */
export function oncePerFrame(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
}

/** Whether the reader asked for less motion. */
export function reducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A power of ten, 10¹². */
export function power(exponent) {
  const digits = [...String(Math.abs(exponent))].map((digit) => RAISED[digit]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${digits}`;
}

/** A number to so many significant digits: 0.5, 1,007, 1.71 × 10¹². */
export function number(value, digits = 4) {
  if (!Number.isFinite(value)) return value > 0 ? "never" : String(value);
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= Math.max(6, digits) || exponent < -3) {
    return `${(value / 10 ** exponent).toFixed(digits - 1)} × ${power(exponent)}`;
  }
  return minus(value.toLocaleString("en", { maximumSignificantDigits: Math.max(digits, exponent + 1) }));
}

/** A number with fixed decimals and a true minus sign, which zero has not. */
export function fixed(value, decimals = 2) {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : minus(text);
}

function minus(text) {
  return text.replace("-", "−");
}
