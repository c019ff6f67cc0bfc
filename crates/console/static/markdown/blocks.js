// Blocks of markdown with the positions of their lines in the source. Nothing is interpreted as HTML.
const MAX_DEPTH = 12;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const QUOTE = /^ {0,3}> ?/;
const ALIGNMENT = /^:?-+:?$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;

// A line is its text and the position of the text's first character.
export function parse(source) {
  const lines = [];
  let pos = 0;
  for (const text of source.split("\n")) {
    lines.push({ text: text.endsWith("\r") ? text.slice(0, -1) : text, pos });
    pos += text.length + 1;
  }
  return blocksOf(lines, 0);
}

const cut = (line, chars) => ({ text: line.text.slice(chars), pos: line.pos + chars });
const isBlank = (line) => line.text.trim() === "";
const indentOf = (line) => /^[ \t]*/.exec(line.text)[0].replace(/\t/g, "    ").length;

function blocksOf(lines, depth) {
  const blocks = [];
  let paragraph = [];
  const flush = () => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", lines: paragraph });
    paragraph = [];
  };
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (isBlank(line)) {
      flush();
      at += 1;
      continue;
    }
    const taken = fence(lines, at) ?? heading(line) ?? underlined(paragraph, line) ?? rule(line) ?? table(lines, at, paragraph)
      ?? (depth < MAX_DEPTH ? quote(lines, at, depth) ?? list(lines, at, depth, paragraph) : null);
    if (!taken) {
      paragraph.push(line);
      at += 1;
      continue;
    }
    if (taken.usesParagraph) paragraph = [];
    flush();
    blocks.push(taken.block);
    at += taken.count;
  }
  flush();
  return blocks;
}

function fence(lines, at) {
  const open = FENCE.exec(lines[at].text);
  if (!open) return null;
  const mark = open[1];
  let end = at + 1;
  const isClose = (text) => {
    const trimmed = text.trim();
    return trimmed.length >= mark.length && trimmed === mark[0].repeat(trimmed.length);
  };
  while (end < lines.length && !isClose(lines[end].text)) end += 1;
  return { block: { kind: "code", language: open[2], lines: lines.slice(at + 1, end) }, count: end - at + 1 };
}

function heading(line) {
  const found = HEADING.exec(line.text);
  if (!found) return null;
  const rest = cut(line, found[0].length);
  rest.text = withoutClosing(rest.text);
  return { block: { kind: "heading", level: found[1].length, lines: [rest] }, count: 1 };
}

// Removes the closing marks of a heading, as in `## Title ##`. A regular expression takes too long for many blanks.
function withoutClosing(text) {
  const trimmed = text.trimEnd();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === "#") end -= 1;
  const isClosed = end < trimmed.length && (trimmed[end - 1] === " " || trimmed[end - 1] === "\t");
  return isClosed ? trimmed.slice(0, end).trimEnd() : trimmed;
}

function underlined(paragraph, line) {
  const found = paragraph.length === 1 && UNDERLINE.exec(line.text);
  if (!found) return null;
  return { block: { kind: "heading", level: found[1][0] === "=" ? 1 : 2, lines: paragraph }, count: 1, usesParagraph: true };
}

function rule(line) {
  return RULE.test(line.text) ? { block: { kind: "rule" }, count: 1 } : null;
}

function quote(lines, at, depth) {
  let end = at;
  const inner = [];
  while (end < lines.length && QUOTE.test(lines[end].text)) {
    inner.push(cut(lines[end], QUOTE.exec(lines[end].text)[0].length));
    end += 1;
  }
  return end > at ? { block: { kind: "quote", blocks: blocksOf(inner, depth + 1) }, count: end - at } : null;
}

function list(lines, at, depth, paragraph) {
  const first = ITEM.exec(lines[at].text);
  if (!first) return null;
  const isOrdered = first[2].length > 1;
  // A number within a paragraph starts a list only if it is 1.
  if (paragraph.length > 0 && (first[3] === "" || (isOrdered && parseInt(first[2], 10) !== 1))) return null;
  const mark = first[2].at(-1);
  const items = [];
  let end = at;
  while (end < lines.length) {
    const found = ITEM.exec(lines[end].text);
    if (!found || found[2].at(-1) !== mark || RULE.test(lines[end].text)) break;
    const width = found[0].length;
    const own = [cut(lines[end], width)];
    end += 1;
    while (end < lines.length) {
      const line = lines[end];
      if (isBlank(line)) {
        const next = lines[end + 1];
        if (!next || isBlank(next) || indentOf(next) < Math.min(width, 2)) break;
        own.push(line);
      } else if (indentOf(line) >= Math.min(width, 2)) {
        const spaces = /^[ \t]*/.exec(line.text)[0].length;
        own.push(cut(line, Math.min(spaces, width)));
      } else if (isBlank(lines[end - 1]) || ITEM.test(line.text) || HEADING.test(line.text) || FENCE.test(line.text) || QUOTE.test(line.text)) {
        break;
      } else {
        own.push(line);
      }
      end += 1;
    }
    items.push({ blocks: blocksOf(own, depth + 1) });
    // Blank lines between items.
    let next = end;
    while (next < lines.length && isBlank(lines[next])) next += 1;
    if (next > end && next < lines.length && ITEM.exec(lines[next].text)?.[2].at(-1) === mark) end = next;
  }
  return { block: { kind: "list", isOrdered, start: isOrdered ? parseInt(first[2], 10) : 1, items }, count: end - at };
}

function table(lines, at, paragraph) {
  if (paragraph.length > 0 || !lines[at].text.includes("|") || !lines[at + 1] || !isAlignments(lines[at + 1].text)) return null;
  let end = at + 2;
  while (end < lines.length && !isBlank(lines[end]) && lines[end].text.includes("|")) end += 1;
  const rows = lines.slice(at + 2, end).map(cells);
  return { block: { kind: "table", head: cells(lines[at]), rows }, count: end - at };
}

// True for a line such as `| --- | :-: |`.
function isAlignments(text) {
  if (!text.includes("|")) return false;
  const trimmed = text.trim();
  const inner = trimmed.slice(trimmed.startsWith("|") ? 1 : 0, trimmed.length > 1 && trimmed.endsWith("|") ? -1 : undefined);
  return inner.split("|").every((cell) => ALIGNMENT.test(cell.trim()));
}

function cells(line) {
  const found = [];
  let start = 0;
  const add = (from, to) => {
    const text = line.text.slice(from, to);
    const lead = text.length - text.trimStart().length;
    found.push({ text: text.trim(), pos: line.pos + from + lead });
  };
  for (let at = 0; at < line.text.length; at += 1) {
    if (line.text[at] === "\\") at += 1;
    else if (line.text[at] === "|") {
      if (at > 0 || start > 0) add(start, at);
      start = at + 1;
    }
  }
  if (line.text.slice(start).trim() !== "") add(start, line.text.length);
  return line.text.trimStart().startsWith("|") && found[0]?.text === "" && !line.text.startsWith("|") ? found.slice(1) : found;
}
