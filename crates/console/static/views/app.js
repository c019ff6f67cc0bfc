// The frame around the views: navigation, the key, the state of the connection.
import { html, useEffect, useErrorBoundary, useRef } from "../core/html.js";
import { BASE, get } from "../core/api.js";
import { connection, poll } from "../core/connection.js";
import { restore } from "../core/places.js";
import { href, route } from "../core/route.js";
import { account, forget, keyStore, linkedStore, noticeStore, setLinked } from "../core/session.js";
import { may } from "../core/scopes.js";
import { useLoad } from "../core/load.js";
import { useStore } from "../core/store.js";
import { Icon } from "../parts/icons.js";
import { Failure, Loading } from "../parts/states.js";
import { isBusy, uploads } from "./files/uploads.js";
import { Files } from "./files/view.js";
import { Keys } from "./keys.js";
import { Read } from "./read/view.js";
import { Research } from "./research/view.js";
import { Search } from "./search/view.js";
import { SignIn } from "./signin.js";
import { Start } from "./start.js";
import { Usage } from "./usage/view.js";
import { Web } from "./web/view.js";

// Name, title, view, and a scope that the view cannot do without.
const VIEWS = [
  ["start", "Start", Start, null],
  ["search", "Search", Search, "search:read"],
  ["read", "Read", Read, "document:read"],
  ["files", "Files", Files, "files:read"],
  ["research", "Research", Research, "research:read"],
  ["web", "Web", Web, "web:manage"],
  ["usage", "Usage", Usage, "usage:read"],
  ["keys", "Keys", Keys, "keys:write"],
];

export function App() {
  const key = useStore(keyStore);
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    ${key ? html`<${SignedIn} key=${key} />` : html`<main id="main" class="signed-out" tabindex="-1"><${SignIn} /></main>`}`;
}

// The fragment of the address belongs to the view.
function skip(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

// What the key may do, and whether this server has research.
async function readAccount(signal) {
  const me = await get("me", {}, { signal });
  const hasResearch = may(me, "research:read") && (await get("research", { limit: 1 }, { signal, retries: 0 }).then(() => true, (error) => error.code !== "not_found"));
  const value = { ...me, hasResearch, readAt: Date.now() };
  account.set(value);
  return value;
}

function SignedIn() {
  const load = useLoad(readAccount, []);
  const { view, params, entry, place } = useStore(route);
  const me = useStore(account) ?? load.data;
  const [name, title, View, scope] = VIEWS.find(([known]) => known === view) ?? VIEWS[0];
  const main = useRef(null);
  useEffect(() => {
    document.title = `${title} · Retrieval console`;
    document.querySelector(".navigation [aria-current]")?.scrollIntoView?.({ block: "nearest", inline: "center" });
  }, [name]);
  // What is shown, without its options.
  const subject = JSON.stringify([name, params.id, params.crawl, params.host, params.prefix]);
  const shown = useRef({ subject, entry });
  useEffect(() => {
    const before = shown.current;
    shown.current = { subject, entry };
    const isNew = subject !== before.subject;
    // A screen reader hears the new view.
    if (isNew) main.current?.focus({ preventScroll: true });
    if (entry !== before.entry && place !== undefined) return restore(main.current, place);
    if (isNew) scrollTo(0, 0);
    return undefined;
  }, [subject, entry]);
  // Every view shows the numbers of files that uploads have changed.
  useEffect(() => {
    let wasBusy = isBusy(uploads.get());
    return uploads.subscribe((state) => {
      const busy = isBusy(state);
      if (wasBusy && !busy) load.reload();
      wasBusy = busy;
    });
  }, []);
  // The operator's view has no place in the navigation of others.
  const isVisible = ([known]) => (known === "web" ? may(me, "web:manage") : known !== "research" || me?.hasResearch);
  return html`
    <header class="frame">
      <a class="brand" href="#/"><img src=${`${BASE}/console/icon.svg`} alt="" width="26" height="26" /><span>Retrieval</span></a>
      <nav class="navigation" aria-label="Views">
        ${VIEWS.filter(isVisible).map(([known, text]) => html`<a href=${href(known)} aria-current=${known === name ? "page" : undefined}><${Icon} name=${known} /><span>${text}</span></a>`)}
        <a href=${`${BASE}/docs`} class="outside"><${Icon} name="docs" /><span>API reference</span></a>
      </nav>
      <div class="who">
        ${me && html`<span class="who-name" title=${me.organization.name}>${me.organization.name}</span><span class="soft small">${me.credential.key_prefix ? html`key <code>${me.credential.key_prefix}…</code>` : "access token"}</span>`}
        <button type="button" class="small-button" onClick=${() => forget()}><${Icon} name="leave" />Forget key</button>
      </div>
    </header>
    <${Outage} />
    <main id="main" ref=${main} tabindex="-1">
      <${Notice} />
      ${me && html`<${Linked} organization=${me.organization.name} />`}
      <${Guard} key=${name}>
        ${!me && load.error && html`<h1>${title}</h1><${Failure} error=${load.error} retry=${load.reload} />`}
        ${!me && !load.error && html`<${Loading} label="Reading what this key may do" />`}
        ${me && (!scope || may(me, scope) ? html`<${View} params=${params} me=${me} reloadAccount=${load.reload} />` : html`<h1>${title}</h1><${Lacking} scope=${scope} />`)}
      <//>
    </main>`;
}

function Lacking({ scope }) {
  return html`<div class="note" role="note"><${Icon} name="keys" /><div><p><strong>This key may not open this view.</strong></p><p>It lacks the scope <code>${scope}</code>.</p></div></div>`;
}

function Outage() {
  const { online } = useStore(connection);
  return html`<div class="outage-place" role="status" aria-live="polite">
    ${!online && html`<p class="outage"><span class="spinner" aria-hidden="true"></span>The server cannot be reached. Trying again… <button type="button" class="small-button" onClick=${poll}>Now</button></p>`}
  </div>`;
}

function Notice() {
  const notice = useStore(noticeStore);
  if (!notice) return null;
  return html`<${Warning} close=${() => noticeStore.set("")}>${notice}<//>`;
}

// Who opens a link may not know whose key it has.
function Linked({ organization }) {
  const isLinked = useStore(linkedStore);
  if (!isLinked) return null;
  return html`<${Warning} close=${() => setLinked(false)}>You are signed in with the key of the link that you opened, for the organization <strong>${organization}</strong>. Is it yours? Others who have this key can read what you upload and search for. If the link is from somebody else and you did not expect it, press <strong>Forget key</strong>.<//>`;
}

function Warning({ close, children }) {
  return html`<div class="note note-warn" role="alert"><${Icon} name="warning" /><p>${children} <button type="button" class="small-button" onClick=${close}>Close</button></p></div>`;
}

// A fault of one view leaves the others usable.
function Guard({ children }) {
  const [error, reset] = useErrorBoundary((fault) => console.error(fault));
  if (error) return html`<${Failure} error=${{ message: "This view failed", code: String(error.message ?? error) }} retry=${reset} />`;
  return children;
}
