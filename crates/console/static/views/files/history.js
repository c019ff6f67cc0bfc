// The indexing runs of this tab.
import { html, useEffect, useRef, useState } from "../../core/html.js";
import { bytes, count, duration, time } from "../../core/format.js";
import { useStore } from "../../core/store.js";
import { Failure } from "../../parts/states.js";
import { isOver, resume, runs, start } from "./runs.js";
import { StatusChip } from "./status.js";

export function History({ mayWrite, changed }) {
  const list = useStore(runs);
  const [error, setError] = useState(null);
  useEffect(resume, []);
  const over = list.filter(isOver).length;
  // The states of files change when a run ends.
  const seen = useRef(over);
  useEffect(() => {
    if (over !== seen.current) changed();
    seen.current = over;
  }, [over]);
  const run = (mode) => async () => {
    setError(null);
    await start(mode).catch(setError);
  };
  return html`<section class="card stack" aria-label="Indexing runs">
    <div class="row spread">
      <h2>Indexing runs</h2>
      ${mayWrite && html`<div class="row"><button type="button" class="small-button" onClick=${run("incremental")}>Index changes</button><button type="button" class="small-button" onClick=${run("full")}>Index all files again</button></div>`}
    </div>
    ${error && html`<${Failure} error=${error} />`}
    ${list.length === 0 ? html`<p class="soft small">Runs that are started in this tab appear here with their progress.</p>` : html`<ul class="plain runs" aria-live="polite">
      ${list.map((entry) => html`<${Run} key=${entry.sync_id} run=${entry} />`)}
    </ul>`}
  </section>`;
}

const COUNTERS = [["enumerated", "listed"], ["fetched", "read"], ["indexed", "indexed"], ["failed", "failed"], ["skipped_unsupported", "unsupported"], ["deleted", "removed"]];

function Run({ run }) {
  const stats = run.stats ?? {};
  const took = run.completed_at && run.started_at ? new Date(run.completed_at) - new Date(run.started_at) : null;
  return html`<li>
    <div class="row"><${StatusChip} status=${run.state} /><span class="small">${run.started_at ? time(run.started_at) : "not started yet"}</span>${took !== null && html`<span class="soft small">${duration(took)}</span>`}<code class="soft small">${run.sync_id}</code></div>
    <p class="small soft">${COUNTERS.filter(([name]) => stats[name] > 0).map(([name, text]) => `${count(stats[name])} ${text}`).join(" · ") || "nothing to do so far"}${stats.bytes > 0 ? ` · ${bytes(stats.bytes)}` : ""}</p>
    ${run.error && html`<p class="small bad">${run.error}</p>`}
  </li>`;
}
