// State of the view in the fragment of the address, which never reaches the server: `#/search?q=tides`.
import { createStore } from "./store.js";

function read() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { view: path || "start", params: Object.fromEntries(new URLSearchParams(query)) };
}

export const route = createStore(read());

export function href(view, params = {}) {
  const pairs = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(pairs).toString();
  return `#/${view === "start" ? "" : view}${query ? `?${query}` : ""}`;
}

export function navigate(view, params, { replace = false } = {}) {
  const target = href(view, params);
  if (replace) history.replaceState(null, "", target);
  else if (location.hash !== target) history.pushState(null, "", target);
  route.set(read());
}

export function follow() {
  route.set(read());
}
