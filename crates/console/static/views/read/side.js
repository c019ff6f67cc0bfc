// The column beside a document: outline, answering passages, provenance.
import { html } from "../../core/html.js";
import { ago, time } from "../../core/format.js";
import { href } from "../../core/route.js";
import { blocksText, highlighted, parse, safeAddress, withoutHeading } from "../../markdown/render.js";

// Scrolls to an element. Returns false if there is none yet.
export function goTo(id) {
  const element = document.getElementById(id);
  if (!element) return false;
  element.scrollIntoView({ block: "start" });
  element.focus({ preventScroll: true });
  return true;
}

const jump = (id) => (event) => {
  event.preventDefault();
  goTo(id);
};

export function Answers({ answers, terms, params }) {
  return html`<section class="card" aria-label="Answering passages">
    <h2>Passages that answer it</h2>
    ${answers.length === 0 ? html`<p class="soft small">None: the words of the question are not in this document.</p>` : html`<ol class="plain stack tight">
      ${answers.map((passage) => html`<li><a class="answer" href=${href("read", { ...params, passage: passage.passage_id, start: "", end: "" })} onClick=${params.passage === passage.passage_id ? jump(`passage-${passage.passage_id}`) : undefined}>
        ${passage.section_heading && html`<span class="soft small" dir="auto">${passage.section_heading}</span>`}
        <span class="answer-text" dir="auto">${highlighted(blocksText(withoutHeading(parse(passage.text))), terms)}</span>
      </a></li>`)}
    </ol>`}
  </section>`;
}

export function Outline({ headings }) {
  if (headings.length === 0) return null;
  return html`<nav class="card outline" aria-label="Outline of the document">
    <h2>Outline</h2>
    <ol class="plain">${headings.map(({ id, level, text }) => html`<li dir="auto" class=${`level-${Math.min(level, 4)}`}><a href="#" onClick=${jump(id)}>${text || "(no text)"}</a></li>`)}</ol>
  </nav>`;
}

export function Provenance({ data, params }) {
  const { doc, provenance } = data;
  const history = data.capture_history ?? [];
  const fact = (name, value) => value && html`<dt>${name}</dt><dd>${value}</dd>`;
  const when = (text) => text && html`<span title=${time(text)}>${ago(text)}</span>`;
  const source = safeAddress(doc.canonical_url);
  return html`<section class="card provenance" aria-label="Provenance">
    <h2>Provenance</h2>
    <dl class="facts">
      ${fact(doc.name ? "File" : "Address", doc.name ?? (source ? html`<a href=${source} rel="noopener noreferrer" target="_blank">${doc.canonical_url}</a>` : doc.canonical_url))}
      ${fact("Published", when(doc.published_at))}
      ${fact("First seen", when(doc.first_seen_at))}
      ${fact("Last seen", when(doc.last_seen_at))}
      ${fact("Read", when(provenance?.capture_time))}
      ${fact("Capture", provenance && html`<code>${provenance.capture_id}</code>`)}
      ${fact("Digest", doc.content_digest && html`<code>${doc.content_digest}</code>`)}
      ${fact("Document", html`<code>${doc.doc_id}</code>`)}
    </dl>
    ${history.length > 0 && html`<h3 class="small">Captures</h3><ul class="plain small">
      ${history.map((capture) => html`<li><a href=${href("read", { doc: doc.doc_id, q: params.q, capture: capture.capture_id })} aria-current=${provenance?.capture_id === capture.capture_id ? "true" : undefined}>${time(capture.capture_time)}</a> <span class="soft">${capture.content_format ?? ""}${provenance?.capture_id === capture.capture_id ? " (shown)" : ""}</span></li>`)}
    </ul>`}
  </section>`;
}
