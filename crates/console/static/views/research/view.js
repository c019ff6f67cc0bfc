// Research: start a run, watch its steps, read the report.
import { html, useState } from "../../core/html.js";
import { get, post, remove } from "../../core/api.js";
import { ago, count, duration, plural, time } from "../../core/format.js";
import { useLoad } from "../../core/load.js";
import { usePolling } from "../../core/poll.js";
import { href, navigate } from "../../core/route.js";
import { may } from "../../core/scopes.js";
import { Confirm } from "../../parts/dialog.js";
import { SelectField } from "../../parts/fields.js";
import { Empty, Failure, Loaded, Loading } from "../../parts/states.js";
import { Warnings } from "../../parts/warnings.js";
import { Form } from "./form.js";
import { Report } from "./report.js";
import { Steps } from "./steps.js";
import { isOver, useRun } from "./run.js";

const TONE = { completed: "is-good", failed: "is-bad", cancelled: "is-warn", queued: "is-accent", running: "is-accent" };
const STATUSES = [["", "all"], ["queued", "queued"], ["running", "running"], ["completed", "completed"], ["failed", "failed"], ["cancelled", "cancelled"]];
const chip = (status) => html`<span class=${`chip ${TONE[status] ?? ""}`}>${status}</span>`;

export function Research({ params, me }) {
  if (!me.hasResearch) return html`<h1>Research</h1><${Empty} title="This server has no research"><p>A newer version offers it.</p><//>`;
  return params.id ? html`<${Run} key=${params.id} id=${params.id} me=${me} />` : html`<${Overview} params=${params} me=${me} />`;
}

function Overview({ params, me }) {
  const { status, cursor } = params;
  const load = useLoad((signal) => get("research", { limit: 50, status, cursor }, { signal }), [status, cursor]);
  usePolling(load, load.data?.runs.some((run) => !isOver(run)) ?? false);
  const choose = (value) => navigate("research", { status: value }, { replace: true });
  return html`
    <div class="stack tight"><h1>Research</h1><p class="lead">A run plans questions, searches and reads for some time, and writes a report. Every citation is a quote that was compared with its source.</p></div>
    ${may(me, "research:write") && html`<${Form} me=${me} />`}
    <section class="card stack" aria-label="Runs">
      <div class="row spread"><h2>Runs</h2><${SelectField} label="Status" value=${status} onValue=${choose} options=${STATUSES} /></div>
      <${Loaded} load=${load} label="Reading the runs">${(data) => html`
        ${data.runs.length === 0 ? html`<${Empty} title=${status || cursor ? "There are no such runs" : "There are no runs yet"} />` : html`<ul class="plain runs">${data.runs.map((run) => html`<${Entry} key=${run.research_id} run=${run} />`)}</ul>`}
        ${(cursor || data.next_cursor) && html`<p class="row">
          ${cursor && html`<a href=${href("research", { status })}>Latest runs</a>`}
          ${data.next_cursor && html`<a href=${href("research", { status, cursor: data.next_cursor })}>Older runs</a>`}
        </p>`}`}<//>
    </section>`;
}

function Entry({ run }) {
  const took = run.completed_at && run.started_at ? duration(new Date(run.completed_at) - new Date(run.started_at)) : "";
  const facts = [run.stop_reason?.replaceAll("_", " "), took].filter(Boolean).map((fact) => `${fact} · `);
  return html`<li><div class="row">${chip(run.status)}<a class="grow" dir="auto" href=${href("research", { id: run.research_id })}>${run.query}</a>
    <span class="soft small">${facts}<span title=${time(run.created_at)}>${ago(run.created_at)}</span></span></div></li>`;
}

function Run({ id, me }) {
  const { run, events, error, reload } = useRun(id);
  const [asked, setAsked] = useState(false);
  const [fault, setFault] = useState(null);
  const act = (action) => async () => {
    setFault(null);
    try {
      await action();
    } catch (caught) {
      setFault(caught);
    }
  };
  const erase = act(async () => {
    await remove(`research/${encodeURIComponent(id)}`);
    navigate("research");
  });
  const mayWrite = may(me, "research:write");
  if (!run) return html`<h1>Research</h1>${error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} label="Reading the run" />`}`;
  const { progress, plan } = run;
  const draft = events.filter(({ kind }) => kind === "output_delta").map(({ text }) => text).join("");
  const output = isOver(run) ? run.output : null;
  return html`
    <div class="head">
      <div class="stack tight"><p class="small"><a href=${href("research")}>All runs</a></p><h1 dir="auto">${run.query}</h1>
        <p class="row" role="status">${chip(run.status)}${run.stop_reason && html`<span class="soft small">${run.stop_reason.replaceAll("_", " ")}</span>`}
          <span class="soft small">${[progress.phase && !isOver(run) && progress.phase, plural(progress.searches, "search", "searches"), `${count(progress.documents_read)} read`, `${count(progress.passages_kept)} kept`, duration(progress.elapsed_ms)].filter(Boolean).join(" · ")}</span></p></div>
      ${mayWrite && html`<div class="row">${isOver(run) ? html`<button type="button" class="small-button danger" onClick=${() => setAsked(true)}>Delete</button>` : html`<button type="button" class="small-button" onClick=${act(() => post(`research/${encodeURIComponent(id)}/cancel`))}>Cancel</button>`}</div>`}
    </div>
    <${Warnings} list=${run.warnings} />
    ${run.error && html`<${Failure} error=${{ details: {}, ...run.error }} />`}
    ${(error || fault) && html`<${Failure} error=${error ?? fault} retry=${error ? reload : undefined} />`}
    <div class="document research-run">
      <aside class="side stack" aria-label="Steps of the run">
        ${plan.length > 0 && html`<section class="card"><h2>Questions</h2><ol class="plan">${plan.map(({ question, status }) => html`<li dir="auto">${question} ${status && html`<span class=${`chip ${status === "done" ? "is-good" : ""}`}>${status}</span>`}</li>`)}</ol></section>`}
        <section class="card"><h2>Steps</h2>${events.length === 0 ? html`<p class="soft small">They appear as they happen.</p>` : html`<${Steps} events=${events} />`}</section>
      </aside>
      <div class="stack">
        <${Report} output=${output} draft=${draft} />
        ${!isOver(run) && !draft && html`<${Loading} label="Working" />`}
        ${isOver(run) && mayWrite && html`<${Form} me=${me} previous=${id} />`}
      </div>
    </div>
    ${asked && html`<${Confirm} title="Delete this run?" action="Delete" close=${() => setAsked(false)} confirm=${erase}><p>Its report and steps are removed. This cannot be undone.</p><//>`}`;
}
