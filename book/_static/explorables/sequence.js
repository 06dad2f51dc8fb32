/** The explorable of a sequence: figures of one thing at several moments, one shown at a time. */

import { html, slider } from "./dom.js";
import { showNear } from "./near.js";

/** A mount holds the figures, and in `data-moments` the moment of each; without scripts all stand. */
function show(mount) {
  const moments = mount.dataset.moments.split(" ");
  const groups = []; // each figure with what belongs to it: its verdicts, and how it was made
  for (const child of mount.children) {
    if (child.querySelector("figure")) groups.push([]);
    groups.at(-1)?.push(child);
  }
  const choose = (chosen) => groups.forEach((group, i) => {
    for (const part of group) part.toggleAttribute("hidden", i !== chosen);
  });
  const step = slider({
    label: "Training step", min: 0, max: groups.length - 1, step: 1, value: 0,
    format: (i) => moments[i], change: choose,
  });
  /** A link to one of the figures shows it. */
  const follow = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const linked = groups.findIndex((group) => target && group.some((part) => part.contains(target)));
    if (linked < 0) return;
    step.set(linked);
    choose(linked);
    mount.scrollIntoView();
  };
  mount.prepend(html("div", { class: "ex-sequence" }, step.root));
  mount.classList.add("ex-live");
  choose(0);
  follow();
  addEventListener("hashchange", follow);
}

showNear("sequence", show);
