// The list of files. Only rows in sight exist, so that any number of files is quick.
import { html, useLayoutEffect, useRef, useState } from "../../core/html.js";
import { ago, bytes, time } from "../../core/format.js";
import { fileHref } from "../../core/route.js";
import { Icon } from "../../parts/icons.js";
import { StatusChip } from "./status.js";

const ROW = 60;
const SPARE = 6;

export function Table({ files, me, mayRead, mayWrite, download, erase }) {
  const box = useRef(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const measure = () => box.current && setView({ top: box.current.scrollTop, height: box.current.clientHeight });
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(Math.floor(view.top / ROW) - SPARE, 0);
  const last = Math.min(Math.ceil((view.top + view.height) / ROW) + SPARE, files.length);
  return html`<div class="file-table" role="table" aria-label="Files" aria-rowcount=${files.length + 1}>
    <div class="file-row file-head" role="row" aria-rowindex="1">
      <span role="columnheader">Name</span><span role="columnheader">State</span><span role="columnheader">Size</span><span role="columnheader">Uploaded</span><span role="columnheader">Actions</span>
    </div>
    <div class="file-body" role="rowgroup" tabindex="0" aria-label="Rows" ref=${box} onScroll=${measure}>
      <div role="presentation" style=${{ height: `${files.length * ROW}px` }} class="file-space">
        <div role="presentation" class="file-window" style=${{ transform: `translateY(${first * ROW}px)` }}>
          ${files.slice(first, last).map((file, at) => html`<${Row} key=${file.name} file=${file} me=${me} at=${first + at + 2} mayRead=${mayRead} mayWrite=${mayWrite} download=${download} erase=${erase} />`)}
        </div>
      </div>
    </div>
  </div>`;
}

function Row({ file, me, at, mayRead, mayWrite, download, erase }) {
  const action = (name, icon, run) => html`<button type="button" class="small-button quiet" title=${name} aria-label=${`${name}: ${file.name}`} onClick=${run}><${Icon} name=${icon} /></button>`;
  return html`<div class="file-row" role="row" aria-rowindex=${at}>
    <span role="cell" class="file-name">
      <span class="ellipsis" dir="auto">${file.status === "indexed" && mayRead ? html`<a href=${fileHref(me, file.name)}>${file.name}</a>` : file.name}</span>
      ${(file.reason || file.labels?.length > 0) && html`<span class="ellipsis small soft" dir="auto" title=${file.reason ?? file.labels.join(", ")}>${file.reason ?? file.labels.join(", ")}</span>`}
    </span>
    <span role="cell"><${StatusChip} status=${file.status ?? "stored"} /></span>
    <span role="cell" class="soft">${bytes(file.size)}</span>
    <span role="cell" class="soft" title=${time(file.last_modified)}>${ago(file.last_modified)}</span>
    <span role="cell" class="file-actions">
      ${action("Download", "download", () => download(file))}
      ${mayWrite && action("Delete", "trash", () => erase(file))}
    </span>
  </div>`;
}
