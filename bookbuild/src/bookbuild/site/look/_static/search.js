// What a search shows beside the theme's own results: figures, theorems and symbols by their names,
// and excerpts in which formulas can be read. The build laid both beside the pages.
import { load, TOP } from "./cards.js";

const GREEK = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi", "omicron", "pi", "rho", "sigma", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"];
const MOST = 8;

/** A name as the build writes its keys: "Fig. 4" is fig4, "α₃" is alpha3. */
function key(text) {
  return text.normalize("NFKC").toLowerCase()
    .replace(/[α-ω]/g, (letter) => GREEK[letter.codePointAt(0) - 945])
    .replace(/[^a-z0-9]/g, "");
}

function hits(names, query) {
  const wanted = key(query);
  if (!wanted) return [];
  const exact = names.filter(({ keys }) => keys.includes(wanted))
    .sort((a, b) => a.keys.length - b.keys.length); // a symbol before a list of them
  const begun = wanted.length < 3 || /\d$/.test(wanted) ? []
    : names.filter(({ keys }) => keys.some((one) => one.startsWith(wanted)));
  return [...new Set([...exact, ...begun])].slice(0, MOST);
}

function item({ name, href, text, kind, number }) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = new URL(href, TOP);
  link.textContent = name;
  line.append(link, text ? ` — ${text}` : "");
  if (kind !== "symbol") {
    const verdict = document.createElement("a");
    verdict.href = new URL(`book/verdicts.html?kind=paper&item=${kind}-${number}`, TOP);
    verdict.textContent = "its verdicts";
    line.append(" (", verdict, ")");
  }
  return line;
}

async function named() {
  const query = new URLSearchParams(location.search).get("q") ?? "";
  const found = hits((await load("names")) ?? [], query);
  const place = document.getElementById("search-results");
  if (!found.length || !place) return;
  const list = document.createElement("ul");
  list.className = "named-results";
  list.append(...found.map(item));
  const title = document.createElement("h2");
  title.textContent = "By name";
  place.before(title, list);
}

const fetched = globalThis.fetch;
globalThis.fetch = async (address) => {
  const name = new URL(address, location.href).href.slice(TOP.href.length);
  const text = name.endsWith(".html") ? await load(name.replace(/\.html$/, ".text")) : null;
  if (text !== null || location.protocol === "file:") return new Response(text ?? "");
  return fetched(address);
};
named();
