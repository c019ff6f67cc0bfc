// The list of crawls.
import { html, useState } from "../../core/html.js";
import { get } from "../../core/api.js";
import { useKeptFocus } from "../../core/focus.js";
import { ago, count, plural, time } from "../../core/format.js";
import { useLoad } from "../../core/load.js";
import { usePolling } from "../../core/poll.js";
import { href } from "../../core/route.js";
import { Check } from "../../parts/fields.js";
import { Dialog } from "../../parts/dialog.js";
import { Empty, Failure, Loaded } from "../../parts/states.js";
import { StateChip, isAtWork, isRunning, removeCrawl, stopCrawl } from "./state.js";

export function Crawls({ changed }) {
  const load = useLoad((signal) => get("web/crawls", {}, { signal }), []);
  usePolling(load, load.data?.crawls.some(isRunning) ?? false);
  const list = useKeptFocus();
  const [asked, setAsked] = useState(null);
  const [error, setError] = useState(null);
  const act = (action) => async () => {
    setError(null);
    try {
      await action();
      changed();
    } catch (fault) {
      setError(fault);
    }
    load.reload();
  };
  return html`<section class="card stack" aria-label="Crawls" ref=${list} tabindex="-1"><h2>Crawls</h2>
    ${error && html`<${Failure} error=${error} />`}
    <${Loaded} load=${load} label="Reading the crawls">${({ crawls }) => (crawls.length === 0 ? html`<${Empty} title="There are no crawls"><p>Start one above, or by <code>retrieval-server web crawl URL</code>.</p><//>` : html`<ul class="plain runs">
      ${crawls.map((crawl) => html`<${Crawl} key=${crawl.crawl_id} crawl=${crawl} stop=${act(() => stopCrawl(crawl.name))} remove=${() => setAsked(crawl)} />`)}
    </ul>`)}<//>
    ${asked && html`<${RemoveCrawl} name=${asked.name} close=${() => setAsked(null)} confirm=${(pages) => act(() => removeCrawl(asked.name, pages))()} />`}
  </section>`;
}

function Crawl({ crawl, stop, remove }) {
  return html`<li class="row spread">
    <div class="stack tight grow">
      <p class="row"><${StateChip} state=${crawl.state} /><a class="ellipsis" href=${href("web", { crawl: crawl.name })}>${crawl.name}</a></p>
      <p class="soft small">${plural(crawl.pages, "page")} · ${count(crawl.queued)} of ${plural(crawl.urls, "URL")} queued · <span title=${time(crawl.started_at)}>round of ${ago(crawl.started_at)}</span></p>
      ${isRunning(crawl) && html`<${Progress} crawl=${crawl} />`}
    </div>
    <div class="row">
      ${isAtWork(crawl) && html`<button type="button" class="small-button" aria-label=${`Stop ${crawl.name}`} onClick=${stop}>Stop</button>`}
      <button type="button" class="small-button danger" aria-label=${`Remove ${crawl.name}`} onClick=${remove}>Remove</button>
    </div>
  </li>`;
}

export function Progress({ crawl }) {
  return html`<progress max=${Math.max(crawl.urls, 1)} value=${crawl.urls - crawl.queued} aria-label=${`Visited URLs of ${crawl.name}`}></progress>`;
}

export function RemoveCrawl({ name, close, confirm }) {
  const [pages, setPages] = useState(false);
  const remove = () => {
    close();
    confirm(pages);
  };
  return html`<${Dialog} title=${`Remove ${name}?`} close=${close}>
    <p class="soft">The crawl ends, and its list of visited URLs is lost. This cannot be undone.</p>
    <${Check} label="Remove its pages from the index, too, except those of other crawls" checked=${pages} onValue=${setPages} />
    <div class="row end"><button type="button" onClick=${close}>Cancel</button><button type="button" class="danger" onClick=${remove}>Remove</button></div>
  <//>`;
}
