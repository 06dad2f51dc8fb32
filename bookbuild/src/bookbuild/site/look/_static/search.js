// The excerpts of search results come from their pages, which a page that is read from a folder may
// not fetch: there the list has none. Elsewhere their formulas are set as on the pages.
if (location.protocol === "file:") globalThis.fetch = async () => new Response("");

new MutationObserver(async () => {
  const added = [...document.querySelectorAll("#search-results p.context:not(.set)")];
  for (const context of added) context.classList.add("set");
  await globalThis.MathJax?.startup?.promise;
  if (added.length) await globalThis.MathJax?.typesetPromise?.(added);
}).observe(document.body, { childList: true, subtree: true });
