// A quoted passage of a result.
import { html, useMemo, useState } from "../../core/html.js";
import { directionOf } from "../../markdown/direction.js";
import { parse, renderBlocks, withoutHeading } from "../../markdown/render.js";

const LONG = 500;

export function Passage({ passage, terms, base, address }) {
  const blocks = useMemo(() => withoutHeading(parse(passage.text)), [passage.text]);
  const body = useMemo(() => renderBlocks(blocks, { base, terms, isQuote: true }), [blocks, terms]);
  const [open, setOpen] = useState(false);
  const isLong = passage.text.length > LONG;
  return html`<li>
    <p class="small passage-place" dir="auto"><a href=${address}>${passage.section_path?.length > 0 ? passage.section_path.join(" › ") : "Open the passage"}</a></p>
    <blockquote dir=${directionOf(blocks)} class=${`quote ${isLong && !open ? "is-cut" : ""}`}>${body}</blockquote>
    ${isLong && html`<button type="button" class="link-button small" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${open ? "Show less" : "Show all of it"}</button>`}
  </li>`;
}
