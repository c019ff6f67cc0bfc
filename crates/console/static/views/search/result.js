// One result.
import { html } from "../../core/html.js";
import { ago, time } from "../../core/format.js";
import { href } from "../../core/route.js";
import { may } from "../../core/scopes.js";
import { highlighted } from "../../markdown/render.js";
import { Explanation } from "./explain.js";
import { Feedback } from "./feedback.js";
import { Passage } from "./passage.js";

export function Result({ result, best, terms, query, searchId, me, otherRank, isCompared }) {
  const read = (extra) => href("read", { doc: result.doc_id, q: query, ...extra });
  const title = result.title || result.name || result.canonical_url;
  const published = result.metadata?.published_at;
  const crawled = result.metadata?.last_crawled_at;
  const score = result.score?.value;
  return html`<li class="result card">
    <div class="result-head">
      <span class="rank" aria-label=${`Rank ${result.rank}`}>${result.rank}</span>
      <div class="grow">
        <h2 dir="auto"><a href=${read()}>${highlighted(title, terms)}</a></h2>
        <p class="result-address small soft">
          <span class=${`chip ${result.index === "workspace" ? "is-accent" : ""}`}>${result.index === "workspace" ? "file" : "web"}</span>
          <span class="ellipsis" dir="auto">${result.name ?? result.canonical_url}</span>
          ${published && html`<span title=${time(published)}>published ${ago(published)}</span>`}
          ${!published && crawled && html`<span title=${time(crawled)}>read ${ago(crawled)}</span>`}
          ${(result.labels ?? []).map((label) => html`<span class="chip">${label}</span>`)}
        </p>
      </div>
      ${score !== undefined && html`<div class="score" title="Comparable within this answer only"><span class="hidden-text">Score </span>${score.toPrecision(3)}
        <span class="score-track" aria-hidden="true"><span class="score-bar" style=${{ width: `${best > 0 ? Math.max((score / best) * 100, 2) : 0}%` }}></span></span></div>`}
    </div>
    ${isCompared && html`<p class="small">${otherRank ? html`<span class="chip">${otherRank === result.rank ? "same rank in the other search" : `rank ${otherRank} in the other search`}</span>` : html`<span class="chip is-warn">only in this search</span>`}</p>`}
    ${result.snippet && !(result.passages?.length > 0) && html`<p class="snippet" dir="auto">${highlighted(result.snippet, terms)}</p>`}
    ${result.passages?.length > 0 && html`<ol class="passages plain" aria-label="Passages">
      ${result.passages.map((passage) => html`<${Passage} key=${passage.passage_id} passage=${passage} terms=${terms} base=${result.canonical_url} address=${read({ passage: passage.passage_id })} />`)}
    </ol>`}
    <div class="row spread result-foot">
      <${Explanation} result=${result} searchId=${searchId} terms=${terms} />
      ${may(me, "feedback:write") && html`<${Feedback} result=${result} searchId=${searchId} />`}
    </div>
  </li>`;
}
