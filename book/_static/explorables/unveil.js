/** Lines that are drawn as time goes. */

import { clip } from "./chart.js";
import { freshId, svg } from "./dom.js";

/** Lines that `unveil` draws as time goes; what lies ahead is pale, and nothing while it plays. */
export function growing(box, ...lines) {
  const [all, by] = [freshId("lines"), freshId("by-now")];
  return svg(
    "g", { class: "ex-growing" },
    clip(by, box),
    svg("use", { class: "ex-ahead", href: `#${all}` }),
    svg("g", { "clip-path": `url(#${by})` }, svg("g", { id: all }, ...lines)),
  );
}

/**
 * Draw the lines of a picture up to a pixel, and what has `data-at`, a time, once it has come.
 * @param {SVGElement} picture
 * @param {{pixel: number, t: number, playing: boolean}} now
 */
export function unveil(picture, { pixel, t, playing }) {
  picture.classList.toggle("ex-playing", playing);
  for (const shape of picture.querySelectorAll(".ex-growing > clipPath rect")) {
    shape.setAttribute("width", Math.max(0, pixel - shape.getAttribute("x")));
  }
  for (const mark of picture.querySelectorAll("[data-at]")) mark.toggleAttribute("hidden", Number(mark.dataset.at) > t);
}
