// Session of the official TypeScript client with a running server: text and structured content of every tool.
// Reads BASE_URL and API_KEY.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const address = new URL(`${process.env.BASE_URL}/mcp`);
const requestInit = { headers: { Authorization: `Bearer ${process.env.API_KEY}` } };
const client = new Client({ name: "e2e", version: "1" });
await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));

const text = (result) => {
  assert.equal(result.content.length, 1);
  return result.content[0].text;
};
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, text(result));
  return result;
};

const { tools } = await client.listTools();
assert.deepEqual(
  tools.map((tool) => tool.name),
  ["search", "read_document", "research_start", "research_get", "submit_feedback", "list_files", "upload_file"],
);
assert.ok(JSON.stringify(tools).length < 12000);

const found = await call("search", { query: "what moves the tides", max_results: "2" });
const first = found.structuredContent.results[0];
assert.match(first.passages[0].text, /The moon moves the tides/);
assert.match(text(found), /> The moon moves the tides/);
assert.ok(text(found).includes(first.doc_id) && text(found).includes(first.canonical_url));

const read = await call("read_document", { url: first.canonical_url });
assert.ok(text(read).includes(read.structuredContent.content.text));
assert.match(text(read), /Next: the text continues/);

const started = await call("research_start", { query: "What moves the tides?", depth: "quick" });
const report = await call("research_get", { research_id: started.structuredContent.research_id });
assert.equal(report.structuredContent.status, "completed");
assert.match(text(report), /The moon moves the tides/);

const uploaded = await call("upload_file", { name: "typescript.md", text: "# From TypeScript" });
assert.equal(uploaded.structuredContent.name, "typescript.md");
const listed = await call("list_files", { limit: "1000" });
assert.ok(listed.structuredContent.files.some((file) => file.name === "typescript.md"));
assert.match(text(listed), /typescript\.md/);
const rated = await call("submit_feedback", { event_type: "passage_used", doc_id: first.doc_id });
assert.equal(rated.structuredContent.accepted, true);

const refused = await client.callTool({ name: "read_document", arguments: { url: "http://192.0.2.1/nothing" } });
assert.ok(refused.isError && JSON.parse(text(refused)).error.details.reason === "unreachable");
await client.close();
console.log("MCP: the TypeScript client read text and structured content");
