// States of crawls, and requests about them.
import { html } from "../../core/html.js";
import { call, post } from "../../core/api.js";
import { forgetAnswers } from "../search/answers.js";

const TONE = { running: "is-accent", waiting: "is-good", completed: "is-good", stopped: "is-warn" };
const TEXT = { waiting: "waiting for the next round" };

export const StateChip = ({ state }) => html`<span class=${`chip ${TONE[state] ?? ""}`}>${TEXT[state] ?? state}</span>`;

export const isRunning = ({ state }) => state === "running";
export const isAtWork = ({ state }) => state === "running" || state === "waiting";

const path = (name) => `web/crawls/${encodeURIComponent(name)}`;

export const stopCrawl = (name) => post(`${path(name)}/stop`);

// Starts the crawl again with the settings that it has.
export const resumeCrawl = ({ name, limit, settings: { seeds, ...settings } }) => post("web/crawls", { ...settings, urls: seeds, name, limit }, { retries: 0 });

// The server removes a large crawl, or many pages, in several steps.
export async function removeCrawl(name, pages) {
  while (!(await call("DELETE", path(name), { query: { pages } })).removed);
  if (pages) forgetAnswers();
}

export async function removePages(selection) {
  for (let total = 0; ; ) {
    const { removed, is_complete: isComplete } = await post("web/pages/remove", selection);
    total += removed;
    forgetAnswers();
    if (isComplete) return total;
  }
}
