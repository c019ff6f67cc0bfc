// The form that starts a crawl.
import { html, useState } from "../../core/html.js";
import { webAddress } from "../../core/address.js";
import { post } from "../../core/api.js";
import { navigate } from "../../core/route.js";
import { AreaField, SelectField, TextField } from "../../parts/fields.js";
import { Options } from "../../parts/options.js";
import { Failure } from "../../parts/states.js";

const SITEMAPS = [["auto", "sitemaps and links"], ["only", "sitemaps only"], ["off", "links only"]];
const EVERY = [["", "never: one round"], ["3600", "hourly"], ["86400", "daily"], ["604800", "weekly"], ["2592000", "monthly"]];
const EMPTY = { urls: "", name: "", depth: "", limit: "", include: "", exclude: "", sitemaps: "auto", every: "" };

export function CrawlForm() {
  const [form, setForm] = useState(EMPTY);
  const [state, setState] = useState({ busy: false, error: null });
  const set = (name) => (value) => setForm((old) => ({ ...old, [name]: value }));
  const submit = async (event) => {
    event.preventDefault();
    setState({ busy: true, error: null });
    try {
      const { name } = await post("web/crawls", request(form), { retries: 0 });
      setState({ busy: false, error: null });
      navigate("web", { crawl: name });
    } catch (error) {
      setState({ busy: false, error });
    }
  };
  return html`<form class="card stack" onSubmit=${submit} aria-label="Start a crawl">
    <h2>Start a crawl</h2>
    <${AreaField} label="Sites, pages, sitemaps or feeds" hint="One URL per line. The crawl stays on their hosts and honours robots.txt." value=${form.urls} onValue=${set("urls")} placeholder="https://docs.example.com" required spellcheck=${false} autocapitalize="off" />
    <${Options}><div class="fields">
      <${TextField} label="Name" hint="The first host, if empty. A known name goes on." value=${form.name} onValue=${set("name")} maxlength="200" autocomplete="off" />
      <${TextField} label="Pages, at most" hint="All, if empty" type="number" min="1" value=${form.limit} onValue=${set("limit")} />
      <${TextField} label="Links from a URL, at most" hint="Any number, if empty" type="number" min="0" value=${form.depth} onValue=${set("depth")} />
      <${SelectField} label="Follow" value=${form.sitemaps} onValue=${set("sitemaps")} options=${SITEMAPS} />
      <${SelectField} label="Read again" hint="Changed pages more often" value=${form.every} onValue=${set("every")} options=${EVERY} />
      <${AreaField} label="Only these pages" hint="Patterns such as /docs/*, one per line" value=${form.include} onValue=${set("include")} spellcheck=${false} />
      <${AreaField} label="Without these pages" hint="Patterns such as *.pdf, one per line" value=${form.exclude} onValue=${set("exclude")} spellcheck=${false} />
    </div><//>
    ${state.error && html`<${Failure} error=${state.error} />`}
    <div class="row end"><button type="submit" class="primary" disabled=${state.busy || !form.urls.trim()}>Start</button></div>
  </form>`;
}

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function request(form) {
  const body = { urls: lines(form.urls).map(webAddress), sitemaps: form.sitemaps, include: lines(form.include), exclude: lines(form.exclude) };
  if (form.name.trim()) body.name = form.name.trim();
  for (const [field, text] of [["depth", form.depth], ["limit", form.limit], ["every_seconds", form.every]]) if (text !== "") body[field] = Number(text);
  return body;
}
