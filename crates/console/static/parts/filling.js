// Ways to fill an empty web index, as commands to paste.
import { html } from "../core/html.js";
import { Code } from "./copy.js";

const WAYS = [
  ["Crawl a site", "retrieval-server web crawl https://docs.example.com --wait"],
  ["Connect a search provider, here SearXNG: restart the server with", "RETRIEVAL__WEB__PROVIDERS=index,searxng RETRIEVAL__WEB__SEARXNG__URL=http://127.0.0.1:8888 retrieval-server"],
  ["Import pages: JSON lines, WARC, or a folder", "retrieval-server web import pages.jsonl"],
];

export function Filling() {
  return html`<div class="stack"><p><strong>The web index is empty.</strong> <span class="soft">Searches of the web find nothing before one of these commands has filled it, on the machine of the server.</span></p>
    ${WAYS.map(([purpose, command]) => html`<div class="stack tight"><p class="small soft">${purpose}</p><${Code} label=${purpose} text=${command} /></div>`)}
  </div>`;
}
