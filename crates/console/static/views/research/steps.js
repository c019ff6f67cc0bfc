// Steps of a run as they happen.
import { html } from "../../core/html.js";
import { count, duration, plural } from "../../core/format.js";
import { href, source } from "../../core/route.js";
import { Icon } from "../../parts/icons.js";

const ICONS = { created: "start", started: "start", plan: "docs", search: "search", document: "read", note: "check", completed: "check", failed: "warning", cancelled: "cross" };

function text(event) {
  switch (event.kind) {
    case "created": return "Created";
    case "started": return "Started";
    case "plan": {
      return html`<span>Questions</span><ol class="small">${(event.questions ?? []).map((question) => html`<li>${question}</li>`)}</ol>`;
    }
    case "search": return html`<span>Search: ${event.query}</span> <span class="soft small">${plural(event.hits, "hit")}, ${count(event.new_sources)} new</span>`;
    case "document": return html`<span>${event.readable === false ? "Could not read" : "Read"} <a href=${href("read", source(event))}>${event.title || event.canonical_url}</a></span>${event.passages > 0 && html` <span class="soft small">${plural(event.passages, "passage")}</span>`}`;
    case "note": return html`<q class="soft">${event.quote}</q>`;
    case "completed": return "Completed";
    case "failed": return "Failed";
    case "cancelled": return "Cancelled";
    default: return event.kind.replaceAll("_", " ");
  }
}

export function Steps({ events }) {
  const shown = events.filter(({ kind }) => kind !== "output_delta");
  const start = new Date(shown[0]?.at ?? 0).getTime();
  return html`<ol class="plain timeline" aria-label="Steps" aria-live="polite">
    ${shown.map((event) => html`<li key=${event.sequence}><span class=${`timeline-icon ${event.kind === "failed" ? "bad" : ""}`}><${Icon} name=${ICONS[event.kind] ?? "docs"} /></span><div class="grow">${text(event)}</div>${event.at && start > 0 && html`<span class="soft small">${duration(new Date(event.at).getTime() - start)}</span>`}</li>`)}
  </ol>`;
}
