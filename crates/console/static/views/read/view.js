// Read: a document as text, its outline, and the passages that answer a question.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../core/html.js";
import { webAddress } from "../../core/address.js";
import { count } from "../../core/format.js";
import { useLoad } from "../../core/load.js";
import { navigate } from "../../core/route.js";
import { termsOf } from "../../core/words.js";
import { outline, parse, renderBlocks } from "../../markdown/render.js";
import { TextField } from "../../parts/fields.js";
import { Empty, Failure, Loaded } from "../../parts/states.js";
import { Warnings } from "../../parts/warnings.js";
import { readDocument, readOn } from "./document.js";
import { citedRange, marksOf } from "./marks.js";
import { Answers, Outline, Provenance, goTo } from "./side.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function Read({ params }) {
  const { doc, url, q, capture } = params;
  // The read that was asked for anew, and how often. Neither a shared address nor another read repeats it.
  const [anew, setAnew] = useState({ of: "", times: 0 });
  const nameOf = (version) => JSON.stringify([doc, url, q, version]);
  const fresh = anew.of === nameOf(capture) ? anew.times : 0;
  const again = () => {
    setAnew({ of: nameOf(undefined), times: fresh + 1 });
    // A cited version and the places in it stay as they are, so the latest one is opened.
    if (capture) navigate("read", { ...params, capture: "", start: "", end: "" });
  };
  const load = useLoad((signal) => (doc || url ? readDocument({ ...params, fresh }, signal) : Promise.resolve(null)), [doc, url, q, capture, fresh], { once: true });
  return html`
    <${Opening} params=${params} />
    ${doc || url
      ? html`<${Loaded} load=${load} label="Reading the document">${(data) => html`<${Document} key=${data.request_id} first=${data} params=${params} again=${again} />`}<//>`
      : html`<${Empty} title="No document is open"><p>Open one from a search or from the list of files, or enter the address of a web page above.</p><//>`}`;
}

function Opening({ params }) {
  const known = params.url ?? params.doc ?? "";
  const [place, setPlace] = useState(known);
  const [question, setQuestion] = useState(params.q ?? "");
  useEffect(() => setPlace(known), [known]);
  useEffect(() => setQuestion(params.q ?? ""), [params.q]);
  const submit = (event) => {
    event.preventDefault();
    const text = place.trim();
    if (!text) return;
    const isUuid = UUID.test(text);
    navigate("read", { ...(isUuid ? { doc: text } : { url: webAddress(text) }), q: question.trim(), capture: isUuid && text === params.doc ? params.capture : "" });
  };
  return html`<h1>Read</h1>
    <form class="card" onSubmit=${submit} aria-label="Open a document">
      <div class="opening">
        <${TextField} label="Web address or document id" value=${place} onValue=${setPlace} placeholder="https://example.com/" autocomplete="off" spellcheck=${false} />
        <${TextField} label="Question (optional)" dir="auto" value=${question} onValue=${setQuestion} placeholder="Marks the passages that answer it" autocomplete="off" />
        <button type="submit" class="primary">Open</button>
      </div>
    </form>`;
}

function Document({ first, params, again }) {
  const [data, setData] = useState(first);
  const [more, setMore] = useState({ busy: false, error: null });
  const blocks = useMemo(() => parse(data.text), [data.text]);
  const headings = useMemo(() => outline(blocks), [blocks]);
  const terms = useMemo(() => termsOf(params.q), [params.q]);
  const marks = useMemo(() => marksOf(data.text, data.answers, params, data.passages ?? []), [data.text, data.answers, data.passages, params.passage, params.start, params.end]);
  const body = useMemo(() => renderBlocks(blocks, { base: data.doc.canonical_url, marks, terms }), [blocks, marks, terms]);
  // A cited range is within its passage, so it comes first.
  const target = citedRange(params) ? "passage-cited" : params.passage ? `passage-${params.passage}` : "";
  const reached = useRef("");
  // A later part may contain the target. Once it is reached, further parts leave the place as it is.
  useLayoutEffect(() => {
    if (target === reached.current) return;
    reached.current = target && goTo(target) ? target : "";
  }, [target, data.text]);
  // End of the chosen passage, which may lie beyond the first part.
  const needed = [...data.answers, ...(data.passages ?? [])].find(({ passage_id: id }) => id === params.passage)?.char_end ?? 0;
  const loadMore = async () => {
    setMore({ busy: true, error: null });
    try {
      setData(await readOn(params, data, needed));
      setMore({ busy: false, error: null });
    } catch (error) {
      setMore({ busy: false, error });
    }
  };
  const isFar = data.more && needed > data.chars;
  useEffect(() => {
    if (isFar) loadMore();
  }, [isFar, needed, data.chars]);
  const { doc } = data;
  const isWeb = /^https?:/.test(doc.canonical_url);
  return html`
    <div class="head">
      <div class="stack tight">
        <h2 class="document-title" dir="auto">${doc.title || doc.name || doc.canonical_url}</h2>
        <p class="soft small">${doc.name ?? doc.canonical_url}${data.content && html` · ${count(data.chars)} characters${data.more ? " so far" : ""}`}</p>
      </div>
      ${isWeb && html`<button type="button" class="small-button" onClick=${again}>Read the page again</button>`}
    </div>
    <${Warnings} list=${(data.warnings ?? []).filter(({ code }) => code !== "content_truncated")} />
    <div class="document">
      <aside class="side stack" aria-label="About the document">
        ${params.q && html`<${Answers} answers=${data.answers} terms=${terms} params=${params} />`}
        <${Outline} headings=${headings} />
        <${Provenance} data=${data} params=${params} />
      </aside>
      <article class="card prose" aria-label="Text of the document">
        ${data.text ? body : html`<${Empty} title="There is no text"><p>The reason is in the warning above, if there is one.</p><//>`}
        ${data.more && html`<p><button type="button" disabled=${more.busy} onClick=${loadMore}>${more.busy ? "Loading…" : "Load the next part"}</button></p>`}
        ${more.error && html`<${Failure} error=${more.error} retry=${loadMore} />`}
      </article>
    </div>`;
}
