// Size of the web index, and its pages by host.
import { html, useState } from "../../core/html.js";
import { count } from "../../core/format.js";
import { href, navigate } from "../../core/route.js";
import { TextField } from "../../parts/fields.js";
import { Filling } from "../../parts/filling.js";
import { Loaded } from "../../parts/states.js";

export function Numbers({ load }) {
  if (!load.data) return null;
  const { pages, hosts, queued, hosts_in_back_off: paused } = load.data;
  return html`<section class="tiles" aria-label="Size of the web index">
    ${[["pages", pages], ["hosts", hosts], ["queued visits", queued], ["hosts in back-off", paused]].map(([label, value]) => html`<div class="card tile"><div class="value">${count(value)}</div><div class="label">${label}</div></div>`)}
  </section>`;
}

export function Hosts({ load }) {
  return html`<section class="card stack" aria-label="Pages by host"><h2>Pages by host</h2>
    <${Loaded} load=${load} label="Counting the pages">${(data) => (data.pages === 0 ? html`<${Filling} />` : html`
      <${Find} />
      <div class="scroll" tabindex="0" role="group" aria-label="Table: pages by host"><table>
        <thead><tr><th scope="col">Host</th><th scope="col" class="number">Pages</th></tr></thead>
        <tbody>${data.largest_hosts.map(({ host, pages }) => html`<tr><td><a href=${href("web", { host })}>${host}</a></td><td class="number">${count(pages)}</td></tr>`)}</tbody>
      </table></div>
      ${data.hosts > data.largest_hosts.length && html`<p class="soft small">The ${count(data.largest_hosts.length)} largest of ${count(data.hosts)} hosts.</p>`}`)}<//>
  </section>`;
}

function Find() {
  const [text, setText] = useState("");
  const submit = (event) => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted) navigate("web", /^https?:\/\//i.test(wanted) ? { prefix: wanted } : { host: wanted });
  };
  return html`<form class="find-pages" role="search" onSubmit=${submit}>
    <${TextField} label="Host, or beginning of a URL" value=${text} onValue=${setText} placeholder="docs.example.com or https://docs.example.com/guide/" autocomplete="off" spellcheck=${false} />
    <button type="submit">Show pages</button>
  </form>`;
}
