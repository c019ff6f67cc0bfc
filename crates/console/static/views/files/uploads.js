// Uploads of this page: signed URL, bytes to the store, indexing run. They go on while other views are shown.
import { BASE, post } from "../../core/api.js";
import { passes, persist } from "../../core/faults.js";
import { keyStore } from "../../core/session.js";
import { createStore } from "../../core/store.js";
import { readOutcomes } from "./outcomes.js";
import { follow } from "./runs.js";

const PARALLEL = 4;
// Attempts to send a file. A store that never answers this page, such as one without CORS rules, ends them.
const ATTEMPTS = 3;
const PAUSE_MS = 500;
const SAME_NAME = "another file of this selection has the same name";

const nothing = () => ({ items: [], skipped: 0, labels: "", run: null, error: null, version: 0 });

// Items change in place: {id, name, size, state, sent, reason, notice}. `reason` belongs to the state, `notice` to the upload.
// `version` counts the changes that are shown.
export const uploads = createStore(nothing());

// Uploads of one key: items that wait, workers, and requests to the store.
const newBatch = () => ({ waiting: [], active: 0, requests: new Set() });

let batch = newBatch();
let scheduled = false;
let lastId = 0;

// Another key may be of another organization, so the uploads of the last one end.
keyStore.subscribe(() => {
  const { requests } = batch;
  batch = newBatch();
  for (const request of requests) request.abort();
  uploads.set(nothing());
});

addEventListener("beforeunload", (event) => {
  // The server goes on with a run, but not with an upload.
  if (uploads.get().items.some(({ state }) => state === "waiting" || state === "uploading")) event.preventDefault();
});

const show = (error) => uploads.set((state) => ({ ...state, error }));

// Faults that pass are shown, but end nothing.
const surely = (request, own) => persist(request, { isWanted: () => own === batch, tell: (error) => own === batch && show(error) });

function changed() {
  if (scheduled) return;
  scheduled = true;
  setTimeout(() => {
    scheduled = false;
    uploads.set((state) => ({ ...state, version: state.version + 1 }));
  }, 120);
}

export function add({ items, skipped }, labels) {
  // Owners of the names: a file must not replace another one of the same selection.
  const names = new Map();
  const own = items.map(({ file, name }) => {
    lastId += 1;
    const item = { id: lastId, file, name, size: file.size, state: "waiting", sent: 0, reason: "", notice: "", labels, names };
    if (names.has(name)) Object.assign(item, { file: null, state: "failed", reason: SAME_NAME });
    else names.set(name, item);
    return item;
  });
  uploads.set((state) => ({ ...state, items: isBusy(state) ? [...state.items, ...own] : own, skipped: skipped + (isBusy(state) ? state.skipped : 0), error: null, run: isBusy(state) ? state.run : null }));
  batch.waiting.push(...own.filter(({ state }) => state === "waiting"));
  while (batch.active < PARALLEL && batch.waiting.length > 0) work(batch);
}

export const isBusy = (state) => state.items.some(({ state: name }) => name === "waiting" || name === "uploading" || name === "uploaded");

export function clear() {
  if (!isBusy(uploads.get())) uploads.set((state) => ({ ...state, items: [], skipped: 0, run: null, error: null }));
}

async function work(own) {
  own.active += 1;
  while (own.waiting.length > 0 && own === batch) {
    const item = own.waiting.shift();
    item.state = "uploading";
    changed();
    try {
      await upload(item, own);
      item.state = "uploaded";
    } catch (error) {
      item.state = error.code === "unsupported_file_type" ? "unsupported" : "failed";
      item.reason = error.message;
    }
    item.file = null;
    changed();
  }
  own.active -= 1;
  if (own.active === 0 && own === batch) index(own);
}

async function upload(item, own) {
  const body = { filename: item.name, size: item.size };
  if (item.labels.length > 0) body.labels = item.labels;
  if (item.file.type) body.content_type = item.file.type.slice(0, 255);
  const { replaces } = await send(item, body, own);
  if (replaces) item.notice = `replaced ${replaces}, which has the same stored name`;
}

// Sends the bytes of an item and returns what the server said about its name. A restart of the server ends no upload: its URL is asked for
// again until the server is back.
async function send(item, body, own) {
  for (let attempt = 1; ; attempt += 1) {
    const signed = await surely(() => post("files/presign", body), own);
    if (own !== batch) throw new Error("the key was changed");
    if (uploads.get().error) show(null);
    // The server may give two names the same form.
    const owner = item.names.get(signed.name) ?? item;
    if (owner !== item) throw new Error(SAME_NAME);
    item.names.set(signed.name, item);
    item.name = signed.name;
    try {
      await put(signed.url, item, own);
      return signed;
    } catch (error) {
      if (own !== batch || !passes(error) || attempt >= ATTEMPTS) throw error;
    }
    item.sent = 0;
    changed();
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (own !== batch) throw new Error("the key was changed");
  }
}

// The URL carries its own authority: the key is not sent. XMLHttpRequest reports progress, fetch does not.
function put(url, item, own) {
  const request = new XMLHttpRequest();
  own.requests.add(request);
  return new Promise((resolve, reject) => {
    request.open("PUT", url);
    request.upload.onprogress = ({ loaded }) => {
      item.sent = loaded;
      changed();
    };
    request.onload = () => (request.status < 300 ? resolve() : reject(Object.assign(new Error(storageError(request)), { status: request.status })));
    request.onerror = () => reject(new Error(unreachable(url)));
    request.onabort = () => reject(new Error("the upload was cancelled"));
    request.send(item.file);
  }).finally(() => own.requests.delete(request));
}

function storageError(request) {
  const message = /<Message>([^<]*)<\/Message>/.exec(request.responseText ?? "")?.[1];
  return message ? `the store refused the upload: ${message}` : `the store answered with status ${request.status}`;
}

function unreachable(url) {
  const store = new URL(url).origin;
  const isLocal = /^https?:\/\/(localhost|127\.|\[::1\])/.test(store) && !/^https?:\/\/(localhost|127\.|\[::1\])/.test(BASE);
  return isLocal
    ? `this browser cannot reach the store at ${store}: the operator must set storage.public_endpoint to an address that you reach`
    : `the store at ${store} cannot be reached from this browser, or does not permit uploads from ${location.origin}`;
}

async function index(own) {
  const items = uploads.get().items.filter(({ state }) => state === "uploaded");
  if (items.length === 0) return;
  try {
    // A start that is repeated finds nothing to do.
    const { sync_id: id } = await surely(() => post("files/index", {}), own);
    if (own !== batch) return;
    uploads.set((state) => ({ ...state, run: id, error: null }));
    const run = await follow(id);
    await surely(() => readOutcomes(run, items), own);
    if (own !== batch) return;
    show(null);
  } catch (error) {
    if (own !== batch) return;
    for (const item of items) if (item.state === "uploaded") Object.assign(item, { state: "stored", reason: "" });
    show(error);
  }
  changed();
}
