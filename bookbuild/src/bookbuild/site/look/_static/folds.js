// What a fold shows may scroll. The theme lets the keyboard reach it, but looks only when the
// window changes its size; an opened fold therefore says that it did.
document.addEventListener("toggle", () => window.dispatchEvent(new Event("resize")), true);
