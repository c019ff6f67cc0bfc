//! Sections of a document, and the possible passage ends in them.

use std::ops::Range;

use crate::markdown::{self, Kind};
use crate::{chars, outline, sentences};

/// Headings in a passage's path are truncated to this length, because every passage stores its path.
const PATH_HEADING_CHARS: usize = 200;

/// Beyond `MANY_SECTIONS` sections with an average length below `TINY_SECTION` bytes, headings do not structure the
/// document (a list, or a PDF in which every line looks like one). Further sections are then joined into passages of
/// the usual size that cite the first heading. Without this, a hostile file would become one passage per six bytes.
pub(super) const MANY_SECTIONS: usize = 256;
pub(super) const TINY_SECTION: usize = 100;

/// One or more headings, each deeper than the previous one with nothing in between, and the text up to the next
/// heading.
pub(super) struct Section {
    /// Level and text of the headings at the start; empty before the first heading.
    pub headings: Vec<(u8, String)>,
    /// The path of headings at the end of the sections that were joined to this one: one for each level at most.
    pub joined_headings: Vec<(u8, String)>,
    pub bytes: Range<usize>,
    /// True if the text after the headings begins with an indivisible block.
    pub begins_whole: bool,
    /// Possible passage ends inside, in ascending order.
    pub breaks: Vec<Break>,
}

impl Section {
    pub(super) fn at(start: usize) -> Self {
        Self {
            headings: Vec::new(),
            joined_headings: Vec::new(),
            bytes: start..start,
            begins_whole: false,
            breaks: Vec::new(),
        }
    }
}

/// Possible end of a passage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Break {
    pub at: usize,
    pub strength: Strength,
    /// True if a code block or table row begins here, which is split only if it is too long.
    pub whole: bool,
}

/// Suitability as the end of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Inside a code block or table row: usable only if that is too long to stay whole.
    Inside,
    /// Line end inside a sentence.
    Line,
    Sentence,
    /// Between list items or table rows.
    Item,
    /// Between paragraphs, lists, tables and code blocks.
    Block,
}

pub(super) fn sections(content: &str) -> Vec<Section> {
    let mut sections = Sections::default();
    let mut section = Section::at(0);
    // True once the section contains more than headings and blank lines; a passage cannot end before that.
    let mut has_body = false;
    let mut before = Kind::Blank;
    // Consecutive text lines, which sentences may span.
    let mut text = 0..0;
    for line in markdown::lines(content) {
        let kind = line.kind;
        let start = line.range.start;
        if kind != Kind::Text && !text.is_empty() {
            sentence_breaks(content, text.clone(), &mut section.breaks);
            text = 0..0;
        }
        if let Kind::Heading { level } = kind {
            let nests = section.headings.last().is_none_or(|(outer, _)| *outer < level);
            if !section.bytes.is_empty() && (has_body || !nests) {
                sections.push(section);
                section = Section::at(start);
                has_body = false;
            }
            section.headings.push((level, heading_in_path(&content[line.range.clone()])));
        } else if has_body {
            if let Some(strength) = strength(before, kind) {
                section.breaks.push(Break { at: start, strength, whole: is_whole(kind) });
            }
        } else if kind != Kind::Blank {
            section.begins_whole = is_whole(kind);
        }
        match kind {
            Kind::Blank | Kind::Heading { .. } | Kind::Underline => {}
            Kind::Text | Kind::Item => {
                has_body = true;
                text = if text.is_empty() { line.range.clone() } else { text.start..line.range.end };
            }
            _ => has_body = true,
        }
        section.bytes.end = line.range.end;
        before = kind;
    }
    if !text.is_empty() {
        sentence_breaks(content, text, &mut section.breaks);
    }
    if !section.bytes.is_empty() {
        sections.push(section);
    }
    sections.made
}

/// Returns the text of a heading line in the paths of passages.
pub(super) fn heading_in_path(line: &str) -> String {
    chars::truncate(&outline::heading_text(line), PATH_HEADING_CHARS).to_owned()
}

fn is_whole(kind: Kind) -> bool {
    matches!(kind, Kind::FenceOpen | Kind::TableRow)
}

/// Returns the strength of the break between two lines, or `None` if a passage must not end there.
fn strength(before: Kind, next: Kind) -> Option<Strength> {
    use Kind::{Blank, Code, FenceClose, FenceOpen, IndentedCode, Item, TableRow, TableRule, Text};
    match (before, next) {
        // White space belongs to the preceding text.
        (_, Blank) => None,
        (FenceOpen | Code, Code | FenceClose) => Some(Strength::Inside),
        // A table's head stays with its first row.
        (TableRow, TableRule) | (TableRule, TableRow) => None,
        (TableRow, TableRow) | (_, Item) => Some(Strength::Item),
        (Text | Item, Text) | (IndentedCode, IndentedCode) => Some(Strength::Line),
        _ => Some(Strength::Block),
    }
}

/// Adds the sentence starts of a run of text lines to `breaks`, which already contains the line ends of the run.
fn sentence_breaks(content: &str, text: Range<usize>, breaks: &mut Vec<Break>) {
    let lines = breaks.iter().rposition(|found| found.at <= text.start).map_or(0, |index| index + 1);
    let at_lines = breaks.split_off(lines);
    let mut at_lines = at_lines.into_iter().peekable();
    for start in sentences::starts(&content[text.clone()]) {
        let at = text.start + start;
        while let Some(line) = at_lines.next_if(|line| line.at < at) {
            breaks.push(line);
        }
        let here = at_lines.next_if(|line| line.at == at).map_or(Strength::Sentence, |line| line.strength);
        breaks.push(Break { at, strength: here.max(Strength::Sentence), whole: false });
    }
    breaks.extend(at_lines);
}

#[derive(Default)]
struct Sections {
    made: Vec<Section>,
    /// Number of sections so far, including joined ones.
    seen: usize,
}

impl Sections {
    fn push(&mut self, section: Section) {
        self.seen += 1;
        let tiny = self.seen > MANY_SECTIONS && section.bytes.end / self.seen < TINY_SECTION;
        match self.made.last_mut() {
            Some(last) if tiny && last.bytes.len() + section.bytes.len() <= super::MIN_CHARS => {
                last.bytes.end = section.bytes.end;
                super::enter(&mut last.joined_headings, section.headings);
                last.breaks.push(Break { at: section.bytes.start, strength: Strength::Block, whole: false });
                last.breaks.extend(section.breaks);
            }
            _ => self.made.push(section),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_sections_keep_the_path_at_their_end_only() {
        let deep = "# a\n## b\n### c\n#### d\n##### e\n###### f\n";
        for (repeated, levels) in [("# a\n", 1), ("# a\n\n## b\n## c\n", 2), (deep, 6)] {
            let made = sections(&repeated.repeat(5_000));
            let most = made.iter().map(|section| section.joined_headings.len()).max();
            assert_eq!(most, Some(levels), "{repeated}");
        }
    }
}
