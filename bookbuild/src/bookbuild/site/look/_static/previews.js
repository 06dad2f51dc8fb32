// Previews of what a link leads to: equations, figures, theorems, sources, and symbols of the
// glossary. They come on hover and with the keyboard's focus, and go with Escape. A finger that
// taps a link follows it.
// What lies beside each page for other pages to show is loaded as a script, for `file:` forbids to
// fetch.
const LINKS = "article a[href*='#']:not(.headerlink), article .math.symbol";
const KINDS = "figure, .math, .proof, .admonition, .citation";
const GLOSSARY = "book/glossary";
const WAIT = 200; // milliseconds, so that a pointer may cross links, and reach the preview

const TOP = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
const loaded = new Map();
const waiting = new Map();
globalThis.bookCards = (name, content) => waiting.get(name)?.(content);

/** The content of a page's cards, or null where there are none. */
function load(name) {
  if (!loaded.has(name)) {
    loaded.set(name, new Promise((resolve) => {
      waiting.set(name, resolve);
      const script = document.createElement("script");
      script.src = new URL(`_static/cards/${name}.js`, TOP);
      script.addEventListener("error", () => resolve(null));
      document.head.append(script);
    }));
  }
  return loaded.get(name);
}

const box = document.createElement("div");
box.id = "preview";
box.setAttribute("role", "tooltip");
box.hidden = true;
document.body.append(box);

let current = null;
let timer = 0;

async function cardOf(link) {
  if (link.matches(".symbol")) {
    const name = [...link.classList].find((part) => part.startsWith("symbol-"));
    const isHere = location.href.startsWith(new URL(`${GLOSSARY}.html`, TOP).href);
    return isHere ? null : parsed((await load(GLOSSARY))?.[name]);
  }
  const url = new URL(link.href);
  if (!url.hash || !url.href.startsWith(TOP.href)) return null;
  const anchor = decodeURIComponent(url.hash.slice(1));
  if (url.pathname === location.pathname) {
    const place = document.getElementById(anchor);
    const card = place?.closest("figure") ?? place;
    return card?.matches(KINDS) ? card.cloneNode(true) : null;
  }
  const name = decodeURIComponent(url.href.slice(TOP.href.length).split(/[?#]/)[0]);
  return parsed((await load(name.replace(/\.html$/, "")))?.[anchor]);
}

function parsed(html) {
  if (!html) return null;
  const card = new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
  for (const image of card.querySelectorAll("img")) {
    const source = image.getAttribute("src");
    if (!source.startsWith("data:")) image.src = new URL(source, TOP);
  }
  return document.adoptNode(card);
}

/** Take out what only a page needs: ids, buttons, links. */
function plain(card) {
  for (const part of card.querySelectorAll(".headerlink, .backrefs, details, script")) part.remove();
  for (const part of [card, ...card.querySelectorAll("[id], [tabindex]")]) {
    part.removeAttribute("id");
    part.removeAttribute("tabindex");
  }
  for (const link of card.querySelectorAll("a")) link.replaceWith(...link.childNodes);
  return card;
}

async function show(link) {
  if (link === current) return;
  hide();
  current = link;
  const card = await cardOf(link);
  if (!card || current !== link) return;
  const wrapper = document.createElement("div");
  wrapper.append(plain(card));
  box.replaceChildren(wrapper);
  box.hidden = false;
  place(link.getBoundingClientRect());
  link.setAttribute("aria-describedby", box.id);
}

/** Put the preview below a place, or above where there is more room. */
function place(spot) {
  const width = document.documentElement.clientWidth;
  const below = innerHeight - spot.bottom;
  const isAbove = below < box.offsetHeight + 16 && spot.top > below;
  const left = Math.max(8, Math.min(spot.left, width - box.offsetWidth - 8));
  const top = isAbove ? Math.max(8, spot.top - box.offsetHeight - 6) : spot.bottom + 6;
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${top + scrollY}px`;
}

function hide() {
  clearTimeout(timer);
  current?.removeAttribute("aria-describedby");
  current = null;
  box.hidden = true;
}

function later(action) {
  clearTimeout(timer);
  timer = setTimeout(action, WAIT);
}

document.addEventListener("pointerover", (event) => {
  if (event.pointerType === "touch") return;
  const link = event.target.closest(LINKS);
  if (link) later(() => show(link));
  else if (box.contains(event.target)) clearTimeout(timer);
  else if (current) later(hide);
  else clearTimeout(timer);
});
document.addEventListener("focusin", (event) => {
  const link = event.target.closest(LINKS);
  if (link && event.target.matches(":focus-visible")) show(link);
});
document.addEventListener("focusout", hide);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hide();
});
