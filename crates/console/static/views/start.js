// Start: a way in, what is there, and what the key may do.
import { html, useEffect, useState } from "../core/html.js";
import { BASE } from "../core/api.js";
import { bytes, cents, count, time } from "../core/format.js";
import { href } from "../core/route.js";
import { OPERATOR, SCOPES, about, may } from "../core/scopes.js";
import { Code } from "../parts/copy.js";
import { Filling } from "../parts/filling.js";
import { Icon } from "../parts/icons.js";
import { DropZone, Queue } from "./files/dropzone.js";

const FRESH_MS = 2000;

export function Start({ me, reloadAccount }) {
  const { organization, quotas } = me;
  const isEmpty = quotas.files.used === 0;
  const mayUpload = may(me, "files:write");
  useEffect(() => {
    // Numbers of files change elsewhere, too.
    if (Date.now() - me.readAt > FRESH_MS) reloadAccount();
  }, []);
  return html`
    <div class="stack tight">
      <h1>${isEmpty ? "Welcome" : organization.name}</h1>
      <p class="lead">${isEmpty ? "Three steps lead to the first answer from your own documents." : "Ask something, or add more to search in."}</p>
    </div>
    ${may(me, "search:read") && !isEmpty && html`<${Ask} />`}
    ${isEmpty ? html`<${Steps} mayUpload=${mayUpload} />` : mayUpload && html`<${DropZone} compact />`}
    <${Queue} me=${me} />
    <${Numbers} me=${me} />
    ${me.web?.index_empty && !me.web.has_providers && html`<section class="card" aria-label="Empty web index"><${Filling} /></section>`}
    <div class="columns">
      <${Permissions} me=${me} />
      <${Agents} />
    </div>`;
}

function Ask() {
  const [query, setQuery] = useState("");
  const submit = (event) => {
    event.preventDefault();
    if (query.trim()) location.assign(href("search", { q: query.trim() }));
  };
  return html`<form class="card row" role="search" onSubmit=${submit}>
    <input class="grow query" type="search" dir="auto" aria-label="Search your files" placeholder="Ask your files a question" value=${query} onInput=${(event) => setQuery(event.target.value)} />
    <button type="submit" class="primary"><${Icon} name="search" />Search</button>
  </form>`;
}

function Steps({ mayUpload }) {
  return html`<ol class="steps plain">
    <li class="card stack"><div class="row"><span class="step" aria-hidden="true">1</span><h2>Add a document</h2></div>
      ${mayUpload ? html`<${DropZone} compact />` : html`<p class="soft">This key may not upload files. It lacks the scope <code>files:write</code>.</p>`}
    </li>
    <li class="card stack"><div class="row"><span class="step" aria-hidden="true">2</span><h2>Ask a question</h2></div>
      <p class="soft">A file is searchable moments after its upload. Results quote the passages that answer.</p>
      <p><a class="button" href=${href("search")}><${Icon} name="search" />Open the search</a></p>
    </li>
    <li class="card stack"><div class="row"><span class="step" aria-hidden="true">3</span><h2>Connect an agent</h2></div>
      <p class="soft">Any client of the Model Context Protocol can search and read here. So can your own programs.</p>
      <p><a class="button" href=${`${BASE}/docs`}><${Icon} name="docs" />API reference</a></p>
    </li>
  </ol>`;
}

function Numbers({ me }) {
  const { quotas, organization, credential } = me;
  const tile = (label, value, hint) => html`<div class="card tile"><div class="value">${value}</div><div class="label">${label}</div>${hint && html`<div class="hint">${hint}</div>`}</div>`;
  const of = (limit, format) => (limit === undefined ? null : `of ${format(limit)}`);
  return html`<section class="tiles" aria-label="What is in the index">
    ${tile("files", count(quotas.files.used), of(quotas.files.limit, count))}
    ${tile("stored", bytes(quotas.bytes.used), of(quotas.bytes.limit, bytes))}
    ${organization.billed && tile("balance", cents(organization.balance_cents), "prepaid")}
    ${tile("requests per second", count(credential.limit_rps), "limit of this key")}
  </section>`;
}

function Permissions({ me }) {
  const { credential } = me;
  // Few keys have the operator's scope, and nobody misses it.
  const known = SCOPES.map(([name]) => name).filter((name) => name !== OPERATOR || may(me, OPERATOR));
  const others = credential.scopes.filter((scope) => !SCOPES.some(([name]) => name === scope));
  return html`<section class="card">
    <h2>What this key may do</h2>
    <ul class="plain permissions">
      ${[...known, ...others].map((scope) => {
        const allowed = may(me, scope);
        return html`<li class=${allowed ? "" : "soft"}><span class=${allowed ? "good" : "soft"}><${Icon} name=${allowed ? "check" : "cross"} /></span><span>${about(scope) || scope}<span class="hidden-text">: ${allowed ? "allowed" : "not allowed"}</span><br /><code class="soft small">${scope}</code></span></li>`;
      })}
    </ul>
    <p class="hint">${credential.expires_at ? `Expires ${time(credential.expires_at)}.` : "Does not expire."}</p>
  </section>`;
}

function Agents() {
  return html`<section class="card stack">
    <h2>Connect an agent</h2>
    <p class="soft small">Claude Code, with the key in the environment:</p>
    <${Code} label="Command for Claude Code" text=${`claude mcp add --transport http retrieval \\\n  "${BASE}/mcp" \\\n  --header "Authorization: Bearer $RETRIEVAL_API_KEY"`} />
    <p class="soft small">The <a href=${`${BASE}/docs`}>API reference</a> has every operation in curl, Python and JavaScript, and <a href=${`${BASE}/llms.txt`}>llms.txt</a> tells a model the same.</p>
  </section>`;
}
