// Markdown as elements. Text of the document only ever becomes text nodes; links lead to http and https only.
import { h } from "../core/html.js";
import { findTerms } from "../core/words.js";
import { parse } from "./blocks.js";
import { directionOf } from "./direction.js";
import { parseInline } from "./inline.js";

const MAX_HEADING = 6;

export { parse };

// Renders parsed blocks. Options: `base` of relative links, `marks` [{start, end, id}] in the source, sorted and without
// overlaps, `terms` to highlight, `cite(n)` of references, `isQuote` without headings.
export function renderBlocks(blocks, options = {}) {
  const context = { marks: [], terms: new Map(), ...options, headings: 0, shown: new Set() };
  return blocks.map((block) => renderBlock(block, context));
}

// Headings in the order of their ids.
export function outline(blocks) {
  const found = [];
  const visit = (list) => {
    for (const block of list) {
      if (block.kind === "heading") found.push({ id: `section-${found.length + 1}`, level: block.level, text: plainText(block.lines) });
      else if (block.kind === "quote") visit(block.blocks);
      else if (block.kind === "list") block.items.forEach((item) => visit(item.blocks));
    }
  };
  visit(blocks);
  return found;
}

// The text of blocks without marks.
export function blocksText(blocks) {
  const read = (block) => {
    if (block.kind === "code") return block.lines.map((line) => line.text).join("\n");
    if (block.lines) return plainText(block.lines);
    if (block.blocks) return blocksText(block.blocks);
    if (block.items) return block.items.map((item) => blocksText(item.blocks)).join(" ");
    return [block.head, ...(block.rows ?? [])].filter(Boolean).map((row) => row.map((cell) => plainText([cell])).join(" ")).join(" · ");
  };
  return blocks.map(read).join(" ");
}

// The section path names the heading already.
export const withoutHeading = (blocks) => (blocks.length > 1 && blocks[0].kind === "heading" ? blocks.slice(1) : blocks);

function plainText(lines) {
  const read = (nodes) => nodes.map((node) => node.text ?? read(node.children ?? [])).join("");
  return read(parseInline(lines));
}

function renderBlock(block, context) {
  switch (block.kind) {
    case "heading": {
      // A quote is no part of the page's outline.
      if (context.isQuote) return h("p", { class: "quoted-heading", dir: "auto" }, inline(block.lines, context));
      context.headings += 1;
      // The page has the first heading.
      const level = Math.min(block.level + 1, MAX_HEADING);
      return h(`h${level}`, { id: `section-${context.headings}`, tabIndex: -1, dir: "auto" }, inline(block.lines, context));
    }
    case "paragraph":
      return h("p", { dir: "auto" }, inline(block.lines, context));
    case "code":
      return h("pre", { tabIndex: 0, dir: "ltr" }, h("code", null, block.lines.flatMap((line) => [marked(line.text, line.pos, line.text.length, context), "\n"])));
    case "quote":
      return h("blockquote", { dir: directionOf(block.blocks) }, block.blocks.map((inner) => renderBlock(inner, context)));
    case "list": {
      const items = block.items.map((item) => h("li", { dir: directionOf(item.blocks) }, tight(item.blocks, context)));
      // The list has the space for its numbers on the side of its first item.
      return h(block.isOrdered ? "ol" : "ul", { dir: directionOf([block]), start: block.isOrdered && block.start !== 1 ? block.start : undefined }, items);
    }
    case "table": {
      const row = (name, cells) => h("tr", null, cells.map((cell) => h(name, { scope: name === "th" ? "col" : undefined, dir: "auto" }, inline([cell], context))));
      const table = h("table", { dir: directionOf([block]) }, h("thead", null, row("th", block.head)), h("tbody", null, block.rows.map((cells) => row("td", cells))));
      return h("div", { class: "scroll", tabIndex: 0, role: "group", "aria-label": "Table" }, table);
    }
    default:
      return h("hr");
  }
}

// An item of one paragraph needs no paragraph.
function tight(blocks, context) {
  const [first, ...rest] = blocks;
  if (first?.kind !== "paragraph") return blocks.map((block) => renderBlock(block, context));
  return [inline(first.lines, context), ...rest.map((block) => renderBlock(block, context))];
}

function inline(lines, context) {
  return parseInline(lines).map((node) => renderInline(node, context));
}

function renderInline(node, context) {
  const children = () => node.children.map((child) => renderInline(child, context));
  switch (node.kind) {
    case "text":
      return marked(node.text, node.pos, node.width ?? node.text.length, context);
    case "break":
      return h("br");
    case "link": {
      const address = safeAddress(node.url, context.base);
      if (!address) return h("span", null, children());
      return h("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, children());
    }
    case "image":
      return h("span", { class: "image" }, "Image", node.children.length > 0 ? ": " : "", children());
    case "reference":
      return context.cite?.(node.n) ?? children();
    default:
      return h(node.kind, null, children());
  }
}

export function safeAddress(url, base) {
  try {
    const address = new URL(url, /^https?:/.test(base ?? "") ? base : undefined);
    return address.protocol === "http:" || address.protocol === "https:" ? address.href : null;
  } catch {
    return null;
  }
}

// Splits a text at the limits of marks, and highlights terms in the pieces.
function marked(text, pos, width, context) {
  if (context.marks.length === 0) return highlighted(text, context.terms);
  if (width !== text.length) {
    const mark = context.marks.find(({ start, end }) => start <= pos && pos < end);
    return mark ? wrap(text, mark, context) : text;
  }
  const pieces = [];
  let at = pos;
  const end = pos + text.length;
  for (let index = firstAfter(context.marks, pos); index < context.marks.length && context.marks[index].start < end; index += 1) {
    const mark = context.marks[index];
    const [from, to] = [Math.max(mark.start, pos), Math.min(mark.end, end)];
    if (from > at) pieces.push(highlighted(text.slice(at - pos, from - pos), context.terms));
    pieces.push(wrap(text.slice(from - pos, to - pos), mark, context));
    at = to;
  }
  if (at < end) pieces.push(highlighted(text.slice(at - pos), context.terms));
  return pieces;
}

function firstAfter(marks, pos) {
  let [low, high] = [0, marks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (marks[middle].end <= pos) low = middle + 1;
    else high = middle;
  }
  return low;
}

function wrap(text, mark, context) {
  // The first piece of a passage is the target of links to it.
  const isFirst = !context.shown.has(mark.id);
  context.shown.add(mark.id);
  const props = { class: mark.class ?? "passage", id: isFirst ? `passage-${mark.id}` : undefined, tabIndex: isFirst ? -1 : undefined };
  return h("span", props, highlighted(text, context.terms));
}

export function highlighted(text, terms) {
  const found = terms ? findTerms(text, terms) : [];
  if (found.length === 0) return text;
  const pieces = [];
  let at = 0;
  for (const [start, end] of found) {
    if (start > at) pieces.push(text.slice(at, start));
    pieces.push(h("mark", null, text.slice(start, end)));
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces;
}
