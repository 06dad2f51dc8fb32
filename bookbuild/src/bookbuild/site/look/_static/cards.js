/** What lies beside each page for other pages to show; loaded as scripts, for `file:` forbids to fetch. */

/** The top of the site, as an address. */
export const TOP = new URL(document.documentElement.dataset.content_root ?? "./", location.href);

const loaded = new Map();
const waiting = new Map();
globalThis.bookCards = (name, content) => waiting.get(name)?.(content);

/** The content of a page's cards, or null where there are none. */
export function load(name) {
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
