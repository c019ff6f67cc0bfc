// State of the view in the fragment of the address, which never reaches the server: `#/search?q=tides`.
import { enter, newEntry } from "./places.js";
import { createStore } from "./store.js";

function read() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { view: path || "start", params: Object.fromEntries(new URLSearchParams(query)), ...enter() };
}

export const route = createStore(read());

export function href(view, params = {}) {
  const pairs = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(pairs).toString();
  return `#/${view === "start" ? "" : view}${query ? `?${query}` : ""}`;
}

// The address of a file in the view Read. A file's id opens only what a search has found, its own address always.
export const fileHref = (me, name) => href("read", { url: `workspace://${me.organization.organization_id}/${encodeURIComponent(name)}` });

// Parameters of a source in the view Read, for the same reason.
export const source = ({ doc_id: doc, canonical_url: url }) => (url?.startsWith("workspace://") ? { url } : { doc });

export function navigate(view, params, { replace = false } = {}) {
  const target = href(view, params);
  if (replace) history.replaceState(history.state, "", target);
  else if (location.hash !== target) history.pushState(newEntry(), "", target);
  route.set(read());
}

export function follow() {
  route.set(read());
}
