// Figures of an overview for charts and tables.
const MAX_GROUPS = 5;
const hour = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" });
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });

export function bucketText(bucket, { interval, from, to }) {
  const date = new Date(bucket);
  if (interval === "day") return day.format(date);
  const isLong = new Date(to) - new Date(from) > 2 * 86400000;
  return isLong ? `${day.format(date)} ${hour.format(date)}` : hour.format(date);
}

// Requests and errors as one row of values per group: the largest groups, and all others together.
export function grouped({ series, latency_series: buckets }) {
  const places = new Map(buckets.map(({ bucket }, at) => [bucket, at]));
  const groups = new Map();
  for (const { bucket, group_id: id, group_label: label, requests, errors } of series) {
    const group = groups.get(id) ?? { label: label || id || "requests", total: 0, requests: buckets.map(() => 0), errors: buckets.map(() => 0) };
    groups.set(id, group);
    const at = places.get(bucket);
    if (at === undefined) continue;
    group.total += requests;
    group.requests[at] += requests;
    group.errors[at] += errors;
  }
  const sorted = [...groups.values()].sort((a, b) => b.total - a.total);
  const kept = sorted.slice(0, sorted.length > MAX_GROUPS + 1 ? MAX_GROUPS : sorted.length);
  const rest = sorted.slice(kept.length);
  const sum = (field) => buckets.map((_, at) => rest.reduce((total, group) => total + group[field][at], 0));
  if (rest.length > 0) kept.push({ label: "others", requests: sum("requests"), errors: sum("errors") });
  const withErrors = kept.filter(({ errors }) => errors.some((value) => value > 0));
  const failed = withErrors.length > 0 ? withErrors : kept.slice(0, 1);
  return { requests: kept.map(({ label, requests }) => ({ label, values: requests })), errors: failed.map(({ label, errors }) => ({ label, values: errors })) };
}

// `columns` are exported; `shown` are pairs of column and heading.
export function tables(data) {
  return [
    { name: "routes", title: "By route", columns: ["route", "label", "requests", "errors", "p95_duration_ms"], rows: data.endpoints,
      shown: [["label", "Operation"], ["route", "Route"], ["requests", "Requests"], ["errors", "Errors"], ["p95_duration_ms", "95th percentile"]] },
    { name: "keys", title: "By key", columns: ["api_key_id", "key_prefix", "name", "status", "requests", "errors", "p95_duration_ms", "spend_cents", "last_used_at"], rows: data.keys,
      shown: [["name", "Key"], ["status", "State"], ["requests", "Requests"], ["errors", "Errors"], ["p95_duration_ms", "95th percentile"], ["spend_cents", "Spending"], ["last_used_at", "Last used"]] },
    { name: "series", title: "Over time", columns: ["bucket", "group_id", "group_label", "requests", "errors"], rows: data.series, shown: null },
  ];
}
