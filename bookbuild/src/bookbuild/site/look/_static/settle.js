// The text appears when its faces are in place, so that nothing moves under a reader; type.css shows
// it without this script after a while.
document.fonts.ready.then(() => document.documentElement.classList.add("set"));
