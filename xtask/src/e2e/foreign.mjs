// Searches and reads with the JavaScript clients of other services, which know only another base URL.
//
// Reads BASE_URL and API_KEY (all scopes). The web index has the page PAGE.

import assert from "node:assert/strict";
import { Firecrawl } from "@mendable/firecrawl-js";
import { tavily } from "@tavily/core";
import Exa from "exa-js";

const { BASE_URL, API_KEY } = process.env;
const PAGE = "https://example.com/tides";
const UNREADABLE = "http://127.0.0.1:1/";
const QUERY = "what moves the tides";

async function useTavily() {
  const client = tavily({ apiKey: API_KEY, apiBaseURL: `${BASE_URL}/compat/tavily` });
  const found = await client.search(QUERY, { searchDepth: "advanced", includeRawContent: "markdown", includeImages: true });
  assert.equal(found.results[0].url, PAGE);
  assert.match(found.results[0].rawContent, /^# Tides/);
  const read = await client.extract([PAGE, UNREADABLE]);
  assert.deepEqual([read.results.map((page) => page.url), read.failedResults.map((page) => page.url)], [[PAGE], [UNREADABLE]]);
  await assert.rejects(client.search(QUERY, { includeAnswer: true }), /include_answer/);
  await assert.rejects(client.map(PAGE), /compat\/tavily\/extract/);
}

async function useExa() {
  const client = new Exa(API_KEY, `${BASE_URL}/compat/exa`);
  const found = await client.search(QUERY, { numResults: 2, contents: { text: true, highlights: { query: "moon" } } });
  assert.equal(found.results[0].url, PAGE);
  assert.match(found.results[0].text, /^# Tides/);
  assert.match(found.results[0].highlights[0], /moon/);
  const read = await client.getContents([PAGE, UNREADABLE], { text: { maxCharacters: 7 } });
  assert.deepEqual(read.statuses.map((status) => status.status), ["success", "error"]);
  assert.equal(read.results[0].text, "# Tides");
  await assert.rejects(client.search(QUERY, { excludeText: ["moon"] }), /excludeText/);
  await assert.rejects(client.answer(QUERY), /compat\/exa\/contents/);
}

async function useFirecrawl() {
  const client = new Firecrawl({ apiKey: API_KEY, apiUrl: `${BASE_URL}/compat/firecrawl` });
  const found = await client.search(QUERY, { limit: 1, scrapeOptions: { formats: ["markdown"] } });
  assert.equal(found.web[0].url, PAGE);
  assert.match(found.web[0].markdown, /^# Tides/);
  const page = await client.scrape(PAGE, { formats: ["markdown"] });
  assert.match(page.markdown, /moon/);
  assert.equal(page.metadata.sourceURL, PAGE);
  await assert.rejects(client.scrape(PAGE, { formats: ["screenshot"] }), /screenshot/);
  await assert.rejects(client.map(PAGE), /compat\/firecrawl\/v2\/scrape/);
}

await useTavily();
await useExa();
await useFirecrawl();
console.log("JavaScript: the clients of Tavily, Exa and Firecrawl passed");
