// Reads of a document: its text in parts, and the passages that answer a question.
import { post } from "../../core/api.js";

// Characters of one part: enough for nearly every document, quick to show.
export const PART = 150000;
// Characters that are shown after a cited range or a chosen passage.
const AFTER = 2000;
const ANSWERS = 8;

const target = ({ doc, url, capture }) => ({ ...(doc ? { doc_id: doc } : { canonical_url: url }), ...(capture ? { capture_id: capture } : {}) });

// A cited version that is no longer kept is replaced by the latest one, with a warning.
async function send(body, signal) {
  try {
    return await post("document", body, { signal });
  } catch (error) {
    if (!body.capture_id || error.code !== "document_not_found") throw error;
    const { capture_id: gone, ...rest } = body;
    const latest = await post("document", rest, { signal });
    const warning = { code: "stale_range", message: "the cited version is no longer kept", details: {} };
    return { ...latest, warnings: [warning, ...(latest.warnings ?? [])] };
  }
}

export async function readDocument(params, signal) {
  // The first part reaches to the end of a cited range.
  const chars = Math.max(PART, (Number(params.end) || 0) + AFTER);
  const body = { ...target(params), content: { max_chars: chars, include_offsets: true } };
  if (params.fresh) body.max_age_seconds = 0;
  const full = await send(body, signal);
  const select = (body) => (full.content ? send({ ...target(params), ...body }, signal) : {});
  const selected = params.q ? await select({ query: params.q, content: { selection: "query_relevant", max_passages: ANSWERS, include_offsets: true } }) : {};
  const answers = selected.passages ?? [];
  const known = [...answers, ...(full.passages ?? [])];
  const isUnknown = params.passage && full.content?.truncated && !known.some(({ passage_id: id }) => id === params.passage);
  const chosen = isUnknown ? await select({ content: { selection: "passage_ids", passage_ids: [params.passage], include_offsets: true } }) : {};
  const further = [...(selected.warnings ?? []), ...(chosen.warnings ?? [])].filter(({ code }) => code !== "stale_range");
  return {
    ...full,
    text: full.content?.text ?? "",
    chars: full.content?.char_count ?? 0,
    more: full.content?.truncated ?? false,
    answers,
    passages: [...(full.passages ?? []), ...(chosen.passages ?? [])],
    warnings: [...(full.warnings ?? []), ...further],
  };
}

// Returns the data with its next part, of the same version: parts of two versions do not fit together. The part reaches at least to
// `needed`, the end of a passage.
export async function readOn(params, data, needed) {
  const range = { start_char: data.chars, max_chars: Math.max(PART, needed + AFTER - data.chars) };
  const next = await post("document", { ...target({ ...params, capture: data.provenance?.capture_id }), content: { include_offsets: true, range } }).catch((error) => {
    if (error.code === "document_not_found") error.message = "the version that is shown is no longer kept: read the page again";
    throw error;
  });
  const shown = new Set((data.warnings ?? []).map(({ code }) => code));
  const content = next.content ?? { text: "", char_count: 0, truncated: false };
  return {
    ...data,
    text: data.text + content.text,
    chars: data.chars + content.char_count,
    more: content.truncated && content.char_count > 0,
    passages: [...(data.passages ?? []), ...(next.passages ?? [])],
    warnings: [...(data.warnings ?? []), ...(next.warnings ?? []).filter(({ code }) => !shown.has(code))],
  };
}
