// Reasons for the place of a result: words that it shares with the query and, where the server tells, the scores of each stage.
import { html, useState } from "../../core/html.js";
import { get } from "../../core/api.js";
import { time } from "../../core/format.js";
import { findTerms } from "../../core/words.js";
import { Loading } from "../../parts/states.js";

// One request for all results of a search.
const kept = new Map();

export function record(searchId) {
  if (!kept.has(searchId)) {
    kept.set(searchId, get(`searches/${searchId}`, {}, { retries: 0 }).catch((error) => {
      kept.delete(searchId);
      if (error.status === 404 || error.status === 403) return null;
      throw error;
    }));
  }
  return kept.get(searchId);
}

export function Explanation({ result, searchId, terms }) {
  const [stored, setStored] = useState(undefined);
  const open = (event) => {
    if (!event.target.open || stored !== undefined) return;
    record(searchId).then((found) => setStored(found), (error) => setStored({ failed: error.message }));
  };
  return html`<details class="why" onToggle=${open}>
    <summary>Why this result</summary>
    <div class="stack tight">
      <${Words} result=${result} terms=${terms} />
      ${stored === undefined && html`<${Loading} label="Reading the stored search" />`}
      ${stored?.failed && html`<p class="small bad">${stored.failed}</p>`}
      ${stored && !stored.failed && html`<${Stages} stored=${stored} docId=${result.doc_id} />`}
      ${result.provenance && html`<p class="small soft">Capture <code>${result.provenance.capture_id}</code>, read ${time(result.provenance.capture_time)}</p>`}
      <p class="small soft">Document <code>${result.doc_id}</code></p>
    </div>
  </details>`;
}

function Words({ result, terms }) {
  const fields = [["title", result.title], ["name", result.name], ["address", result.canonical_url], ["snippet", result.snippet],
    ...(result.passages ?? []).map((passage, at) => [`passage ${at + 1}`, passage.text])].filter(([, text]) => text);
  const counts = fields.map(([name, text]) => [name, findTerms(text, terms).reduce((found, [, , term]) => found.set(term, (found.get(term) ?? 0) + 1), new Map())]);
  const rows = [...terms].map(([key, word]) => [word, counts.filter(([, found]) => found.has(key)).map(([name, found]) => (found.get(key) > 1 ? `${name} ×${found.get(key)}` : name))]);
  return html`<table class="words"><caption class="hidden-text">Words of the query in what is shown of the result</caption>
    <thead><tr><th scope="col">Word</th><th scope="col">Found in</th></tr></thead>
    <tbody>${rows.map(([word, places]) => html`<tr><td>${word}</td><td class=${places.length > 0 ? "" : "soft"}>${places.join(", ") || "not in the shown text"}</td></tr>`)}</tbody>
  </table>`;
}

const STAGES = [["first_stage", "First stage: the index"], ["lexical", "Words: lexical ranker"], ["semantic", "Meaning: nearest passage"], ["model", "Meaning: reranking model"]];

function Stages({ stored, docId }) {
  const own = (stored.results ?? []).find((entry) => entry.doc_id === docId);
  const explain = own?.explain;
  const generations = Object.entries(stored.index_generations ?? {});
  if (!explain) return null;
  return html`
    <table class="words"><caption class="hidden-text">Places after each stage</caption>
      <thead><tr><th scope="col">Stage</th><th scope="col" class="number">Place</th><th scope="col" class="number">Score</th></tr></thead>
      <tbody>
        ${STAGES.map(([name, text]) => html`<tr><td>${text}</td><td class="number">${explain[name]?.rank ?? "–"}</td><td class="number">${explain[name] ? explain[name].score.toPrecision(3) : "–"}</td></tr>`)}
        <tr><td>Blend of all indexes${explain.preferred && html` <span class="chip">preferred domain</span>`}</td><td class="number">${own.rank}</td><td class="number">${own.score ? own.score.value.toPrecision(3) : "–"}</td></tr>
      </tbody>
    </table>
    ${generations.length > 0 && html`<p class="small soft">Index generation: ${generations.map(([index, id]) => html`${index} <code>${id}</code> `)}</p>`}`;
}
