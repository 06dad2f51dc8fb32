// The text appears when its faces are in place, so that nothing moves under a reader; type.css shows
// it without this script after a while.
document.fonts.ready.then(() => document.documentElement.classList.add("set"));
// What a fold shows may scroll. The theme lets the keyboard reach it, but looks only when the
// window changes its size; an opened fold therefore says that it did.
document.addEventListener("toggle", () => window.dispatchEvent(new Event("resize")), true);
