// The text appears when faces and formulas are in place, so that nothing moves under a reader;
// type.css shows it without this script after a while.
const places = [document.fonts.ready, globalThis.MathJax?.startup?.promise];
Promise.allSettled(places).then(() => document.documentElement.classList.add("set"));
