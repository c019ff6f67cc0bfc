// The place to drop files on, the queue of uploads, and the outcome of each file.
import { html, useRef, useState } from "../../core/html.js";
import { bytes, count, plural } from "../../core/format.js";
import { fileHref, href } from "../../core/route.js";
import { may } from "../../core/scopes.js";
import { useStore } from "../../core/store.js";
import { TextField } from "../../parts/fields.js";
import { Icon } from "../../parts/icons.js";
import { Failure } from "../../parts/states.js";
import { ACCEPT, fromDrop, fromInput } from "./drop.js";
import { StatusChip } from "./status.js";
import { add, clear, isBusy, uploads } from "./uploads.js";

const MAX_SHOWN = 100;
const labelsOf = (text) => text.split(",").map((label) => label.trim()).filter(Boolean);

export function DropZone({ compact = false }) {
  const [over, setOver] = useState(false);
  const [labels, setLabels] = useState("");
  const [error, setError] = useState("");
  const [files, folder] = [useRef(null), useRef(null)];
  const take = async (reading) => {
    setError("");
    try {
      const found = await reading;
      if (found.items.length === 0) setError(found.skipped > 0 ? "There are no files of supported types in this folder." : "");
      else add(found, labelsOf(labels));
    } catch (fault) {
      setError(`The files could not be read: ${fault.message}`);
    }
  };
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    take(fromDrop(event.dataTransfer));
  };
  const chosen = (event) => {
    take(Promise.resolve(fromInput(event.target)));
    event.target.value = "";
  };
  return html`<section class=${`drop ${over ? "is-over" : ""}`} aria-label="Upload files"
      onDragOver=${(event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <${Icon} name="upload" />
    <p class="drop-title">Drop files or folders here</p>
    <p class="soft small">PDF, Word, Excel, PowerPoint, OpenDocument, HTML, Markdown, text and CSV</p>
    <div class="row">
      <button type="button" onClick=${() => files.current.click()}>Choose files</button>
      <button type="button" onClick=${() => folder.current.click()}>Choose a folder</button>
    </div>
    ${!compact && html`<div class="drop-labels"><${TextField} label="Labels for these files (optional)" placeholder="contracts, 2026" value=${labels} onValue=${setLabels} /></div>`}
    <input ref=${files} type="file" multiple hidden accept=${ACCEPT} aria-label="Files" onChange=${chosen} />
    <input ref=${folder} type="file" webkitdirectory hidden aria-label="Folder" onChange=${chosen} />
    ${error && html`<p class="bad small" role="alert">${error}</p>`}
  </section>`;
}

const ORDER = ["failed", "unsupported", "uploading", "waiting", "uploaded", "stored", "indexed"];

export function Queue({ me }) {
  const state = useStore(uploads);
  const { items, skipped, error } = state;
  if (items.length === 0) return null;
  const busy = isBusy(state);
  const of = (...names) => items.filter((item) => names.includes(item.state)).length;
  const total = items.reduce((sum, { size }) => sum + size, 0);
  const sent = items.reduce((sum, item) => sum + (item.state === "uploading" ? Math.min(item.sent, item.size) : item.state === "waiting" ? 0 : item.size), 0);
  const isIndexing = busy && of("waiting", "uploading") === 0;
  const shown = [...items].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state)).slice(0, MAX_SHOWN);
  const bad = of("failed", "unsupported");
  const text = isIndexing ? `Indexing ${plural(of("uploaded"), "file")}…` : busy ? `Uploading ${plural(items.length, "file")}: ${bytes(sent)} of ${bytes(total)}` : `${plural(of("indexed"), "file")} searchable${bad > 0 ? `, ${count(bad)} not` : ""}`;
  return html`<section class="card stack" aria-label="Uploads">
    <div class="row spread">
      <p role="status"><strong>${text}</strong>${skipped > 0 && html` <span class="soft small">${plural(skipped, "other file")} in the folder passed over</span>`}</p>
      ${!busy && html`<div class="row">
        ${of("indexed") > 0 && html`<a class="button primary-link" href=${href("search")}><${Icon} name="search" />Search them</a>`}
        <button type="button" class="small-button" onClick=${clear}>Close</button>
      </div>`}
    </div>
    ${busy && html`<progress max="1" value=${isIndexing ? undefined : total > 0 ? sent / total : 0} aria-label="Progress"></progress>`}
    ${error && html`<${Failure} error=${error} />`}
    <ul class="plain uploads">
      ${shown.map((item) => html`<li key=${item.id}>
        <span class="ellipsis grow" dir="auto">${item.state === "indexed" && may(me, "document:read") ? html`<a href=${fileHref(me, item.name)}>${item.name}</a>` : item.name}</span>
        <span class="soft small">${item.state === "uploading" && item.size > 0 ? `${Math.floor((Math.min(item.sent, item.size) / item.size) * 100)} %` : bytes(item.size)}</span>
        <${StatusChip} status=${item.state} />
        ${item.reason && html`<span class="reason small">${item.reason}</span>`}
        ${item.notice && html`<span class="reason small">${item.notice}</span>`}
      </li>`)}
    </ul>
    ${items.length > MAX_SHOWN && html`<p class="soft small">The first ${count(MAX_SHOWN)} of ${count(items.length)} are shown, problems first.</p>`}
  </section>`;
}
