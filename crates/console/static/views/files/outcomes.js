// Outcomes of uploaded files after an indexing run.
import { get } from "../../core/api.js";

const PAGE = 1000;
// Maximum number of files to ask for one by one. The list of all files takes fewer requests for more.
const MAX_LOOKUPS = 5;

// Sets the state of each item, from the run or else from the list of files.
export async function readOutcomes(run, items) {
  const open = new Map();
  for (const item of items) open.set(item.name, [...(open.get(item.name) ?? []), item]);
  const settle = (name, outcome) => {
    for (const item of open.get(name) ?? []) Object.assign(item, outcome);
    open.delete(name);
  };
  const take = ({ name, status, reason }) => settle(name, status === "pending" || !status ? { state: "stored", reason: "" } : { state: status, reason: reason ?? "" });
  await eachOutcome(`files/index/${encodeURIComponent(run.sync_id)}/files`, open, take);
  if (run.state === "failed") {
    for (const name of [...open.keys()]) settle(name, { state: "failed", reason: run.error ?? "the indexing run failed" });
    return;
  }
  // A run does not list a file with unchanged bytes, which keeps its state: it may be one that cannot be read.
  await (open.size > MAX_LOOKUPS ? eachStored(take) : lookUp([...open.keys()], take));
  for (const name of [...open.keys()]) settle(name, { state: "failed", reason: "the file was deleted" });
}

// Reads the outcomes of a run page by page, until no item is open.
async function eachOutcome(path, open, take) {
  let cursor;
  while (open.size > 0) {
    const page = await get(path, { limit: PAGE, cursor });
    page.files.forEach(take);
    cursor = page.next_cursor;
    if (!cursor) return;
  }
}

// Without a limit: a page costs the server one request to its storage per file.
async function eachStored(take) {
  const { files } = await get("files");
  files.forEach(take);
}

async function lookUp(names, take) {
  for (const name of names) {
    try {
      take(await get(`files/${encodeURIComponent(name)}`));
    } catch (error) {
      if (error.code !== "file_not_found") throw error;
    }
  }
}
