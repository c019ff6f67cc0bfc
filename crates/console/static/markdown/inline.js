// Inline markdown: emphasis, code, links. Returns a tree whose texts are ranges of the source.
const MAX_DEPTH = 8;
const MAX_LINK_TEXT = 1000;
const MAX_URL = 2000;
const MAX_SPAN = 4000;
const MAX_TRIES = 12;
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&nbsp;": "\u00a0" };
const MARKS = [["**", "strong"], ["__", "strong"], ["~~", "s"], ["*", "em"], ["_", "em"]];
const SPECIAL = /[\\`*_~[!<&\n]/g;
const isWord = (char) => char !== undefined && /[\p{L}\p{N}]/u.test(char);

export function parseInline(lines) {
  const text = lines.map((line) => line.text).join("\n");
  const starts = [];
  let joined = 0;
  for (const line of lines) {
    starts.push([joined, line.pos]);
    joined += line.text.length + 1;
  }
  let line = 0;
  const place = (at) => {
    if (at < starts[line][0]) line = 0;
    while (line + 1 < starts.length && starts[line + 1][0] <= at) line += 1;
    return starts[line][1] + at - starts[line][0];
  };
  return nodes({ text, place }, 0, text.length, 0);
}

function nodes(source, from, to, depth) {
  const { text } = source;
  const found = [];
  let plain = from;
  let at = from;
  const flush = (end) => {
    if (end > plain) found.push({ kind: "text", text: text.slice(plain, end), pos: source.place(plain) });
  };
  while (at < to) {
    SPECIAL.lastIndex = at;
    const next = SPECIAL.exec(text);
    if (!next || next.index >= to) break;
    at = next.index;
    const taken = special(source, at, to, depth);
    if (!taken) {
      at += 1;
      continue;
    }
    flush(at);
    if (taken.node) found.push(taken.node);
    at = taken.end;
    plain = at;
  }
  flush(to);
  return found;
}

function special(source, at, to, depth) {
  const { text } = source;
  switch (text[at]) {
    case "\n":
      return { node: / {2}$/.test(text.slice(Math.max(at - 2, 0), at)) ? { kind: "break" } : literal(source, at, at + 1, " "), end: at + 1 };
    case "\\":
      return /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "") ? { node: literal(source, at + 1, at + 2), end: Math.min(at + 2, to) } : null;
    case "`":
      return code(source, at, to);
    case "&": {
      const entity = Object.keys(ENTITIES).find((name) => text.startsWith(name, at));
      return entity ? { node: literal(source, at, at + entity.length, ENTITIES[entity]), end: at + entity.length } : null;
    }
    case "<":
      return angle(source, at, to);
    case "!":
      return text[at + 1] === "[" ? link(source, at + 1, to, depth, true) : null;
    case "[":
      return reference(source, at, to) ?? link(source, at, to, depth, false);
    default:
      return depth < MAX_DEPTH ? emphasis(source, at, to, depth) : null;
  }
}

function literal(source, from, to, shown) {
  return { kind: "text", text: shown ?? source.text.slice(from, to), pos: source.place(from), width: to - from };
}

// Returns the place of a closing mark, or -1. The search is short, so that hostile text costs little.
function closing(source, mark, from, to) {
  const found = source.text.slice(from, Math.min(to, from + MAX_SPAN)).indexOf(mark);
  return found < 0 ? -1 : from + found;
}

function code(source, at, to) {
  const run = /^`+/.exec(source.text.slice(at, at + 20))[0];
  const end = closing(source, run, at + run.length, to);
  if (end < 0) return { node: literal(source, at, at + run.length), end: at + run.length };
  const inner = [at + run.length, end];
  return { node: { kind: "code", children: [literal(source, ...inner)] }, end: end + run.length };
}

function angle(source, at, to) {
  const { text } = source;
  const line = /^<br ?\/?>/i.exec(text.slice(at, at + 6));
  if (line) return { node: { kind: "break" }, end: at + line[0].length };
  const address = /^<(https?:\/\/[^\s<>]{1,2000})>/i.exec(text.slice(at, Math.min(to, at + MAX_URL)));
  if (!address) return null;
  const shown = literal(source, at + 1, at + 1 + address[1].length);
  return { node: { kind: "link", url: address[1], children: [shown] }, end: at + address[0].length };
}

function reference(source, at, to) {
  const found = /^\[(\d{1,4})\](?!\()/.exec(source.text.slice(at, at + 8));
  if (!found || at + found[0].length > to) return null;
  return { node: { kind: "reference", n: Number(found[1]), children: [literal(source, at, at + found[0].length)] }, end: at + found[0].length };
}

function link(source, at, to, depth, isImage) {
  const { text } = source;
  let level = 0;
  let close = -1;
  for (let i = at; i < Math.min(to, at + MAX_LINK_TEXT); i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "[") level += 1;
    else if (text[i] === "]") {
      level -= 1;
      if (level === 0) {
        close = i;
        break;
      }
    }
  }
  if (close < 0 || text[close + 1] !== "(") return null;
  const address = /^\(\s*(?:<([^<>\n]*)>|((?:[^\s()]|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(text.slice(close + 1, Math.min(to, close + 1 + MAX_URL)));
  if (!address) return null;
  const url = address[1] ?? address[2];
  const end = close + 1 + address[0].length;
  const children = depth < MAX_DEPTH ? nodes(source, at + 1, close, depth + 1) : [literal(source, at + 1, close)];
  return { node: { kind: isImage ? "image" : "link", url, children }, end };
}

function emphasis(source, at, to, depth) {
  const { text } = source;
  const found = MARKS.find(([mark]) => text.startsWith(mark, at));
  if (!found) return null;
  const [mark, kind] = found;
  const start = at + mark.length;
  const isWordMark = mark[0] === "_";
  if (/\s/.test(text[start] ?? " ") || (isWordMark && isWord(text[at - 1]))) return { node: literal(source, at, start), end: start };
  let from = start + 1;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const end = closing(source, mark, from, to);
    if (end < 0) break;
    const isInner = mark.length === 1 && (text[end + 1] === mark || text[end - 1] === mark);
    const isOpen = /\s/.test(text[end - 1]) || text[end - 1] === "\\" || (isWordMark && isWord(text[end + mark.length]));
    if (!isInner && !isOpen) {
      return { node: { kind, children: nodes(source, start, end, depth + 1) }, end: end + mark.length };
    }
    from = end + mark.length + (isInner && text[end + 1] === mark ? 1 : 0);
  }
  return { node: literal(source, at, start), end: start };
}
