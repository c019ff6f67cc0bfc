// Words of a query in a text, for highlights: equal but for case, accents and common endings.
const STOP = new Set(("a an and are as at be by can did do does for from had has have how i in is it its of on or our that the their there these they this to was we were what when where which who why will with you your "
  + "der die das ein eine und ist sind was wie wer wo im in zu von mit le la les un une et est que qui dans").split(" "));
const WORD = /[\p{L}\p{N}]+/gu;
const NO_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

const fold = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");

export function stem(word) {
  const plain = fold(word);
  if (plain.length < 4) return plain;
  const short = plain.replace(/(?:ies|ied)$/, "y").replace(/(?:ing|edly|ed|es|s|ly|en|er|e)$/, "");
  return short.length >= 3 ? short : plain;
}

export function termsOf(...texts) {
  const words = texts.flatMap((text) => String(text ?? "").match(WORD) ?? []);
  const strong = words.filter((word) => !STOP.has(fold(word)));
  const terms = new Map();
  for (const word of strong.length > 0 ? strong : words) {
    if (!NO_SPACES.test(word)) terms.set(stem(word), word);
    else for (let at = 0; at < Math.max(word.length - 1, 1); at += 1) terms.set(word.slice(at, at + 2), word.slice(at, at + 2));
  }
  return terms;
}

// Returns the ranges [start, end, term] of the terms in the text, in order and without overlaps.
export function findTerms(text, terms) {
  const found = [];
  if (terms.size === 0) return found;
  for (const match of String(text).matchAll(WORD)) {
    const [word] = match;
    if (!NO_SPACES.test(word)) {
      const key = stem(word);
      if (terms.has(key)) found.push([match.index, match.index + word.length, key]);
      continue;
    }
    for (let at = 0; at < word.length; at += 1) {
      const key = terms.has(word.slice(at, at + 2)) ? word.slice(at, at + 2) : word[at];
      if (!terms.has(key)) continue;
      const [start, end] = [match.index + at, match.index + at + key.length];
      const last = found.at(-1);
      if (last && last[1] >= start) last[1] = Math.max(last[1], end);
      else found.push([start, end, key]);
    }
  }
  return found;
}
