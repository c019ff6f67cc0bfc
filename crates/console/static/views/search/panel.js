// One search: form, answer, and the request as code.
import { html, useEffect, useMemo, useState } from "../../core/html.js";
import { BASE } from "../../core/api.js";
import { count, duration, plural } from "../../core/format.js";
import { useLoad } from "../../core/load.js";
import { keyStore } from "../../core/session.js";
import { href } from "../../core/route.js";
import { termsOf } from "../../core/words.js";
import { Check, Segments } from "../../parts/fields.js";
import { Code } from "../../parts/copy.js";
import { Empty, Failure, Loading } from "../../parts/states.js";
import { Warnings } from "../../parts/warnings.js";
import { forgetAnswer, nameOf, search } from "./answers.js";
import { LANGUAGES, program } from "./code.js";
import { Form } from "./form.js";
import { read, toRequest } from "./request.js";
import { Result } from "./result.js";

export function Panel({ params, me, prefix, label, submit, other, onAnswer }) {
  const state = read(params, prefix);
  const requestOf = (wanted) => (wanted.q.trim() ? toRequest(wanted, me.organization.organization_id) : null);
  const request = useMemo(() => requestOf(state), [JSON.stringify(state)]);
  const load = useLoad((signal) => (request ? search(request, signal) : Promise.resolve(null)), [request]);
  const answer = load.data;
  useEffect(() => onAnswer?.(answer?.data ?? null), [answer]);
  const terms = useMemo(() => termsOf(state.q, state.rewrites), [state.q, state.rewrites]);
  // Who submits the form asks the index, not the answers of this page.
  const run = (next) => {
    const wanted = requestOf(next);
    forgetAnswer(wanted);
    if (JSON.stringify(next) !== JSON.stringify(state)) submit(next);
    // A blank more is another state, but no other request.
    if (nameOf(wanted) === nameOf(request)) load.reload();
  };
  return html`<section class="stack" aria-label=${label}>
    <${Form} initial=${state} submit=${run} label=${label} busy=${load.loading && request !== null} />
    ${!request && html`<${Invitation} me=${me} />`}
    ${request && load.loading && !answer && html`<${Loading} label="Searching" />`}
    ${load.error && html`<${Failure} error=${load.error} retry=${load.reload} />`}
    ${request && answer && html`<${Answer} answer=${answer} request=${request} terms=${terms} me=${me} other=${other} state=${state} />`}
  </section>`;
}

function Invitation({ me }) {
  const isEmpty = me.quotas.files.used === 0;
  return html`<${Empty} title=${isEmpty ? "There are no files to search yet" : "Type a question"}>
    ${isEmpty ? html`<p><a href=${href("files")}>Upload files</a>, or search the web index if the operator has filled it.</p>` : html`<p>Results show the passages that answer it, with the words of the query highlighted.</p>`}
  <//>`;
}

function Answer({ answer, request, terms, me, other, state }) {
  const { data, ms } = answer;
  const results = data.results ?? [];
  const best = Math.max(...results.map((result) => result.score?.value ?? 0), 0);
  const ranks = new Map((other?.results ?? []).map((result) => [result.doc_id, result.rank]));
  return html`
    <div class="stack tight">
      <p class="small soft" role="status">
        <strong class="answer-count">${plural(results.length, "result")}</strong> in ${duration(ms)}
        ${data.integration_results && html` · ${plural(data.integration_results.total, "matching file")}`}
        ${data.ranking && html` · ranker <code>${data.ranking.ranker_version}</code>`}
        ${data.usage && html` · ${count(data.usage.bytes_returned)} bytes`}
        ${data.degraded && html` · <span class="chip is-warn">degraded</span>`}${data.truncated && html` · <span class="chip is-warn">shortened</span>`}
      </p>
      <${Warnings} list=${data.warnings} />
    </div>
    ${results.length === 0 && html`<${Empty} title="Nothing was found"><p>Fewer filters, other words or another index may help.</p><//>`}
    <ol class="plain stack results">
      ${results.map((result) => html`<${Result} key=${`${data.search_id} ${result.doc_id}`} result=${result} best=${best} terms=${terms} query=${state.q} searchId=${data.search_id} me=${me} isCompared=${Boolean(other)} otherRank=${ranks.get(result.doc_id)} />`)}
    </ol>
    <${AsCode} request=${request} />`;
}

function AsCode({ request }) {
  const [language, setLanguage] = useState("curl");
  const [withKey, setWithKey] = useState(false);
  return html`<details class="card">
    <summary>This request as code</summary>
    <div class="stack">
      <div class="row spread">
        <${Segments} label="Language" value=${language} onValue=${setLanguage} options=${LANGUAGES.map((name) => [name, name])} />
        <${Check} label="Include my key" checked=${withKey} onValue=${setWithKey} />
      </div>
      <${Code} label=${`Request in ${language}`} text=${program(language, BASE, request, withKey ? keyStore.get() : "")} />
    </div>
  </details>`;
}
