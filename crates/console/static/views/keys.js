// Keys of the organization.
import { html, useState } from "../core/html.js";
import { get, post, remove } from "../core/api.js";
import { useKeptFocus } from "../core/focus.js";
import { ago, cents, count, time } from "../core/format.js";
import { useLoad } from "../core/load.js";
import { OPERATOR, about } from "../core/scopes.js";
import { CopyButton } from "../parts/copy.js";
import { Confirm, Dialog } from "../parts/dialog.js";
import { Check, TextField } from "../parts/fields.js";
import { Empty, Failure, Loaded } from "../parts/states.js";

const TONE = { active: "is-good", expired: "is-warn", revoked: "is-bad" };

export function Keys({ me, reloadAccount }) {
  const load = useLoad((signal) => get("keys", {}, { signal }), []);
  const list = useKeptFocus();
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState(null);
  const [asked, setAsked] = useState(null);
  const [error, setError] = useState(null);
  const revoke = async (key) => {
    setError(null);
    try {
      await remove(`keys/${key.api_key_id}`);
      load.reload();
      // The own key is gone, too: the next answer says so.
      if (key.api_key_id === me.credential.api_key_id) reloadAccount();
    } catch (fault) {
      setError(fault);
    }
  };
  const done = (answer) => {
    setCreating(false);
    setCreated(answer);
    load.reload();
  };
  return html`
    <div class="head"><h1>Keys</h1><button type="button" class="primary" onClick=${() => setCreating(true)}>Create a key</button></div>
    <${Organization} me=${me} />
    ${error && html`<${Failure} error=${error} />`}
    <section class="card" aria-label="List of keys" ref=${list} tabindex="-1">
      <${Loaded} load=${load} label="Reading the keys">${(data) => (data.keys.length === 0 ? html`<${Empty} title="There are no keys" />` : html`<ul class="plain keys">
        ${data.keys.map((key) => html`<${Key} key=${key.api_key_id} entry=${key} isOwn=${key.api_key_id === me.credential.api_key_id} ask=${setAsked} />`)}
      </ul>`)}<//>
    </section>
    ${creating && html`<${Create} me=${me} close=${() => setCreating(false)} done=${done} />`}
    ${created && html`<${Shown} created=${created} close=${() => setCreated(null)} />`}
    ${asked && html`<${Confirm} title=${`Revoke ${asked.name}?`} action="Revoke" close=${() => setAsked(null)} confirm=${() => revoke(asked)}>
      <p>Requests with <code>${asked.key_prefix}…</code> are refused within seconds. A revoked key cannot be used again.</p>
      ${asked.api_key_id === me.credential.api_key_id && html`<p><strong>It is the key of this tab, which will ask for another one.</strong></p>`}
    <//>`}`;
}

function Organization({ me }) {
  const { organization } = me;
  return html`<section class="card" aria-label="Organization"><dl class="facts">
    <dt>Organization</dt><dd>${organization.name}</dd>
    <dt>Id</dt><dd class="row"><code>${organization.organization_id}</code><${CopyButton} text=${organization.organization_id} label="Copy" /></dd>
    <dt>Billing</dt><dd>${organization.billed ? html`prepaid, balance <strong>${cents(organization.balance_cents)}</strong>` : "searches are free of charge"}</dd>
  </dl></section>`;
}

function Key({ entry, isOwn, ask }) {
  return html`<li>
    <div class="stack tight grow">
      <p class="row"><strong>${entry.name}</strong><code class="soft">${entry.key_prefix}…</code><span class=${`chip ${TONE[entry.status] ?? ""}`}>${entry.status}</span>${isOwn && html`<span class="chip is-accent">this tab</span>`}</p>
      <p class="row">${entry.scopes.map((scope) => html`<span class="chip" title=${about(scope)}>${scope}</span>`)}</p>
      <p class="soft small">${count(entry.limit_rps)} requests per second · created <span title=${time(entry.created_at)}>${ago(entry.created_at)}</span> · ${entry.last_used_at ? html`last used <span title=${time(entry.last_used_at)}>${ago(entry.last_used_at)}</span>` : "never used"}${entry.revoked_at ? ` · revoked ${ago(entry.revoked_at)}` : entry.expires_at ? ` · expires ${time(entry.expires_at)}` : ""}</p>
    </div>
    ${entry.status === "active" && html`<button type="button" class="small-button danger" aria-label=${`Revoke ${entry.name}`} onClick=${() => ask(entry)}>Revoke</button>`}
  </li>`;
}

function Create({ me, close, done }) {
  // The server refuses to pass on the operator's scope.
  const own = me.credential.scopes.filter((scope) => scope !== OPERATOR);
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState(own.filter((scope) => scope !== "keys:write"));
  const [limit, setLimit] = useState("");
  const [expires, setExpires] = useState("");
  const [state, setState] = useState({ busy: false, error: null });
  const toggle = (scope) => (on) => setScopes((old) => (on ? [...old, scope] : old.filter((other) => other !== scope)));
  const submit = async (event) => {
    event.preventDefault();
    const body = { name: name.trim(), scopes: own.filter((scope) => scopes.includes(scope)) };
    if (limit) body.limit_rps = Number(limit);
    // The day counts to its end, where the user is.
    if (expires) body.expires_at = new Date(`${expires}T23:59:59`).toISOString();
    setState({ busy: true, error: null });
    try {
      done(await post("keys", body, { retries: 0 }));
    } catch (error) {
      setState({ busy: false, error });
    }
  };
  return html`<${Dialog} title="Create a key" close=${close}>
    <form class="stack" onSubmit=${submit}>
      <${TextField} label="Name" hint="For this list, such as laptop or build server" value=${name} onValue=${setName} required maxlength="100" autocomplete="off" />
      <fieldset><legend>Scopes</legend><div class="stack tight">
        ${own.map((scope) => html`<${Check} label=${html`<code>${scope}</code> <span class="soft small">${about(scope)}</span>`} checked=${scopes.includes(scope)} onValue=${toggle(scope)} />`)}
      </div></fieldset>
      <div class="fields">
        <${TextField} label="Requests per second" hint=${`At most ${count(me.credential.limit_rps)}`} type="number" min="1" max=${me.credential.limit_rps} value=${limit} onValue=${setLimit} />
        <${TextField} label="Expires after" hint=${me.credential.expires_at ? `If empty, with this tab's key: ${time(me.credential.expires_at)}` : "Never, if empty"} type="date" max="9999-12-31" value=${expires} onValue=${setExpires} />
      </div>
      ${state.error && html`<${Failure} error=${state.error} />`}
      <div class="row end"><button type="button" onClick=${close}>Cancel</button><button type="submit" class="primary" disabled=${state.busy || scopes.length === 0}>Create</button></div>
    </form>
  <//>`;
}

function Shown({ created, close }) {
  return html`<${Dialog} title="The new key" close=${close}>
    <p class="soft">It is shown here once and cannot be read again. Store it now.</p>
    <p class="secret"><code>${created.key}</code></p>
    <div class="row end"><${CopyButton} text=${created.key} label="Copy the key" /><button type="button" class="primary" onClick=${close}>Done</button></div>
  <//>`;
}
