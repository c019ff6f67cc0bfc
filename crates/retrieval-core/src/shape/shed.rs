//! Removal of the least that a budget demands.
//!
//! Parts are removed one at a time, each by a subtraction from the running length, until the answer fits.

use super::{Field, HitLengths, Length, Measure, Plan, ShedLevel, WHOLE};
use crate::chars::can_end_between;

/// Shortest snippet to keep, in characters: about a line. Fewer words say hardly anything about a document.
const SHORTEST_SNIPPET: usize = 80;

pub(super) fn shed(plan: Plan, lengths: &[HitLengths<'_>], max_chars: u64, measure: &dyn Measure) -> Plan {
    let page_length = measure.page(&plan.page);
    let mut shedding = Shedding { plan, lengths, max_chars, measure, page_length, hits_length: Length::default() };
    for index in 0..lengths.len() {
        shedding.hits_length += shedding.hit_length(index);
    }
    let fits = shedding.fits()
        || shedding.shed_passages()
        || shedding.shed_snippets()
        || shedding.shed_extras()
        || shedding.shed_hits()
        || shedding.shed_last_snippet();
    shedding.plan.page.unsatisfiable = !fits;
    shedding.plan
}

/// A plan and its length. Each `shed_*` method removes the parts of one level until the answer fits, and tells whether
/// it does.
struct Shedding<'a> {
    plan: Plan,
    lengths: &'a [HitLengths<'a>],
    max_chars: u64,
    measure: &'a dyn Measure,
    page_length: Length,
    hits_length: Length,
}

impl Shedding<'_> {
    fn fits(&self) -> bool {
        self.fits_with(self.hits_length)
    }

    fn fits_with(&self, hits_length: Length) -> bool {
        self.measure.answer_chars(self.page_length + hits_length) <= self.max_chars
    }

    /// Adds the level to those that the answer admits to.
    fn begin(&mut self, level: ShedLevel) {
        let shed = &mut self.plan.page.shed;
        if !shed.contains(&level) {
            shed.push(level);
            shed.sort_unstable();
            self.page_length = self.measure.page(&self.plan.page);
        }
    }

    fn shows(&self, index: usize, field: Field) -> bool {
        self.plan.hits[index].fields.contains(field) && self.lengths[index].has(field)
    }

    fn hide(&mut self, index: usize, field: Field) {
        let fields = &mut self.plan.hits[index].fields;
        *fields = fields.without(field);
        self.hits_length -= self.lengths[index].fields[field as usize];
    }

    /// Returns the length of the snippet beyond its first `end` bytes.
    fn tail_length(&self, index: usize, end: usize) -> Length {
        self.lengths[index].snippet.get(end..).map_or_else(Length::default, |tail| self.measure.text(tail))
    }

    fn hit_length(&self, index: usize) -> Length {
        let (hit, lengths) = (self.plan.hits[index], &self.lengths[index]);
        let mut total = lengths.base;
        hit.fields.iter().for_each(|field| total += lengths.fields[field as usize]);
        if hit.fields.contains(Field::Snippet) {
            total -= self.tail_length(index, hit.snippet);
        }
        if hit.fields.contains(Field::Passages) {
            lengths.passages.iter().take(hit.passages).for_each(|passage| total += *passage);
        }
        total
    }

    fn shed_passages(&mut self) -> bool {
        for index in (0..self.plan.hits.len()).rev() {
            if !self.shows(index, Field::Passages) {
                continue;
            }
            for (kept, passage) in self.lengths[index].passages.iter().enumerate().rev() {
                self.begin(ShedLevel::Passages);
                self.plan.hits[index].passages = kept;
                self.hits_length -= *passage;
                if kept == 0 {
                    // Left out, not empty: an empty list would say that the document has no passages.
                    self.hide(index, Field::Passages);
                }
                if self.fits() {
                    return true;
                }
            }
        }
        false
    }

    fn shed_snippets(&mut self) -> bool {
        for index in (0..self.plan.hits.len()).rev() {
            if !self.shows(index, Field::Snippet) {
                continue;
            }
            let Some(shortest) = cuts(self.lengths[index].snippet).next() else { continue };
            self.begin(ShedLevel::SnippetTails);
            let whole = self.hits_length;
            self.cut_snippet(index, shortest, whole - self.tail_length(index, shortest));
            if self.fits() {
                self.lengthen_snippet(index, whole);
                return true;
            }
        }
        false
    }

    /// Truncates a snippet. `hits_length` is the resulting length of the hits.
    fn cut_snippet(&mut self, index: usize, end: usize, hits_length: Length) {
        // Truncation adds no mark: the snippet stays a verbatim slice of the document.
        self.plan.hits[index].snippet = end;
        self.hits_length = hits_length;
    }

    /// Shows as much of a snippet as fits. `whole` is the length of the hits with all of it.
    fn lengthen_snippet(&mut self, index: usize, whole: Length) {
        let snippet = self.lengths[index].snippet;
        let ends: Vec<usize> = cuts(snippet).collect();
        let (mut end, mut length) = (snippet.len(), whole);
        for cut in ends.into_iter().rev() {
            length -= self.measure.text(&snippet[cut..end]);
            end = cut;
            if self.fits_with(length) {
                self.cut_snippet(index, end, length);
                return;
            }
        }
    }

    fn shed_extras(&mut self) -> bool {
        for index in (0..self.plan.hits.len()).rev() {
            for field in Field::ALL.into_iter().filter(|field| !matches!(field, Field::Snippet | Field::Title)) {
                if self.shows(index, field) {
                    self.begin(ShedLevel::PresetExtras);
                    self.hide(index, field);
                    if self.fits() {
                        return true;
                    }
                }
            }
        }
        let blocks: [fn(&mut Plan) -> &mut bool; 3] =
            [|plan| &mut plan.page.integration_results, |plan| &mut plan.page.ranking, |plan| &mut plan.page.access];
        for block in blocks {
            if std::mem::replace(block(&mut self.plan), false) {
                self.begin(ShedLevel::PresetExtras);
                self.page_length = self.measure.page(&self.plan.page);
                if self.fits() {
                    return true;
                }
            }
        }
        false
    }

    fn shed_hits(&mut self) -> bool {
        while self.plan.hits.len() > 1 {
            self.begin(ShedLevel::TailResults);
            self.hits_length -= self.hit_length(self.plan.hits.len() - 1);
            self.plan.hits.pop();
            if self.fits() {
                return true;
            }
        }
        false
    }

    fn shed_last_snippet(&mut self) -> bool {
        if self.plan.hits.is_empty() || !self.shows(0, Field::Snippet) {
            return false;
        }
        self.begin(ShedLevel::PresetExtras);
        self.hits_length += self.tail_length(0, self.plan.hits[0].snippet);
        self.plan.hits[0].snippet = WHOLE;
        self.hide(0, Field::Snippet);
        self.fits()
    }
}

/// Returns the byte offsets at which a snippet or a quote can end: the ends of its words except the last, in ascending order.
/// Scripts without spaces can end between any two letters.
pub fn cuts(snippet: &str) -> impl Iterator<Item = usize> + '_ {
    let ends = snippet.char_indices().skip(SHORTEST_SNIPPET).scan(' ', |before, (at, character)| {
        let here = (*before, character, at);
        *before = character;
        Some(here)
    });
    ends.filter_map(|(before, character, at)| {
        (!before.is_whitespace() && can_end_between(before, character)).then_some(at)
    })
}
