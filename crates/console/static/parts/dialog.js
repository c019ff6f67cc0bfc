// A question before something is done that cannot be undone.
import { html, useEffect, useRef } from "../core/html.js";

export function Dialog({ title, close, children }) {
  const dialog = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current.showModal();
    return () => before?.focus?.();
  }, []);
  return html`<dialog ref=${dialog} aria-labelledby="dialog-title" onCancel=${(event) => { event.preventDefault(); close(); }}>
    <h2 id="dialog-title">${title}</h2>
    ${children}
  </dialog>`;
}

export function Confirm({ title, action, confirm, close, children }) {
  return html`<${Dialog} title=${title} close=${close}>
    <div class="soft">${children}</div>
    <div class="row end">
      <button type="button" onClick=${close}>Cancel</button>
      <button type="button" class="danger" onClick=${() => { close(); confirm(); }}>${action}</button>
    </div>
  <//>`;
}
