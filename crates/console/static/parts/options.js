// Options of a form, folded away.
import { html } from "../core/html.js";

// A field that is not valid is shown: the browser cannot say what is wrong in a folded place, and the form would do nothing. The event does
// not bubble.
const unfold = (event) => { event.currentTarget.open = true; };

export function Options({ set = 0, children }) {
  return html`<details class="options" onInvalidCapture=${unfold}><summary>Options${set > 0 ? ` (${set} set)` : ""}</summary>${children}</details>`;
}
