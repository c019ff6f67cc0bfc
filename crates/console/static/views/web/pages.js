// Pages of a host or with a beginning of their URLs.
import { html, useState } from "../../core/html.js";
import { get, post } from "../../core/api.js";
import { useKeptFocus } from "../../core/focus.js";
import { ago, plural, time } from "../../core/format.js";
import { useLoad } from "../../core/load.js";
import { href } from "../../core/route.js";
import { may } from "../../core/scopes.js";
import { Confirm } from "../../parts/dialog.js";
import { Icon } from "../../parts/icons.js";
import { Empty, Failure, Loaded } from "../../parts/states.js";
import { removePages } from "./state.js";

const LIMIT = 100;

export function Pages({ params, me }) {
  const { host, prefix, cursor } = params;
  const selection = host ? { host } : { prefix };
  const load = useLoad((signal) => get("web/pages", { ...selection, cursor, limit: LIMIT }, { signal }), [host, prefix, cursor]);
  const list = useKeptFocus();
  const [asked, setAsked] = useState(null);
  const [state, setState] = useState({ notice: "", error: null });
  const act = async (action) => {
    setState({ notice: "", error: null });
    try {
      setState({ notice: await action(), error: null });
    } catch (error) {
      setState({ notice: "", error });
    }
  };
  const refresh = (urls) => act(async () => {
    const { results } = await post("web/pages/refresh", { urls });
    return `${plural(results.filter(({ queued }) => queued).length, "visit")} queued.`;
  });
  const remove = (target) => act(async () => {
    const removed = await removePages(target);
    load.reload();
    return `${plural(removed, "page")} removed.`;
  });
  return html`
    <p class="small"><a href=${href("web")}>All hosts</a></p>
    <div class="head"><h1 class="address">${host ?? prefix}</h1><div class="row">
      ${load.data?.pages.length > 0 && html`<button type="button" class="small-button" onClick=${() => refresh(load.data.pages.map(({ url }) => url))}>Refresh these</button>`}
      <button type="button" class="small-button danger" onClick=${() => setAsked({ target: selection, what: host ? `all pages of ${host}` : `all pages below ${prefix}` })}>Remove all</button>
    </div></div>
    <p role="status" class="soft small">${state.notice}</p>
    ${state.error && html`<${Failure} error=${state.error} />`}
    <section class="card stack" aria-label="Pages" ref=${list} tabindex="-1">
      <${Loaded} load=${load} label="Reading the pages">${(data) => (data.pages.length === 0 ? html`<${Empty} title="The index has no such page" />` : html`<ul class="plain runs">
        ${data.pages.map((page) => html`<${Page} key=${page.doc_id} page=${page} mayRead=${may(me, "document:read")} refresh=${() => refresh([page.url])} remove=${() => setAsked({ target: { url: page.url }, what: page.url })} />`)}
      </ul>`)}<//>
      ${(cursor || load.data?.next_cursor) && html`<p class="row">
        ${cursor && html`<a href=${href("web", selection)}>First pages</a>`}
        ${load.data?.next_cursor && html`<a href=${href("web", { ...selection, cursor: load.data.next_cursor })}>Further pages</a>`}
      </p>`}
    </section>
    ${asked && html`<${Confirm} title="Remove from the index?" action="Remove" close=${() => setAsked(null)} confirm=${() => remove(asked.target)}>
      <p class="address">${asked.what}</p><p>Searches do not find them any more, and crawls that know their URLs do not add them again.</p>
    <//>`}`;
}

function Page({ page, mayRead, refresh, remove }) {
  const action = (name, icon, run) => html`<button type="button" class="small-button quiet" title=${name} aria-label=${`${name}: ${page.url}`} onClick=${run}><${Icon} name=${icon} /></button>`;
  return html`<li class="row spread">
    <div class="stack tight grow">
      <p class="ellipsis">${mayRead ? html`<a href=${href("read", { url: page.url })}>${page.title || page.url}</a>` : page.title || page.url}</p>
      <p class="soft small address">${page.title && html`${page.url} · `}${page.last_crawled_at ? html`<span title=${time(page.last_crawled_at)}>visited ${ago(page.last_crawled_at)}</span>` : html`<span title=${time(page.first_seen_at)}>added ${ago(page.first_seen_at)}</span>`}</p>
    </div>
    <div class="row">${action("Refresh", "refresh", refresh)}${action("Remove", "trash", remove)}</div>
  </li>`;
}
