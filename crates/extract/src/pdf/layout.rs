//! Conversion of a region's pieces to paragraphs, lists, headings and [`table`]s.

use super::columns::reads_from_right;
use super::glyph::RAISED_END;
use super::line::{Line, join};
use super::piece::Piece;
use super::table;
use crate::blocks::Block;

/// Heading styles of a document.
pub(super) struct Style {
    /// Most common text size, in points.
    pub body: f32,
    /// Heading sizes above the body size, in descending order.
    pub headings: Vec<f32>,
    /// True if bold text marks headings; false if much of the text is bold.
    pub bold_headings: bool,
}

const MAX_HEADING: usize = 200;
const MAX_BOLD_HEADING: usize = 90;

impl Style {
    /// Derives the style from all pieces of the document, weighted by their characters.
    pub(super) fn of<'a>(pieces: impl Iterator<Item = &'a Piece>) -> Self {
        let mut sizes: std::collections::BTreeMap<u32, usize> = std::collections::BTreeMap::new();
        let (mut bold, mut all) = (0usize, 0usize);
        for piece in pieces {
            let chars = piece.text.chars().count();
            *sizes.entry(key(piece.size)).or_default() += chars;
            bold += if piece.bold { chars } else { 0 };
            all += chars;
        }
        let body = sizes.iter().max_by_key(|(_, chars)| **chars).map_or(10.0, |(size, _)| *size as f32 / 2.0);
        let mut headings: Vec<f32> =
            sizes.keys().rev().map(|size| *size as f32 / 2.0).filter(|size| *size >= body * 1.15).collect();
        headings.truncate(16);
        // Merges nearly equal sizes.
        headings.dedup_by(|small, large| *small > *large * 0.93);
        Self { body, headings, bold_headings: bold * 4 < all }
    }

    fn level(&self, piece: &Piece) -> Option<u8> {
        let rank = self.headings.iter().position(|size| piece.size >= size * 0.95)?;
        (piece.size >= self.body * 1.15).then(|| u8::try_from(rank + 1).unwrap_or(4).min(4))
    }
}

/// Returns the size in half points, so that rounding does not separate sizes.
fn key(size: f32) -> u32 {
    (size * 2.0).round() as u32
}

/// Returns the blocks of a region.
pub(super) fn blocks(region: Vec<Piece>, style: &Style) -> Vec<Block> {
    let mut out = Vec::new();
    let lines = lines(region);
    let measure = Measure::of(&lines);
    let mut at = 0;
    let mut paragraph = Paragraph::default();
    let mut effort = table::MAX_EFFORT;
    while at < lines.len() {
        if let Some((rows, end)) = table::at(&lines, at, &mut effort) {
            paragraph.end(style, &mut out);
            out.push(Block::Table(rows));
            at = end;
            continue;
        }
        let line = &lines[at];
        let previous = at.checked_sub(1).map(|before| &lines[before]);
        if paragraph.text.is_empty() || previous.is_some_and(|previous| measure.ends_between(previous, line)) {
            paragraph.end(style, &mut out);
        }
        paragraph.add(line);
        at += 1;
    }
    paragraph.end(style, &mut out);
    out
}

/// Returns the last paragraph or list item of `blocks` and the paragraph that continues it behind the end of a column or page,
/// taken off the front of `region`.
pub(super) fn continuation<'a>(blocks: &'a mut [Block], region: &mut Vec<Block>) -> Option<(&'a mut String, String)> {
    if !is_open(blocks) {
        return None;
    }
    let (Block::Paragraph(text) | Block::Item { text, .. }) = blocks.last_mut()? else { return None };
    let Block::Paragraph(next) = region.first_mut()? else { return None };
    if !next.starts_with(char::is_lowercase) {
        return None;
    }
    let next = std::mem::take(next);
    region.remove(0);
    Some((text, next))
}

/// Returns true if the last paragraph or list item of `blocks` ends without the end of a sentence.
pub(super) fn is_open(blocks: &[Block]) -> bool {
    let Some(Block::Paragraph(text) | Block::Item { text, .. }) = blocks.last() else { return false };
    text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | ';' | '-' | '\u{2010}' | RAISED_END))
}

fn lines(region: Vec<Piece>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for piece in region {
        match lines.last_mut() {
            Some(line) if (line.y() - piece.y).abs() < 0.1 => line.pieces.push(piece),
            _ => lines.push(Line { pieces: vec![piece] }),
        }
    }
    lines.iter_mut().for_each(attach_marker);
    lines
}

/// Joins a list marker to its text. As a separate piece it would turn the list into a table.
fn attach_marker(line: &mut Line) {
    let [mark, text, ..] = &line.pieces[..] else { return };
    let is_mark =
        bullet(&format!("{} x", mark.text)).is_some_and(|rest| rest == "x") || numbered(&format!("{} x", mark.text));
    if is_mark && mark.text.chars().count() <= 4 {
        let joined = Piece { text: format!("{} {}", mark.text, text.text), x0: mark.x0, ..text.clone() };
        line.pieces.splice(..2, [joined]);
    }
}

/// Typical dimensions of a region.
struct Measure {
    /// Distance of two baselines, in ems.
    spacing: f32,
    left: f32,
    right: f32,
}

impl Measure {
    fn of(lines: &[Line]) -> Self {
        let mut spacings: Vec<f32> = lines
            .windows(2)
            .map(|pair| (pair[0].y() - pair[1].y()) / pair[1].size().max(1.0))
            .filter(|spacing| (0.5..2.5).contains(spacing))
            .collect();
        spacings.sort_by(f32::total_cmp);
        // The lower third: in texts of short paragraphs, paragraph gaps are as common as line gaps.
        let spacing = spacings.get(spacings.len() / 3).copied().unwrap_or(1.2);
        let left = lines.iter().map(Line::x0).fold(f32::MAX, f32::min);
        let right = lines.iter().map(Line::x1).fold(f32::MIN, f32::max);
        Self { spacing, left, right }
    }

    /// Returns true if a paragraph ends between two lines.
    fn ends_between(&self, above: &Line, line: &Line) -> bool {
        let em = line.size().max(1.0);
        let distance = (above.y() - line.y()) / em;
        let other_size = (above.size() - line.size()).abs() > em * 0.12;
        if other_size
            || above.bold() != line.bold() && (above.pieces.len() == 1 || line.pieces.len() == 1) && may_end(above)
        {
            return true;
        }
        if distance > self.spacing * 1.3 || distance < 0.3 {
            return true;
        }
        let text = line.text();
        if bullet(&text).is_some() || numbered(&text) || text.starts_with(['☐', '☒']) {
            return true;
        }
        let width = self.right - self.left;
        // Indented first line; further lines of a list item are indented below its text.
        let indented =
            line.x0() > above.x0() + em * 0.9 && line.x0() < above.x0() + em * 6.0 && above.x0() < self.left + em * 0.9;
        let short = above.x1() < self.right - width * 0.25 && !reads_from_right(&above.pieces);
        let sentence = text.chars().next().is_some_and(|c| !c.is_lowercase());
        (indented && bullet(&above.text()).is_none() && !numbered(&above.text())) || (short && sentence)
    }
}

/// Returns false for a line that must continue: a bold label before a comma or semicolon is part of a sentence.
fn may_end(line: &Line) -> bool {
    !line.text().ends_with([',', ';'])
}

#[derive(Default)]
struct Paragraph {
    text: String,
    first: Option<Piece>,
    lines: usize,
    all_bold: bool,
}

impl Paragraph {
    fn add(&mut self, line: &Line) {
        let text = line.text();
        if self.first.is_none() {
            let widest = line.pieces.iter().max_by(|a, b| a.width().total_cmp(&b.width()));
            self.first = widest.cloned();
            self.all_bold = true;
        }
        self.all_bold &= line.bold();
        self.lines += 1;
        join(&mut self.text, &text);
    }

    fn end(&mut self, style: &Style, out: &mut Vec<Block>) {
        let Paragraph { text, first, lines, all_bold } = std::mem::take(self);
        let Some(first) = first else { return };
        let chars = text.chars().count();
        let worded = text.chars().any(char::is_alphabetic);
        if let Some(level) = style.level(&first).filter(|_| worded && chars <= MAX_HEADING) {
            // Merges a heading of several lines.
            if let Some(Block::Heading { level: before, text: heading }) = out.last_mut()
                && *before == level
                && text.chars().next().is_some_and(char::is_lowercase)
            {
                join(heading, &text);
                return;
            }
            out.push(Block::Heading { level, text });
            return;
        }
        let bold_heading = style.bold_headings && all_bold && lines <= 2 && worded && chars <= MAX_BOLD_HEADING;
        if bold_heading
            && first.size >= style.body * 0.95
            && !text.ends_with(['.', ',', ';', '!', '?', '。'])
            && bullet(&text).is_none()
        {
            let level = u8::try_from(style.headings.len() + 1).unwrap_or(5).clamp(2, 5);
            out.push(Block::Heading { level, text: text.trim_end_matches(':').to_owned() });
            return;
        }
        match bullet(&text) {
            Some(item) => out.push(Block::Item { level: 0, number: None, text: item.to_owned() }),
            None => out.push(Block::Paragraph(text)),
        }
    }
}

/// Returns the text of a bulleted list item.
fn bullet(text: &str) -> Option<&str> {
    let rest =
        text.strip_prefix(['•', '●', '▪', '■', '◦', '○', '‣', '►', '➢', '✓', '\u{f0b7}', '\u{f0a7}', '\u{f076}'])?;
    let rest = rest.trim_start();
    (!rest.is_empty()).then_some(rest)
}

/// Checks for `1.`, `12)`, `a)` or `(3)` at the start.
fn numbered(text: &str) -> bool {
    let head = text.split_whitespace().next().unwrap_or_default();
    let core = head.trim_start_matches('(').trim_end_matches([')', '.']);
    let marked = head.len() > core.len();
    let number = !core.is_empty() && core.len() <= 3 && core.chars().all(|c| c.is_ascii_digit());
    let letter = core.len() == 1 && core.chars().all(|c| c.is_ascii_alphabetic()) && head.ends_with(')');
    marked && (number || letter) && text.len() > head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, x0: f32, y: f32) -> Piece {
        Piece { text: text.into(), x0, x1: x0 + text.chars().count() as f32 * 5.0, y, size: 10.0, bold: false }
    }

    fn markdown(pieces: Vec<Piece>) -> String {
        let style = Style { body: 10.0, headings: vec![16.0], bold_headings: true };
        crate::blocks::write(&blocks(pieces, &style))
    }

    #[test]
    fn paragraphs_hyphenation_and_headings() {
        let heading = Piece { size: 16.0, ..piece("A Title", 10.0, 700.0) };
        let label = Piece { bold: true, ..piece("Method", 10.0, 600.0) };
        let text = markdown(vec![
            heading,
            piece("The first line of the para-", 10.0, 670.0),
            piece("graph goes on to its very e", 10.0, 658.0),
            piece("nd of it here.", 10.0, 646.0),
            label,
            piece("• one thing that is long en", 10.0, 580.0),
            piece("ough", 10.0, 568.0),
            piece("• another", 10.0, 556.0),
        ]);
        assert_eq!(
            text,
            "# A Title\n\nThe first line of the paragraph goes on to its very e nd of it here.\n\n## Method\n\n- one thing that is long en ough\n- another\n"
        );
    }

    #[test]
    fn aligned_pieces_form_a_table() {
        let mut pieces = vec![piece("Stock", 10.0, 720.0)];
        for (row, cells) in [["Part", "Count", "Place"], ["Bolt", "12", "A1"], ["Nut", "7", "B2"]].iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                pieces.push(piece(cell, 10.0 + column as f32 * 80.0, 700.0 - row as f32 * 14.0));
            }
        }
        pieces.push(piece("After the table.", 10.0, 600.0));
        assert_eq!(
            markdown(pieces),
            "Stock\n\n| Part | Count | Place |\n| --- | --- | --- |\n| Bolt | 12 | A1 |\n| Nut | 7 | B2 |\n\nAfter the table.\n"
        );
    }

    #[test]
    fn list_numbers_are_recognized() {
        assert!(numbered("1. Introduction") && numbered("(2) second") && numbered("a) first"));
        assert!(
            !numbered("2024 was a year") && !numbered("A. Smith said") && !numbered("1.") && !numbered("3.14 is pi")
        );
    }
}
