// Requests to the API under /v1, and to nothing else.
import { lost } from "./connection.js";
import { forget, keyStore } from "./session.js";

// The API may be served below a path.
export const BASE = new URL("../../", import.meta.url).href.replace(/\/$/, "");

const RETRIES = 3;

export class ApiError extends Error {
  constructor(status, body) {
    const error = body?.error ?? {};
    super(error.message ?? `the server answered with status ${status}`);
    this.status = status;
    this.code = error.code ?? "unknown";
    this.details = error.details ?? {};
    this.requestId = body?.request_id ?? "";
  }
}

export class Offline extends Error {
  constructor() {
    super("the server cannot be reached");
    this.code = "offline";
  }
}

// The status is that of a key that is not valid any more: such a request is not repeated.
export class KeyChanged extends Error {
  constructor() {
    super("the key was changed");
    this.status = 401;
    this.code = "key_changed";
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function target(path, query = {}) {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(pairs).toString();
  return `${BASE}/v1/${path}${search ? `?${search}` : ""}`;
}

async function send(method, path, key, { query, body, headers, signal }) {
  const init = { method, signal, headers: { Authorization: `Bearer ${key}`, ...headers }, credentials: "omit", cache: "no-store" };
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(target(path, query), init);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    lost();
    throw new Offline();
  }
  // An answer for an earlier key, or for none, says nothing about the present one.
  if (response.status === 401 && key && key === keyStore.get()) {
    forget("The server refused this key: it is unknown, expired or revoked. Enter another one.");
  }
  return response;
}

async function failure(response) {
  const body = await response.json().catch(() => null);
  return new ApiError(response.status, body);
}

// Sends a request and returns the parsed body and its time. Retries when the server is busy.
export async function timed(method, path, options = {}) {
  const key = keyStore.get();
  for (let attempt = 0; ; attempt += 1) {
    const start = performance.now();
    const response = await send(method, path, key, options);
    if (response.ok) {
      const data = response.status === 204 ? null : await response.json();
      return { data, ms: performance.now() - start };
    }
    const busy = response.status === 429 || response.status === 502 || response.status === 503;
    if (!busy || attempt >= (options.retries ?? RETRIES)) throw await failure(response);
    await pause(500 * 2 ** attempt);
    // The next key may be of another organization.
    if (keyStore.get() !== key) throw new KeyChanged();
  }
}

export async function call(method, path, options) {
  return (await timed(method, path, options)).data;
}

export const get = (path, query, options) => call("GET", path, { query, ...options });
export const post = (path, body, options) => call("POST", path, { body, ...options });
export const remove = (path) => call("DELETE", path);

// Opens a stream of server-sent events.
export async function stream(path, { lastEventId, signal }) {
  const headers = { Accept: "text/event-stream" };
  if (lastEventId) headers["Last-Event-ID"] = String(lastEventId);
  const response = await send("GET", path, keyStore.get(), { headers, signal });
  if (!response.ok) throw await failure(response);
  return response.body;
}
