// A text to copy.
import { html, useRef, useState } from "../core/html.js";

// The clipboard needs HTTPS or this machine; elsewhere the old command works.
async function copy(text, place) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  place.append(area);
  area.focus({ preventScroll: true });
  area.select();
  const isSelected = document.activeElement === area && area.selectionStart === 0 && area.selectionEnd === area.value.length;
  // Without a selection the command succeeds and copies nothing.
  const copied = isSelected && document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("the browser refuses to copy");
}

export function CopyButton({ text, label = "Copy" }) {
  const [state, setState] = useState("");
  const button = useRef(null);
  const run = async () => {
    try {
      // An open dialog makes everything outside it inert.
      await copy(text, button.current.closest("dialog") ?? document.body);
      setState("Copied");
    } catch {
      setState("Not possible: select and copy by hand");
    }
    button.current?.focus();
    setTimeout(() => setState(""), 2000);
  };
  return html`<button type="button" class="small-button" ref=${button} onClick=${run}>
    <span aria-live="polite">${state || label}</span>
  </button>`;
}

export function Code({ text, label }) {
  return html`<div class="code-box">
    <pre tabindex="0" aria-label=${label ?? "Code"}><code>${text}</code></pre>
    <${CopyButton} text=${text} />
  </div>`;
}
