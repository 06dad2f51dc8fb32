// Filters for the verdicts, and folds that open where an address leads. Without scripts all rows
// stand folded under their chapters, and the browser opens them.
const rows = [...document.querySelectorAll("details.claim")];
const chapters = [...document.querySelectorAll("details.claims")];
const parts = [...new Set(chapters.map((chapter) => chapter.closest("section")))];
const texts = new Map();
const words = (slug) => slug.replaceAll("-", " ");
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function choice(name, label, options) {
  const select = element("select", { id: `filter-${name}`, name });
  select.append(new Option("all", ""), ...options.map(([value, text]) => new Option(text, value)));
  return element("label", { for: select.id }, `${label} `, select);
}

// what the evidence of the book tells of each row in one word, in this order, and what a filter says for it
const questions = JSON.parse(document.getElementById("questions")?.dataset.questions ?? "[]");
const names = Object.assign({
  paper: "claims of the paper, as printed", sharper: "sharper readings", new: "new results", companion: "companions", erratum: "errata",
}, ...questions.map(([, , told]) => told));
const itemName = (key) => capital(words(key)).replace(/^Section /, "§").replace(/^Appendix (.)/, (_, letter) => `Appendix ${letter.toUpperCase()}`);
const MORE = questions.map(([key, label]) => [key, label]);
const record = Object.fromEntries(MORE.map(([key], place) => [key, place]));
const values = (row, key) => {
  if (key === "verdict") return [row.querySelector(".verdict").classList[1]];
  const told = key in record ? row.dataset.records.split(" ")[record[key]] : row.dataset[key];
  return told?.split(" ").filter(Boolean) ?? [];
};
const distinct = (key) => [...new Set(rows.flatMap((row) => values(row, key)))];
// as in the matrix above the table
const order = [...document.querySelectorAll(".matrix a[href*='item=']")]
  .map((link) => new URL(link.href).searchParams.get("item"));
const byMatrix = (a, b) => order.indexOf(a) - order.indexOf(b);
const options = (key) => key === "item"
  ? distinct(key).filter((value) => order.includes(value)).sort(byMatrix).map((value) => [value, itemName(value)])
  : distinct(key).map((value) => [value, names[value] ?? words(value)]);

const FIRST = [["item", "Figure or theorem"], ["verdict", "Verdict"], ["kind", "Kind"]];
const filters = [...FIRST, ...MORE].filter(([key]) => distinct(key).length);
const choices = (wanted) => wanted.filter((one) => filters.includes(one))
  .map(([key, label]) => choice(key, label, options(key)));
const title = (chapter) => chapter.querySelector(".claims-title").textContent;
const search = element("input", { id: "filter-text", name: "text", type: "search", autocomplete: "off" });
const count = element("output", { "aria-live": "polite" });
const records = element("details", { class: "more-filters" },
  element("summary", {}, "By record"), element("div", {}, ...choices(MORE)));
const form = element(
  "form", { class: "ledger-filter", "aria-label": "Filter the claims" },
  element("label", { for: search.id }, "Text ", search),
  ...choices(FIRST),
  choice("chapter", "Chapter", chapters.map((chapter) => [chapter.dataset.chapter, title(chapter)])),
  ...(MORE.some(([key]) => distinct(key).length) ? [records] : []),
  element("button", { type: "reset" }, "Show all"),
  count,
);

function text(row) {
  if (!texts.has(row)) texts.set(row, `${row.textContent} ${row.id.replace("claim-", "")}`.toLowerCase());
  return texts.get(row);
}

/** Show the rows that fit, and open the chapters that hold some if anything is asked for. */
function apply() {
  const wanted = Object.fromEntries(new FormData(form));
  const asked = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  const isFiltered = Object.values(wanted).some((value) => value.trim());
  let shown = 0;
  for (const chapter of chapters) {
    let inside = 0;
    for (const row of chapter.querySelectorAll("details.claim")) {
      const fits =
        (!wanted.chapter || chapter.dataset.chapter === wanted.chapter) &&
        filters.every(([key]) => !wanted[key] || values(row, key).includes(wanted[key])) &&
        asked.every((word) => text(row).includes(word));
      row.hidden = !fits;
      inside += fits;
    }
    chapter.hidden = !inside;
    chapter.open = isFiltered && inside > 0;
    shown += inside;
  }
  for (const part of parts) part.hidden = !part.querySelector("details.claims:not([hidden])");
  count.textContent = `${shown} of ${rows.length} claims`;
}

function change() {
  apply();
  const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", `${location.pathname}?${chosen}`.replace(/\?$/, ""));
}

/** Open the row that the address names, and go there. */
function reveal() {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!row?.matches("details.claim")) return;
  if (row.hidden) {
    for (const field of form.elements) if (field.name) field.value = "";
    apply();
  }
  row.closest("details.claims").open = true;
  row.open = true;
  row.scrollIntoView();
}

// each row has a lasting address, told when the row is opened
for (const row of rows) row.addEventListener("toggle", () => {
  if (row.querySelector(".lasting")) return;
  const name = row.id.replace("claim-", "");
  row.append(element("a", { class: "lasting", href: `../claims/${name}.html` }, "Lasting address"));
});

const query = new URLSearchParams(location.search);
for (const [name, value] of query) {
  const field = form.elements.namedItem(name);
  if (field === search) search.value = value;
  else if (field && [...field.options].some((option) => option.value === value)) field.value = value;
}
records.open = MORE.some(([key]) => query.has(key));
form.addEventListener("input", change);
form.addEventListener("reset", () => setTimeout(change));
form.addEventListener("submit", (event) => event.preventDefault());
parts[0]?.before(form);
apply();
addEventListener("hashchange", reveal);
if (location.hash) reveal();
else if (query.size && rows.some((row) => !row.hidden)) form.scrollIntoView();
