//! Sections of a document, and the places in them where a passage may end.

use std::ops::Range;

use crate::markdown::{self, Kind};
use crate::{chars, outline, sentences};

/// Headings in a passage's path are cut to this length: a path is kept with every passage.
const PATH_HEADING: usize = 200;

/// Beyond this many sections that are shorter than [`TINY`] bytes on average, a document is not structured by its
/// headings (a list, a PDF whose every line looks like one): from there on, sections are joined to passages of the usual
/// size, which cite the first. Without that, a hostile file would become a passage for every six bytes.
const MANY: usize = 256;
const TINY: usize = 100;

/// A heading (or several, each deeper than the one before, with nothing between) and the text up to the next one.
pub(super) struct Section {
    /// Level and text of the headings at the start; none in front of the first heading.
    pub headings: Vec<(u8, String)>,
    /// Headings of sections that were joined to this one.
    pub joined_headings: Vec<(u8, String)>,
    pub bytes: Range<usize>,
    /// Whether the text behind the headings begins with something that must stay whole.
    pub begins_whole: bool,
    /// Places inside at which a passage may end, rising.
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

/// A place where a passage may end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Break {
    pub at: usize,
    pub strength: Strength,
    /// Whether a code block or a table row begins here, which is cut only when it is too long.
    pub whole: bool,
}

/// How well a passage can end there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Inside a code block or table row that is too long to stay whole: not to be used before that is known.
    Inside,
    /// A line end inside a sentence.
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
    // Whether the section holds more than headings and blank lines: before that, no passage may end in it.
    let mut has_body = false;
    let mut before = Kind::Blank;
    // The text lines that stand together: sentences may span them.
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
            let heading = outline::heading_text(&content[line.range.clone()]);
            section.headings.push((level, chars::truncate(&heading, PATH_HEADING).to_owned()));
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

fn is_whole(kind: Kind) -> bool {
    matches!(kind, Kind::FenceOpen | Kind::TableRow)
}

/// How well a passage can end between two lines; `None`: not at all.
fn strength(before: Kind, next: Kind) -> Option<Strength> {
    use Kind::{Blank, Code, FenceClose, FenceOpen, IndentedCode, Item, TableRow, TableRule, Text};
    match (before, next) {
        // White space belongs to what is before it.
        (_, Blank) => None,
        (FenceOpen | Code, Code | FenceClose) => Some(Strength::Inside),
        // The head of a table stays with its first row.
        (TableRow, TableRule) | (TableRule, TableRow) => None,
        (TableRow, TableRow) | (_, Item) => Some(Strength::Item),
        (Text | Item, Text) | (IndentedCode, IndentedCode) => Some(Strength::Line),
        _ => Some(Strength::Block),
    }
}

/// Adds the sentences of a run of text lines. The line ends inside the run are in `breaks` already.
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
    /// Sections so far, those that were joined too.
    seen: usize,
}

impl Sections {
    fn push(&mut self, section: Section) {
        self.seen += 1;
        let tiny = self.seen > MANY && section.bytes.end / self.seen < TINY;
        match self.made.last_mut() {
            Some(last) if tiny && last.bytes.len() + section.bytes.len() <= super::MIN_CHARS => {
                last.bytes.end = section.bytes.end;
                last.joined_headings.extend(section.headings);
                last.breaks.push(Break { at: section.bytes.start, strength: Strength::Block, whole: false });
                last.breaks.extend(section.breaks);
            }
            _ => self.made.push(section),
        }
    }
}
