// The report with citations that open the quoted passage.
import { html, useMemo } from "../../core/html.js";
import { count, plural, time } from "../../core/format.js";
import { href, source } from "../../core/route.js";
import { parse, renderBlocks } from "../../markdown/render.js";
import { Code, CopyButton } from "../../parts/copy.js";

export const place = (citation) => href("read", { ...source(citation), capture: citation.capture_id, passage: citation.passage_id, start: citation.char_start, end: citation.char_end });

function mark(citations) {
  const known = new Map((citations ?? []).map((citation) => [citation.n, citation]));
  return (n) => {
    const citation = known.get(n);
    return citation ? html`<a class="citation" href=${place(citation)} title=${citation.quote}>${n}</a>` : null;
  };
}

// Plain text with the marks of citations as links.
function cited(text, citations) {
  const cite = mark(citations);
  return text.split(/(\[\d+\])/).map((piece) => {
    const found = /^\[(\d+)\]$/.exec(piece);
    return (found && cite(Number(found[1]))) ?? piece;
  });
}

export function Report({ output, draft }) {
  const text = output?.text ?? draft;
  const body = useMemo(() => renderBlocks(parse(text ?? ""), { cite: mark(output?.citations) }), [text, output]);
  if (!output && !draft) return null;
  return html`
    <article class="card prose" aria-label="Report" aria-busy=${output ? "false" : "true"}>
      ${output?.format === "structured" && !output.structured ? html`<p class="soft">The sources do not fill the schema.</p>` : output?.structured ? html`<${Code} label="Structured report" text=${JSON.stringify(output.structured, null, 2)} />` : output?.format === "text" ? html`<div class="plain-text" dir="auto">${cited(text, output.citations)}</div>` : body}
    </article>
    ${output && html`<div class="row"><${CopyButton} text=${output.structured ? JSON.stringify(output.structured, null, 2) : text} label="Copy the report" /><span class="soft small">${output.engine === "model" ? "Written by a model from the quotes below" : "Verified quotes, without a model"} · ${plural(output.sources_considered, "source")} considered${output.truncated ? " · shortened" : ""}</span></div>`}
    ${output?.citations?.length > 0 && html`<section class="card" aria-label="Citations"><h2>Citations</h2><ol class="plain citations">
      ${output.citations.map((citation) => html`<li><span class="citation" aria-hidden="true">${citation.n}</span><div class="grow stack tight">
        <blockquote dir="auto"><a class="passage-link" href=${place(citation)}>${citation.quote}</a></blockquote>
        <p class="soft small">${citation.title || citation.canonical_url} · read ${time(citation.capture_time)} ${citation.verified ? html`<span class="chip is-good">verified</span>` : html`<span class="chip is-bad">not verified</span>`}</p>
      </div></li>`)}
    </ol></section>`}
    ${output?.basis?.length > 0 && html`<section class="card" aria-label="Basis"><h2>Basis of the fields</h2><dl class="facts">${output.basis.map(({ field, citations, confidence }) => html`<dt><code>${field}</code></dt><dd>${confidence} · citations ${citations.map(count).join(", ")}</dd>`)}</dl></section>`}
    ${output?.problems?.length > 0 && html`<section class="card" aria-label="Problems"><h2>Places that could not be filled</h2><dl class="facts">${output.problems.map(({ field, message }) => html`<dt><code>${field || "/"}</code></dt><dd>${message}</dd>`)}</dl></section>`}
    ${output?.unanswered?.length > 0 && html`<section class="card" aria-label="Unanswered"><h2>Not answered</h2><ul>${output.unanswered.map((question) => html`<li>${question}</li>`)}</ul></section>`}`;
}
