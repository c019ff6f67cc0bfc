// States of files and runs.
import { html } from "../../core/html.js";

const TONE = { indexed: "is-good", completed: "is-good", failed: "is-bad", unsupported: "is-warn", pending: "is-warn", stored: "is-warn", uploading: "is-accent", uploaded: "is-accent", queued: "is-accent", planning: "is-accent", running: "is-accent" };
const TEXT = { uploaded: "indexing", stored: "stored, not indexed" };

export function StatusChip({ status }) {
  return html`<span class=${`chip ${TONE[status] ?? ""}`}>${TEXT[status] ?? status ?? "unknown"}</span>`;
}
