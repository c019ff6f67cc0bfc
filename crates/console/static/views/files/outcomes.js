// Outcomes of uploaded files after an indexing run.
import { get } from "../../core/api.js";

const PAGE = 1000;

// Sets the state of each item, from the run or else from the list of files.
export async function readOutcomes(run, items) {
  const open = new Map();
  for (const item of items) open.set(item.name, [...(open.get(item.name) ?? []), item]);
  const settle = (name, outcome) => {
    for (const item of open.get(name) ?? []) Object.assign(item, outcome);
    open.delete(name);
  };
  const take = ({ name, status, reason }) => settle(name, status === "pending" || !status ? { state: "stored", reason: "" } : { state: status, reason: reason ?? "" });
  await eachFile(`files/index/${encodeURIComponent(run.sync_id)}/files`, open, take);
  if (run.state === "failed") {
    for (const name of [...open.keys()]) settle(name, { state: "failed", reason: run.error ?? "the indexing run failed" });
    return;
  }
  // A run does not list a file with unchanged bytes, which keeps its state: it may be one that cannot be read.
  await eachFile("files", open, take);
  for (const name of [...open.keys()]) settle(name, { state: "failed", reason: "the file was deleted" });
}

// Reads a list page by page, until no item is open.
async function eachFile(path, open, take) {
  let cursor;
  while (open.size > 0) {
    const page = await get(path, { limit: PAGE, cursor });
    page.files.forEach(take);
    cursor = page.next_cursor;
    if (!cursor) return;
  }
}
