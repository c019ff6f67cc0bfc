// One crawl: progress, failures and what was skipped.
import { html, useState } from "../../core/html.js";
import { get } from "../../core/api.js";
import { ago, count, duration, plural, time } from "../../core/format.js";
import { useLoad } from "../../core/load.js";
import { usePolling } from "../../core/poll.js";
import { href, navigate } from "../../core/route.js";
import { safeAddress } from "../../markdown/render.js";
import { Failure, Loaded } from "../../parts/states.js";
import { Progress, RemoveCrawl } from "./crawls.js";
import { StateChip, isAtWork, isRunning, removeCrawl, resumeCrawl, stopCrawl } from "./state.js";

export function CrawlReport({ name }) {
  const load = useLoad((signal) => get(`web/crawls/${encodeURIComponent(name)}`, {}, { signal }), [name]);
  usePolling(load, load.data ? isRunning(load.data) : false);
  return html`<p class="small"><a href=${href("web")}>All crawls</a></p>
    ${!load.data && html`<h1>${name}</h1>`}
    <${Loaded} load=${load} label="Reading the crawl">${(crawl) => html`<${Report} crawl=${crawl} reload=${load.reload} />`}<//>`;
}

function Report({ crawl, reload }) {
  const [asked, setAsked] = useState(false);
  const [error, setError] = useState(null);
  const act = async (action) => {
    setError(null);
    try {
      await action();
      reload();
    } catch (fault) {
      setError(fault);
    }
  };
  const remove = (pages) => act(async () => {
    await removeCrawl(crawl.name, pages);
    navigate("web");
  });
  const over = crawl.finished_at && !isRunning(crawl);
  return html`
    <div class="head">
      <div class="stack tight"><h1>${crawl.name}</h1><p class="row" role="status"><${StateChip} state=${crawl.state} /><span class="soft small">${plural(crawl.pages, "page")} in the index · ${count(crawl.queued)} of ${plural(crawl.urls, "URL")} queued</span></p></div>
      <div class="row">
        ${isAtWork(crawl) && html`<button type="button" class="small-button" onClick=${() => act(() => stopCrawl(crawl.name))}>Stop</button>`}
        ${!isRunning(crawl) && html`<button type="button" class="small-button" onClick=${() => act(() => resumeCrawl(crawl))}>${crawl.state === "stopped" ? "Go on" : "Crawl again"}</button>`}
        <button type="button" class="small-button danger" onClick=${() => setAsked(true)}>Remove</button>
      </div>
    </div>
    ${error && html`<${Failure} error=${error} />`}
    ${isRunning(crawl) && html`<${Progress} crawl=${crawl} />`}
    <section class="tiles" aria-label="URLs by outcome">${[["pages", crawl.pages], ["failed", crawl.failed], ["gone", crawl.gone], ["skipped", crawl.skipped], ["redirected", crawl.redirected]].map(([label, value]) => html`<div class="card tile"><div class="value">${count(value)}</div><div class="label">${label}</div></div>`)}</section>
    <${Reasons} title="Failures" reasons=${crawl.failed_by_reason} empty="No URL failed." />
    <${Reasons} title="Gone pages" reasons=${crawl.gone_by_reason} />
    <${Reasons} title="Skipped" reasons=${crawl.skipped_by_reason} empty="No URL was skipped." />
    <${Reasons} title="Links that were not followed" reasons=${crawl.links_not_followed} />
    <section class="card" aria-label="Settings"><h2>Settings</h2><dl class="facts">
      <dt>Begins with</dt><dd>${crawl.settings.seeds.map((seed) => html`<${Address} url=${seed} /><br />`)}</dd>
      <dt>Pages, at most</dt><dd>${crawl.limit ? count(crawl.limit) : "all"}</dd>
      <dt>Links, at most</dt><dd>${crawl.settings.depth ?? "any number"}</dd>
      ${crawl.settings.include.length > 0 && html`<dt>Only</dt><dd><code>${crawl.settings.include.join("  ")}</code></dd>`}
      ${crawl.settings.exclude.length > 0 && html`<dt>Without</dt><dd><code>${crawl.settings.exclude.join("  ")}</code></dd>`}
      <dt>Sitemaps</dt><dd>${crawl.settings.sitemaps}</dd>
      <dt>Read again</dt><dd>${crawl.settings.every_seconds ? `after ${count(crawl.settings.every_seconds)} s or more` : "never"}</dd>
      <dt>Round</dt><dd>began <span title=${time(crawl.started_at)}>${ago(crawl.started_at)}</span>${over && new Date(crawl.finished_at) >= new Date(crawl.started_at) ? `, took ${duration(new Date(crawl.finished_at) - new Date(crawl.started_at))}` : ""}</dd>
    </dl></section>
    ${asked && html`<${RemoveCrawl} name=${crawl.name} close=${() => setAsked(false)} confirm=${remove} />`}`;
}

// The text of a site, so a link only if it leads to the web.
function Address({ url }) {
  const address = safeAddress(url);
  return address ? html`<a href=${address} target="_blank" rel="noopener noreferrer">${url}</a>` : html`<span>${url}</span>`;
}

function Reasons({ title, reasons, empty }) {
  const rows = Object.entries(reasons).sort(([, a], [, b]) => b.count - a.count);
  if (rows.length === 0 && !empty) return null;
  return html`<section class="card" aria-label=${title}><h2>${title}</h2>
    ${rows.length === 0 ? html`<p class="soft">${empty}</p>` : html`<div class="scroll" tabindex="0" role="group" aria-label=${`Table: ${title}`}><table class="reasons">
      <thead><tr><th scope="col">Reason</th><th scope="col" class="number">Number</th><th scope="col">Example</th></tr></thead>
      <tbody>${rows.map(([reason, { count: number, example }]) => html`<tr><td><code>${reason}</code></td><td class="number">${count(number)}</td><td class="address">${example && html`<${Address} url=${example} />`}</td></tr>`)}</tbody>
    </table></div>`}
  </section>`;
}
