// Writing direction of blocks that contain others. `dir="auto"` does not look into children that have a direction of their own.
const LETTER = /\p{L}/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Mandaic}\p{Script=Samaritan}]/u;

// Returns the direction of the first letter: "rtl", or else "ltr".
export function directionOf(blocks) {
  return RIGHT_TO_LEFT.test(firstLetter(blocks)) ? "rtl" : "ltr";
}

function firstLetter(blocks) {
  for (const block of blocks) {
    const found = letterOf(block);
    if (found) return found;
  }
  return "";
}

function letterOf({ kind, lines, blocks, items, head, rows }) {
  if (kind === "code") return "";
  if (blocks) return firstLetter(blocks);
  if (items) return items.reduce((found, item) => found || firstLetter(item.blocks), "");
  const texts = lines ?? [head, ...(rows ?? [])].filter(Boolean).flat();
  return texts.reduce((found, { text }) => found || (LETTER.exec(text)?.[0] ?? ""), "");
}
