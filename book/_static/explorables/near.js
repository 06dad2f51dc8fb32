/** Explorables start where their reader comes: a page may hold several and opens quickly. */

const NEAR = 600; // pixels from the window at which an explorable is started

/**
 * Start the explorables of a name, each once the reader comes near it. Until then its figure stands.
 * @param {string} name as in data-explorable
 * @param {(mount: Element) => any} show fills a mount
 * @returns {() => any[]} starts those that wait, and returns what `show` returned for each
 */
export function showNear(name, show) {
  const mounts = [...document.querySelectorAll(`[data-explorable=${name}]`)];
  const shown = new Map();
  const start = (mount) => {
    watcher.unobserve(mount);
    if (!shown.has(mount)) shown.set(mount, show(mount));
  };
  const watcher = new IntersectionObserver((seen) => {
    seen.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => start(target));
  }, { rootMargin: `${NEAR}px 0px` });
  for (const mount of mounts) {
    // what is near from the beginning is there before anything is drawn, so that nothing moves
    if (mount.getBoundingClientRect().top < innerHeight + NEAR) start(mount);
    else watcher.observe(mount);
  }
  return () => {
    mounts.forEach(start);
    return mounts.map((mount) => shown.get(mount));
  };
}
