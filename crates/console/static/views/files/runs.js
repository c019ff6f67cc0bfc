// Indexing runs that this tab has started, followed until they end.
import { get, post } from "../../core/api.js";
import { persist } from "../../core/faults.js";
import { keyStore } from "../../core/session.js";
import { createStore } from "../../core/store.js";
import { forgetAnswers } from "../search/answers.js";

const NAME = "retrieval-console-runs";
const MAX_RUNS = 20;
const POLL_MS = 700;

export const isOver = (run) => run.state === "completed" || run.state === "failed";

function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? "[]");
  } catch {
    return [];
  }
}

export const runs = createStore(stored());

function keep(list) {
  runs.set(list.slice(0, MAX_RUNS));
  try {
    sessionStorage.setItem(NAME, JSON.stringify(runs.get()));
  } catch {
    // Kept as long as the page.
  }
}

// Another key may be of another organization.
keyStore.subscribe(() => keep([]));

function put(run) {
  const others = runs.get().filter(({ sync_id: id }) => id !== run.sync_id);
  const at = runs.get().findIndex(({ sync_id: id }) => id === run.sync_id);
  const { sync_id, state, started_at, completed_at, error, stats } = run;
  others.splice(Math.max(at, 0), 0, { sync_id, state, started_at, completed_at, error, stats });
  keep(others);
  // The index has other files now.
  if (isOver(run)) forgetAnswers();
}

// False once the key was changed, or many runs have followed.
const isListed = (id) => runs.get().some(({ sync_id: other }) => other === id);

// Neither requests nor entries of an earlier key follow its change.
function requireListed(id) {
  if (!isListed(id)) throw new Error("the run is not followed any more");
}

const following = new Map();

// Polls a run until it ends. Returns the run.
export function follow(id) {
  if (!following.has(id)) {
    following.set(id, poll(id).finally(() => following.delete(id)));
  }
  return following.get(id);
}

async function poll(id) {
  put({ sync_id: id, state: "queued", stats: {} });
  for (;;) {
    // An outage does not end the run.
    const run = await persist(() => get(`files/index/${encodeURIComponent(id)}`), { isWanted: () => isListed(id) });
    requireListed(id);
    put(run);
    if (isOver(run)) return run;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    requireListed(id);
  }
}

export async function start(mode) {
  const { sync_id: id } = await post("files/index", mode === "full" ? { mode } : {});
  return follow(id);
}

// A run that cannot be followed, such as with a key that may not read files, goes on.
const outcomeOf = (error) => (error.status === 404 ? { state: "failed", error: "the run is not known any more" } : { error: error.message });

// After a reload of the page.
export function resume() {
  for (const run of runs.get()) if (!isOver(run)) follow(run.sync_id).catch((error) => isListed(run.sync_id) && put({ ...run, ...outcomeOf(error) }));
}
