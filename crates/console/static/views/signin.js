// The form for the key.
import { html, useEffect, useRef, useState } from "../core/html.js";
import { BASE } from "../core/api.js";
import { enterKey, noticeStore } from "../core/session.js";
import { useStore } from "../core/store.js";
import { Icon } from "../parts/icons.js";

export function SignIn() {
  const notice = useStore(noticeStore);
  const [key, change] = useState("");
  const field = useRef(null);
  useEffect(() => field.current.focus(), []);
  const submit = (event) => {
    event.preventDefault();
    enterKey(key);
  };
  return html`<div class="signin card">
    <img src=${`${BASE}/console/icon.svg`} alt="" width="44" height="44" />
    <h1>Retrieval console</h1>
    <p class="soft">Search, read and manage what this server has indexed, with an API key.</p>
    ${notice && html`<div class="note note-error" role="alert"><${Icon} name="warning" /><p>${notice}</p></div>`}
    <form onSubmit=${submit}>
      <label for="key">API key</label>
      <div class="row">
        <input id="key" class="grow" type="password" autocomplete="off" spellcheck="false" ref=${field} placeholder="rsk_…" value=${key} onInput=${(event) => change(event.target.value)} aria-describedby="key-hint" />
        <button type="submit" class="primary">Open</button>
      </div>
    </form>
    <p class="hint" id="key-hint">The key stays in this tab and is sent to this server only. The first start of the server printed one; the operator makes more with <code>retrieval-server admin key create</code>.</p>
    <p class="small"><a href=${`${BASE}/docs`}>API reference</a></p>
  </div>`;
}
