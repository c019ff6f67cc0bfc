// A quoted passage of a result.
import { html, useMemo, useState } from "../../core/html.js";
import { parse, renderBlocks, withoutHeading } from "../../markdown/render.js";

const LONG = 500;

export function Passage({ passage, terms, base, address }) {
  const body = useMemo(() => renderBlocks(withoutHeading(parse(passage.text)), { base, terms, isQuote: true }), [passage.text, terms]);
  const [open, setOpen] = useState(false);
  const isLong = passage.text.length > LONG;
  return html`<li>
    <p class="small passage-place"><a href=${address}>${passage.section_path?.length > 0 ? passage.section_path.join(" › ") : "Open the passage"}</a></p>
    <blockquote class=${`quote ${isLong && !open ? "is-cut" : ""}`}>${body}</blockquote>
    ${isLong && html`<button type="button" class="link-button small" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${open ? "Show less" : "Show all of it"}</button>`}
  </li>`;
}
