// Usage: requests, errors, latency and spending over time.
import { html } from "../../core/html.js";
import { get } from "../../core/api.js";
import { csv, save } from "../../core/csv.js";
import { ago, cents, count, duration, percent } from "../../core/format.js";
import { useLoad } from "../../core/load.js";
import { navigate } from "../../core/route.js";
import { Chart } from "../../parts/chart.js";
import { Segments, SelectField } from "../../parts/fields.js";
import { Loaded } from "../../parts/states.js";
import { bucketText, grouped, tables } from "./figures.js";

const HOUR = 3600000;
const RANGES = { day: [24 * HOUR, "hour", "24 hours"], week: [7 * 24 * HOUR, "hour", "7 days"], month: [30 * 24 * HOUR, "day", "30 days"], quarter: [90 * 24 * HOUR, "day", "90 days"], year: [365 * 24 * HOUR, "day", "1 year"] };
const GROUPS = [["none", "all requests"], ["endpoint", "route"], ["api_key", "key"], ["status_class", "kind of response"]];

export function Usage({ params }) {
  const range = RANGES[params.range] ? params.range : "month";
  const group = GROUPS.some(([name]) => name === params.by) ? params.by : "none";
  const key = params.key ?? "";
  const load = useLoad((signal) => {
    const [length, interval] = RANGES[range];
    const to = new Date();
    return get("usage", { from: new Date(to - length).toISOString(), to: to.toISOString(), interval, group_by: group, api_key_ids: key }, { signal });
  }, [range, group, key]);
  const set = (name) => (value) => navigate("usage", { ...params, [name]: value });
  return html`
    <h1>Usage</h1>
    <div class="row spread usage-controls">
      <${Segments} label="Time range" value=${range} onValue=${set("range")} options=${Object.entries(RANGES).map(([name, [, , text]]) => [name, text])} />
      <${SelectField} label="Group requests by" value=${group} onValue=${set("by")} options=${GROUPS} />
      ${key && html`<button type="button" class="small-button" onClick=${() => set("key")("")}>All keys</button>`}
    </div>
    <${Loaded} load=${load} label="Reading the usage">${(data) => html`<${Overview} data=${data} set=${set} isOneKey=${Boolean(key)} />`}<//>`;
}

function Overview({ data, set, isOneKey }) {
  const { headline, range } = data;
  const buckets = data.latency_series.map(({ bucket }) => bucketText(bucket, range));
  const { requests, errors } = grouped(data);
  const tile = (label, value, tone = "") => html`<div class="card tile"><div class=${`value ${tone}`}>${value}</div><div class="label">${label}</div></div>`;
  return html`
    <section class="tiles" aria-label="Totals">
      ${tile("requests", count(headline.requests))}
      ${tile(`errors (${percent(headline.error_rate)})`, count(headline.errors), headline.error_rate > 0.05 ? "bad" : "")}
      ${tile("mean time", duration(headline.avg_duration_ms))}
      ${tile("95th percentile", duration(headline.p95_duration_ms))}
      ${tile("spending", cents(headline.spend_cents))}
    </section>
    <div class="columns usage-columns">
      <section class="card"><${Chart} title="Requests" kind="bars" buckets=${buckets} series=${requests} format=${count} /></section>
      <section class="card"><${Chart} title="Response time" kind="lines" buckets=${buckets} format=${duration}
        series=${[{ label: "95th percentile", values: data.latency_series.map((point) => point.p95_duration_ms) }, { label: "mean", values: data.latency_series.map((point) => point.avg_duration_ms) }]} /></section>
      <section class="card"><${Chart} title="Errors" kind="bars" buckets=${buckets} series=${errors} format=${count} /></section>
      <section class="card stack"><h2>Spending</h2><${Spending} data=${data} /></section>
    </div>
    ${tables(data).map((table) => html`<${Table} key=${table.name} table=${table} range=${range} set=${isOneKey ? null : set} />`)}
    <p class="hint">${range.from} to ${range.to}, in ${range.timezone}.</p>`;
}

function Spending({ data }) {
  const max = Math.max(...data.keys.map((key) => key.spend_cents), 1);
  const paid = data.keys.filter((key) => key.spend_cents > 0);
  if (paid.length === 0 && data.headline.spend_cents === 0) return html`<p class="soft">Nothing was charged in this time.</p>`;
  return html`
    <ul class="plain spend">${paid.map((key) => html`<li><span class="ellipsis">${key.name}</span><span class="spend-track" aria-hidden="true"><span style=${{ width: `${(key.spend_cents / max) * 100}%` }}></span></span><span>${cents(key.spend_cents)}</span></li>`)}</ul>
    <dl class="facts">${data.products.map((product) => html`<dt>${product.label}</dt><dd>${cents(product.spend_cents)} <span class="soft small">for ${count(product.requests)}</span></dd>`)}</dl>`;
}

const SHOW = {
  route: (value) => html`<code>${value}</code>`,
  p95_duration_ms: duration,
  spend_cents: cents,
  last_used_at: (value) => (value ? ago(value) : ""),
};
const NUMBERS = new Set(["requests", "errors", "p95_duration_ms", "spend_cents"]);

function Table({ table, range, set }) {
  const { name, title, columns, rows, shown } = table;
  const download = () => save(`${name}-${range.from.slice(0, 10)}-${range.to.slice(0, 10)}.csv`, csv([columns, ...rows.map((row) => columns.map((column) => row[column]))]));
  const kind = (column) => (NUMBERS.has(column) ? "number" : "");
  return html`<section class="card" aria-label=${title}>
    <div class="row spread"><h2>${title}</h2><button type="button" class="small-button" onClick=${download}>Export CSV</button></div>
    ${rows.length === 0 ? html`<p class="soft">Nothing in this time.</p>` : shown && html`<div class="scroll" tabindex="0" role="group" aria-label=${`Table: ${title}`}><table>
      <thead><tr>${shown.map(([column, text]) => html`<th scope="col" class=${kind(column)}>${text}</th>`)}${name === "keys" && set && html`<th><span class="hidden-text">Filter</span></th>`}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${shown.map(([column]) => html`<td class=${kind(column)}>${SHOW[column] ? SHOW[column](row[column]) : typeof row[column] === "number" ? count(row[column]) : row[column]}</td>`)}
        ${name === "keys" && set && html`<td><button type="button" class="small-button" aria-label=${`Only this: ${row.name}`} onClick=${() => set("key")(row.api_key_id)}>Only this</button></td>`}</tr>`)}</tbody>
    </table></div>`}
  </section>`;
}
