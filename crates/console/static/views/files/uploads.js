// Uploads of this page: signed URL, bytes to the store, indexing run, outcome of each file. They go on while other views are shown.
import { BASE, get, post } from "../../core/api.js";
import { keyStore } from "../../core/session.js";
import { createStore } from "../../core/store.js";
import { follow } from "./runs.js";

const PARALLEL = 4;

// Items change in place: {name, size, state, sent, reason}. `version` counts the changes that are shown.
export const uploads = createStore({ items: [], skipped: 0, labels: "", run: null, error: null, version: 0 });

let waiting = [];
let active = 0;
let scheduled = false;

keyStore.subscribe(() => {
  waiting = [];
  uploads.set({ items: [], skipped: 0, labels: "", run: null, error: null, version: 0 });
});

function changed() {
  if (scheduled) return;
  scheduled = true;
  setTimeout(() => {
    scheduled = false;
    uploads.set((state) => ({ ...state, version: state.version + 1 }));
  }, 120);
}

export function add({ items, skipped }, labels) {
  const own = items.map(({ file, name }) => ({ file, name, size: file.size, state: "waiting", sent: 0, reason: "", labels }));
  uploads.set((state) => ({ ...state, items: isBusy(state) ? [...state.items, ...own] : own, skipped: skipped + (isBusy(state) ? state.skipped : 0), error: null, run: isBusy(state) ? state.run : null }));
  waiting.push(...own);
  while (active < PARALLEL && waiting.length > 0) work();
}

export const isBusy = (state) => state.items.some(({ state: name }) => name === "waiting" || name === "uploading" || name === "uploaded");

export function clear() {
  if (!isBusy(uploads.get())) uploads.set((state) => ({ ...state, items: [], skipped: 0, run: null, error: null }));
}

async function work() {
  active += 1;
  const key = keyStore.get();
  while (waiting.length > 0 && key === keyStore.get()) {
    const item = waiting.shift();
    item.state = "uploading";
    changed();
    try {
      await upload(item);
      item.state = "uploaded";
    } catch (error) {
      item.state = error.code === "unsupported_file_type" ? "unsupported" : "failed";
      item.reason = error.message;
    }
    item.file = null;
    changed();
  }
  active -= 1;
  if (active === 0 && key === keyStore.get()) index();
}

async function upload(item) {
  const body = { filename: item.name, size: item.size };
  if (item.labels.length > 0) body.labels = item.labels;
  if (item.file.type) body.content_type = item.file.type.slice(0, 255);
  const signed = await post("files/presign", body);
  item.name = signed.name;
  if (signed.replaces) item.reason = `replaces ${signed.replaces}`;
  await put(signed.url, item);
}

// The URL carries its own authority: the key is not sent. XMLHttpRequest reports progress, fetch does not.
function put(url, item) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    request.upload.onprogress = ({ loaded }) => {
      item.sent = loaded;
      changed();
    };
    request.onload = () => (request.status < 300 ? resolve() : reject(new Error(storageError(request))));
    request.onerror = () => reject(new Error(unreachable(url)));
    request.send(item.file);
  });
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

async function index() {
  const { items } = uploads.get();
  if (!items.some(({ state }) => state === "uploaded")) return;
  try {
    const { sync_id: id } = await post("files/index", {});
    uploads.set((state) => ({ ...state, run: id }));
    const run = await follow(id);
    await outcomes(id, run, items);
  } catch (error) {
    for (const item of items) if (item.state === "uploaded") Object.assign(item, { state: "stored", reason: "" });
    uploads.set((state) => ({ ...state, error }));
  }
  changed();
}

async function outcomes(id, run, items) {
  const byName = new Map(items.filter(({ state }) => state === "uploaded").map((item) => [item.name, item]));
  let cursor;
  do {
    const page = await get(`files/index/${encodeURIComponent(id)}/files`, { limit: 1000, cursor });
    for (const { name, status, reason } of page.files) {
      const item = byName.get(name);
      if (item) Object.assign(item, { state: status, reason: reason ?? "" });
    }
    cursor = page.next_cursor;
  } while (cursor);
  for (const item of byName.values()) {
    // A run that ended before this upload, or a file that had not changed.
    if (item.state === "uploaded") Object.assign(item, run.state === "failed" ? { state: "failed", reason: run.error ?? "the indexing run failed" } : { state: "indexed" });
  }
}
