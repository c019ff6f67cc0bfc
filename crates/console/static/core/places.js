// Entries of the history, and how far each was scrolled when it was left. The browser restores places before a view has its data.
const SETTLED_MS = 300;
const PATIENCE_MS = 10000;
const GESTURES = ["wheel", "touchmove", "pointerdown", "keydown"];

history.scrollRestoration = "manual";

const places = new Map();
// Numbers of entries go on where those of an earlier load of the page ended.
let last = Date.now();
let current = { entry: 0, place: undefined };

// Returns the state of a new entry.
export function newEntry() {
  last += 1;
  return { entry: last };
}

// Returns {entry, place} of the entry that is shown. `place` is that of an earlier visit, in pixels from the top. Called after each
// navigation, before the page changes.
export function enter() {
  // A link makes an entry without a state.
  if (history.state?.entry === undefined) history.replaceState(newEntry(), "");
  const { entry } = history.state;
  if (entry !== current.entry) {
    places.set(current.entry, scrollY);
    current = { entry, place: places.get(entry) };
  }
  return current;
}

// Scrolls to a place as soon as the element is high enough, until the user does something. Returns a function that ends it.
export function restore(element, place) {
  let timer = setTimeout(stop, PATIENCE_MS);
  const observer = new ResizeObserver(aim);
  function aim() {
    scrollTo(0, place);
    if (scrollY < place - 1) return;
    // Data of the last view may still be replaced.
    clearTimeout(timer);
    timer = setTimeout(stop, SETTLED_MS);
  }
  function stop() {
    clearTimeout(timer);
    observer.disconnect();
    for (const gesture of GESTURES) removeEventListener(gesture, stop);
  }
  for (const gesture of GESTURES) addEventListener(gesture, stop, { passive: true });
  observer.observe(element);
  aim();
  return stop;
}
