// Warnings with their meaning and remedy.
import { html } from "../core/html.js";
import { Icon } from "./icons.js";

const MEANINGS = {
  response_truncated: "The response was shortened to fit the budget. A larger budget, fewer results or a smaller verbosity shows the rest.",
  budget_unsatisfiable: "Even the smallest response is larger than the budget.",
  unknown_field: "A value is unknown to the server, which used its default.",
  source_policy_filtered: "Results were dropped because of the included or excluded domains.",
  filter_unknown_values: "Matching documents were dropped because they do not state the value that a filter asks for.",
  index_empty: "A searched index has no documents. Upload files, or let the operator fill the web index.",
  no_match: "No passage matches the question, so there is nothing to quote.",
  rerank_unavailable: "The reranking model did not answer. Results have the order of the first stage.",
  semantic_unavailable: "The semantic part of the search was not available. Results come from words only.",
  web_provider_unavailable: "A web provider did not answer. Its results are missing.",
  synthesis_unavailable: "No model wrote this report: it consists of verified quotes.",
  budget_reached: "The budget was used up before everything was read. The report has what was found until then.",
  content_unavailable: "The page or file could not be read.",
  content_truncated: "The text is longer than was asked for. The rest can be loaded.",
  stale_content: "The page could not be read again, so an older copy is shown.",
  stale_range: "The document has changed since it was cited. This is its latest version.",
  stale_passage_id: "Some passages belong to an older version of the document.",
};

const detail = (value) => (Array.isArray(value) ? value.join(", ") : typeof value === "object" && value ? JSON.stringify(value) : String(value));

export function Warnings({ list }) {
  if (!list?.length) return null;
  return html`<ul class="plain stack tight" aria-label="Warnings">
    ${list.map((warning) => html`<li class="note note-warn"><${Icon} name="warning" /><div>
      <p><strong>${warning.message}</strong></p>
      ${MEANINGS[warning.code] && html`<p>${MEANINGS[warning.code]}</p>`}
      <p class="small soft"><code>${warning.code}</code>${Object.entries(warning.details ?? {}).map(([name, value]) => html` · ${name}: ${detail(value)}`)}</p>
    </div></li>`)}
  </ul>`;
}
