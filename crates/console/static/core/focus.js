// Focus of lists whose entries disappear.
import { useLayoutEffect, useRef } from "./html.js";

// Returns a ref for an element with a `tabindex`. When the part of it that has the focus disappears, such as the button of a deleted entry,
// the focus goes to the first match of `selector`, or else to the element.
export function useKeptFocus(selector) {
  const box = useRef(null);
  const had = box.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (!had || document.activeElement !== document.body) return;
    const target = (selector && box.current?.querySelector(selector)) || box.current;
    target?.focus({ preventScroll: true });
  });
  return box;
}
