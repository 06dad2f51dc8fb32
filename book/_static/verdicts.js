// Filters for the table of verdicts. Without scripts all rows stand.
const rows = [...document.querySelectorAll("table.ledger tbody tr")];
const sections = [...new Set(rows.map((row) => row.closest("section")))];
const title = (section) => section.querySelector("h2").firstChild.textContent.trim();
const words = (slug) => slug.replaceAll("-", " ");

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

const names = {
  paper: "claims of the paper", new: "new results", companion: "companions", erratum: "errata",
  before: "before the measure", together: "not told", after: "after the measure",
  changed: "changed since", steady: "steady", flips: "flips", earlier: "agrees, in earlier code",
  turned: "turned by a fault", argued: "argued for", green: "turned by none", untried: "untried",
};
const distinct = (key) => [...new Set(rows.map((row) => row.dataset[key]))].filter(Boolean);
const filters = [["kind", "Kind"], ["verdict", "Verdict"], ["preregistration", "Expectation"], ["seeds", "Seeds"], ["rounding", "Rounding"], ["faults", "Faults"]]
  .filter(([key]) => distinct(key).length);
const form = element(
  "form",
  { class: "ledger-filter", "aria-label": "Filter the verdicts" },
  choice("section", "Section", sections.map((section) => [section.id, title(section)])),
  ...filters.map(([key, label]) =>
    choice(key, label, distinct(key).map((value) => [value, names[value] ?? words(value)]))),
);
const count = element("output", { "aria-live": "polite" });
form.append(count);

function apply() {
  const wanted = Object.fromEntries(new FormData(form));
  let shown = 0;
  for (const row of rows) {
    const fits =
      (!wanted.section || row.closest("section").id === wanted.section) &&
      filters.every(([key]) => !wanted[key] || row.dataset[key] === wanted[key]);
    row.hidden = !fits;
    shown += fits;
  }
  for (const section of sections) {
    section.hidden = !section.querySelector("tbody tr:not([hidden])");
  }
  count.textContent = `${shown} of ${rows.length} claims`;
}

function change() {
  apply();
  const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", `${location.pathname}?${chosen}`.replace(/\?$/, ""));
}

for (const [name, value] of new URLSearchParams(location.search)) {
  const select = form.elements.namedItem(name);
  if (select && [...select.options].some((option) => option.value === value)) select.value = value;
}
form.addEventListener("change", change);
form.addEventListener("submit", (event) => event.preventDefault());
sections[0]?.before(form);
apply();
