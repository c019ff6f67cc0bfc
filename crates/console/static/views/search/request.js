// Options of a search: between the address of the view, the form and the request.
const list = (text) => String(text ?? "").split(/[\s,]+/).map((item) => item.trim()).filter(Boolean);
const lines = (text) => String(text ?? "").split("\n").map((item) => item.trim()).filter(Boolean);
const commas = (text) => String(text ?? "").split(",").map((item) => item.trim()).filter(Boolean);
const number = (text) => (text === undefined || text === "" || Number.isNaN(Number(text)) ? undefined : Number(text));

// Names in the address. Those of the second search of a comparison have a prefix.
export const NAMES = ["q", "in", "n", "verbosity", "exact", "language", "country", "labels", "after", "before", "freshness",
  "domains", "without", "only", "rewrites", "passages", "chars", "budget", "exceed", "timeout"];

// Options beyond the query and the indexes.
export const OPTIONS = NAMES.slice(2);

export function read(params, prefix) {
  return Object.fromEntries(NAMES.map((name) => [name, params[prefix + name] ?? ""]));
}

export function write(state, prefix) {
  return Object.fromEntries(NAMES.map((name) => [prefix + name, state[name] ?? ""]));
}

export const indexes = (state) => commas(state.in || "workspace");

const present = (value) => value !== undefined && value !== "" && value !== false && !(Array.isArray(value) && value.length === 0);

function compact(object) {
  const pairs = Object.entries(object).filter(([, value]) => present(value));
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}

export function toRequest(state, organizationId) {
  const searched = indexes(state);
  return compact({
    query: state.q.trim(),
    search_queries: lines(state.rewrites),
    max_results: number(state.n),
    scope: { indexes: searched, ...(searched.includes("workspace") ? { workspace_id: organizationId } : {}) },
    filters: compact({ language: state.language, country: state.country, exact_match: state.exact === "1", labels: commas(state.labels) }),
    freshness_policy: compact({ published_after: state.after, published_before: state.before, freshness: state.freshness }),
    source_policy: compact({ include_domains: list(state.domains), exclude_domains: list(state.without), require_domain_match: state.only === "1" }),
    response: compact({
      verbosity: state.verbosity,
      max_passages_per_result: number(state.passages),
      max_chars_per_result: number(state.chars),
      budget: compact({ max_chars_total: number(state.budget), on_exceed: state.exceed }),
    }),
    timeout_ms: number(state.timeout),
  });
}
