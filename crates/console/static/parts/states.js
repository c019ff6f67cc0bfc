// States of a view: loading, empty, error, offline.
import { html } from "../core/html.js";
import { Icon } from "./icons.js";

export function Loading({ label = "Loading" }) {
  return html`<div class="loading" role="status"><span class="spinner" aria-hidden="true"></span>${label}…</div>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><p class="empty-title">${title}</p>${children && html`<div class="soft">${children}</div>`}</div>`;
}

const HELP = {
  offline: "The connection to the server is lost. The console tries again until it is back.",
  insufficient_scope: "This key lacks the scope that the view needs. Keys with more scopes are made in the view Keys, or by the operator.",
  insufficient_balance: "The prepaid balance does not cover a search. The operator can add to it.",
  overloaded: "The server is busy. Try again in a moment.",
  document_not_found: "The document was removed, or this key has not found it in a search yet.",
  quota_exceeded: "A quota of the organization is used up, or the server's disk is almost full.",
};

export function Failure({ error, retry }) {
  const field = error.details?.field;
  return html`<div class="note note-error" role="alert">
    <${Icon} name="warning" />
    <div>
      <p><strong>${error.message}</strong>${field && !error.message.includes(field) && html` (<code>${field}</code>)`}</p>
      ${HELP[error.code] && html`<p>${HELP[error.code]}</p>`}
      <p class="soft small"><code>${error.code}</code>${error.requestId && html` · request <code>${error.requestId}</code>`}</p>
      ${retry && html`<p><button type="button" class="small-button" onClick=${retry}>Try again</button></p>`}
    </div>
  </div>`;
}

// Shows the state of a load, or its data. Data that was loaded before an outage stays.
export function Loaded({ load, label, children }) {
  if (load.data) return children(load.data);
  if (load.error) return html`<${Failure} error=${load.error} retry=${load.reload} />`;
  return html`<${Loading} label=${label} />`;
}
