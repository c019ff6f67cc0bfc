// A text to copy.
import { html, useRef, useState } from "../core/html.js";

// The clipboard needs HTTPS or this machine; elsewhere the old command works.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("the browser refuses to copy");
}

export function CopyButton({ text, label = "Copy" }) {
  const [state, setState] = useState("");
  const button = useRef(null);
  const run = async () => {
    try {
      await copy(text);
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
