// Web: crawls, and pages of the shared web index.
import { html } from "../../core/html.js";
import { get } from "../../core/api.js";
import { useLoad } from "../../core/load.js";
import { CrawlReport } from "./crawl.js";
import { Crawls } from "./crawls.js";
import { CrawlForm } from "./form.js";
import { Hosts, Numbers } from "./hosts.js";
import { Pages } from "./pages.js";

const HOSTS = 100;

export function Web({ params, me }) {
  if (params.crawl) return html`<${CrawlReport} key=${params.crawl} name=${params.crawl} />`;
  if (params.host || params.prefix) return html`<${Pages} key=${`${params.host} ${params.prefix}`} params=${params} me=${me} />`;
  return html`<${Overview} />`;
}

function Overview() {
  const stats = useLoad((signal) => get("web/stats", { limit: HOSTS }, { signal }), []);
  return html`
    <div class="stack tight"><h1>Web</h1><p class="lead">The web index is shared by all organizations of this server. Crawls fill it and keep it fresh.</p></div>
    <${Numbers} load=${stats} />
    <${CrawlForm} />
    <${Crawls} changed=${stats.reload} />
    <${Hosts} load=${stats} />`;
}
