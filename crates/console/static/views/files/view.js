// Files: upload, follow, find, read, download, delete.
import { html, useMemo, useState } from "../../core/html.js";
import { get, remove } from "../../core/api.js";
import { useKeptFocus } from "../../core/focus.js";
import { bytes, count, plural } from "../../core/format.js";
import { href, navigate } from "../../core/route.js";
import { may } from "../../core/scopes.js";
import { safeAddress } from "../../markdown/render.js";
import { Confirm } from "../../parts/dialog.js";
import { SelectField, TextField } from "../../parts/fields.js";
import { Icon } from "../../parts/icons.js";
import { Empty, Failure, Loading } from "../../parts/states.js";
import { forgetAnswers } from "../search/answers.js";
import { DropZone, Queue } from "./dropzone.js";
import { History } from "./history.js";
import { useListing } from "./listing.js";
import { Table } from "./table.js";

const STATES = [["", "All states"], ["indexed", "indexed"], ["pending", "pending"], ["failed", "failed"], ["unsupported", "unsupported"]];

export function Files({ params, me }) {
  const listing = useListing();
  const list = useKeptFocus(".file-body");
  const [asked, setAsked] = useState(null);
  const [error, setError] = useState(null);
  const mayWrite = may(me, "files:write");
  const set = (name) => (value) => navigate("files", { ...params, [name]: value }, { replace: true });
  const shown = useMemo(() => filtered(listing.files, params), [listing.files, params.name, params.state]);
  const download = async (file) => {
    setError(null);
    try {
      const { url } = await get(`files/${encodeURIComponent(file.name)}/content`);
      const address = safeAddress(url);
      if (address) save(address);
    } catch (fault) {
      setError(fault);
    }
  };
  const erase = async (file) => {
    setError(null);
    try {
      await remove(`files/${encodeURIComponent(file.name)}`);
      forgetAnswers();
      listing.drop(file.name);
    } catch (fault) {
      setError(fault);
    }
  };
  const total = listing.files.reduce((sum, { size }) => sum + size, 0);
  return html`
    <div class="head">
      <div><h1>Files</h1><p class="soft small" role="status">${listing.started && html`${plural(listing.files.length, "file")}, ${bytes(total)}${!listing.done ? " so far" : ""}`}</p></div>
      ${listing.files.length > 0 && html`<${SearchWithin} />`}
    </div>
    ${mayWrite && html`<${DropZone} />`}
    <${Queue} me=${me} />
    ${error && html`<${Failure} error=${error} />`}
    <section class="card stack" aria-label="List of files" ref=${list} tabindex="-1">
      <div class="fields">
        <${TextField} label="Find by name or label" type="search" dir="auto" value=${params.name} onValue=${set("name")} />
        <${SelectField} label="State" value=${params.state} onValue=${set("state")} options=${STATES} />
      </div>
      ${listing.error && html`<${Failure} error=${listing.error} retry=${listing.reload} />`}
      ${!listing.started && !listing.error && html`<${Loading} label="Reading the list" />`}
      ${listing.started && listing.files.length === 0 && html`<${Empty} title="There are no files yet"><p>Drop some above: they are searchable a moment later.</p><//>`}
      ${listing.files.length > 0 && shown.length === 0 && html`<${Empty} title="No file matches"><p>Of ${plural(listing.files.length, "file")}.</p><//>`}
      ${shown.length > 0 && html`
        ${shown.length !== listing.files.length && html`<p class="soft small" role="status">${count(shown.length)} of ${count(listing.files.length)}</p>`}
        <${Table} files=${shown} me=${me} mayRead=${may(me, "document:read")} mayWrite=${mayWrite} download=${download} erase=${setAsked} />`}
    </section>
    <${History} mayWrite=${mayWrite} changed=${listing.reload} />
    ${asked && html`<${Confirm} title=${`Delete ${asked.name}?`} action="Delete" close=${() => setAsked(null)} confirm=${() => erase(asked)}>
      <p>The file leaves the store and every search. This cannot be undone.</p>
    <//>`}`;
}

function filtered(files, { name, state }) {
  const wanted = (name ?? "").trim().toLowerCase();
  if (!wanted && !state) return files;
  const isWanted = (file) => file.name.toLowerCase().includes(wanted) || (file.labels ?? []).some((label) => label.toLowerCase().includes(wanted));
  return files.filter((file) => (!state || file.status === state) && (!wanted || isWanted(file)));
}

// The store sends the file as an attachment.
function save(address) {
  const link = document.createElement("a");
  link.href = address;
  link.rel = "noopener noreferrer";
  link.target = "_blank";
  link.click();
}

function SearchWithin() {
  const [query, setQuery] = useState("");
  const submit = (event) => {
    event.preventDefault();
    if (query.trim()) location.assign(href("search", { q: query.trim(), in: "workspace" }));
  };
  return html`<form class="row search-within" onSubmit=${submit} role="search">
    <input class="grow" type="search" dir="auto" aria-label="Search within the files" placeholder="Search within the files" value=${query} onInput=${(event) => setQuery(event.target.value)} />
    <button type="submit" aria-label="Search"><${Icon} name="search" /></button>
  </form>`;
}
