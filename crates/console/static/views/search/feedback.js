// One click of feedback on a result.
import { html, useState } from "../../core/html.js";
import { post } from "../../core/api.js";
import { Icon } from "../../parts/icons.js";

const MORE = [["duplicate_result", "Duplicate"], ["stale_result", "Out of date"], ["spam_or_low_quality", "Spam or low quality"], ["unsafe_or_policy_issue", "Unsafe"]];

export function Feedback({ result, searchId }) {
  const [state, setState] = useState({ sent: "", error: "" });
  const send = async (type) => {
    if (!type) return;
    try {
      await post("feedback", { event_type: type, doc_id: result.doc_id, search_id: searchId, rank: result.rank });
      setState({ sent: type, error: "" });
    } catch (error) {
      setState({ sent: "", error: error.message });
    }
  };
  const name = result.title || result.name || result.canonical_url;
  const thumb = (type, icon, label) => html`<button type="button" class="small-button quiet" title=${label} aria-label=${`${label}: ${name}`} aria-pressed=${state.sent === type ? "true" : "false"} onClick=${() => send(type)}><${Icon} name=${icon} /></button>`;
  return html`<div class="row feedback">
    ${thumb("result_helpful", "up", "Helpful")}${thumb("result_not_helpful", "down", "Not helpful")}
    <select class="more" aria-label=${`More feedback: ${name}`} value="" onChange=${(event) => { send(event.target.value); event.target.value = ""; }}>
      <option value="">Report…</option>${MORE.map(([type, text]) => html`<option value=${type}>${text}</option>`)}
    </select>
    <span class="small" role="status">${state.sent && html`<span class="good">Stored, thank you</span>`}${state.error && html`<span class="bad">${state.error}</span>`}</span>
  </div>`;
}
