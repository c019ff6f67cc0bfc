// Ranges of the text to mark.
import { unitsOf } from "../../markdown/offsets.js";

// Returns the cited range {start, end} of the address in characters, or null.
export function citedRange(params) {
  const [start, end] = [Number(params.start || NaN), Number(params.end || NaN)];
  return start >= 0 && end > start ? { start, end } : null;
}

// Returns [{start, end, id, class}] in units of the text, sorted and without overlaps.
export function marksOf(text, answers, params, passages) {
  const units = unitsOf(text);
  const range = citedRange(params);
  const cited = range ? [{ ...range, id: "cited", class: "passage is-chosen" }] : [];
  // Beside a cited range, the passage around it is not what was chosen.
  const isChosen = (passage) => !range && passage.passage_id === params.passage;
  const asked = passages.filter(({ passage_id: id }) => id === params.passage && !answers.some((answer) => answer.passage_id === id));
  const wanted = [...answers, ...asked]
    .filter((passage) => passage.char_end !== undefined)
    .map((passage) => ({ start: passage.char_start ?? 0, end: passage.char_end, id: passage.passage_id, class: isChosen(passage) ? "passage is-chosen" : "passage" }));
  // A cited range wins over the passages around it.
  const others = wanted.flatMap((mark) => cited.reduce((list, cut) => list.flatMap((piece) => without(piece, cut)), [mark]));
  const sorted = [...cited, ...others].sort((a, b) => a.start - b.start);
  let end = 0;
  return sorted
    .map((mark) => ({ ...mark, start: units(mark.start), end: units(mark.end) }))
    .map((mark) => {
      const start = Math.max(mark.start, end);
      end = Math.max(end, mark.end);
      return { ...mark, start };
    })
    .filter((mark) => mark.end > mark.start);
}

function without(mark, cut) {
  if (cut.end <= mark.start || cut.start >= mark.end) return [mark];
  return [{ ...mark, end: Math.min(mark.end, cut.start) }, { ...mark, start: Math.max(mark.start, cut.end) }].filter(({ start, end }) => end > start);
}
