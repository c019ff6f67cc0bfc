//! Pieces of lines: runs of glyphs without a gap wide enough to separate columns.

use super::cells::{self, Row, Run};
use super::glyph::{Glyph, SOFT_HYPHEN, median_size};
use super::{bidi, drop_cap, raised};

/// Gap that separates two pieces, in ems.
const PIECE_GAP: f32 = 0.75;
/// Gap without a space that separates two pieces if they are cells, in ems, on pages where most words have no space between them.
const CELL_GAP: f32 = 0.45;
/// Gap that separates two words if the file has no space there, in ems.
const WORD_GAP: f32 = 0.19;
/// Minimum gap for a space in the file, in ems; overlapping glyphs leave a smaller one.
const SPACE_GAP: f32 = 0.05;
/// Maximum baseline difference of glyphs on one line, in ems.
const SAME_LINE: f32 = 0.3;
/// Maximum difference from the baseline of the largest glyphs for glyphs that are neither raised nor lowered, in their ems.
const LEVEL: f32 = 0.1;

/// Maximum number of raised or lowered glyphs; more on one baseline form their own line.
const MAX_RAISED: usize = 100;

/// Part of a line.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Text in logical order.
    pub text: String,
    pub x0: f32,
    pub x1: f32,
    /// Baseline, equal for all pieces of a line.
    pub y: f32,
    /// Median glyph size.
    pub size: f32,
    /// True if at least nine of ten letters are bold.
    pub bold: bool,
}

impl Piece {
    pub(super) fn width(&self) -> f32 {
        self.x1 - self.x0
    }
}

/// Returns the pieces of the page, line by line from the top.
pub(super) fn pieces(glyphs: Vec<Glyph>) -> Vec<Piece> {
    let mut lines = lines(glyphs);
    for line in &mut lines {
        line.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    }
    bidi::reorder_ligatures(&mut lines);
    let cell_gap = if has_spaces(&lines) { WORD_GAP } else { CELL_GAP };
    let mut rows: Vec<Row> = lines.into_iter().filter_map(|line| row(line, cell_gap)).collect();
    cells::separate(&mut rows);
    let mut pieces = Vec::new();
    for row in rows {
        join(row, &mut pieces);
    }
    pieces
}

/// Groups glyphs by baseline; raised and lowered glyphs join their line.
fn lines(mut glyphs: Vec<Glyph>) -> Vec<Vec<Glyph>> {
    glyphs.sort_by(|a, b| b.y.total_cmp(&a.y));
    let mut lines: Vec<Vec<Glyph>> = Vec::new();
    for glyph in glyphs {
        match lines.last_mut() {
            Some(line)
                if line.first().is_some_and(|first| first.y - glyph.y <= SAME_LINE * first.size.min(glyph.size)) =>
            {
                line.push(glyph)
            }
            _ => lines.push(vec![glyph]),
        }
    }
    drop_cap::place(&mut lines);
    let mut merged: Vec<Vec<Glyph>> = Vec::with_capacity(lines.len());
    for line in lines {
        match merged.last_mut() {
            // Superscripts precede their line, subscripts follow it.
            Some(above) if is_raised_part(above, &line) || is_raised_part(&line, above) => above.extend(line),
            _ => merged.push(line),
        }
    }
    merged
}

/// Checks if a line consists of small glyphs raised or lowered beside another line.
fn is_raised_part(small: &[Glyph], line: &[Glyph]) -> bool {
    if small.len() > MAX_RAISED || small.len() > line.len() {
        return false;
    }
    let (Some(one), Some(other)) = (largest(small), largest(line)) else { return false };
    let (size, full) = (one.size, other.size);
    let distance = one.y - other.y;
    if size > full * raised::SIZE || distance > full * 0.7 || distance < -full * 0.4 {
        return false;
    }
    // Text of several lines beside larger text, as a number and its explanation, is no raised part of it.
    let level = line.iter().filter(|glyph| (glyph.y - other.y).abs() < full * LEVEL);
    if median_size(level).is_some_and(|median| size > median * raised::SIZE) {
        return false;
    }
    small.iter().all(|glyph| line.iter().any(|near| glyph.x0 - near.x1 < full * 0.8 && near.x0 - glyph.x1 < full * 0.8))
}

/// Returns one of the largest glyphs, whose baseline is that of the line.
fn largest(line: &[Glyph]) -> Option<&Glyph> {
    line.iter().max_by(|a, b| a.size.total_cmp(&b.size))
}

/// Checks that most words have a space of the file between them.
fn has_spaces(lines: &[Vec<Glyph>]) -> bool {
    let (mut spaces, mut gaps) = (0usize, 0usize);
    for pair in lines.iter().flat_map(|line| line.windows(2)) {
        let [one, other] = pair else { continue };
        let (em, gap) = (one.size.min(other.size), other.x0 - one.x1);
        spaces += usize::from(other.char.is_whitespace());
        gaps += usize::from(!one.char.is_whitespace() && gap > WORD_GAP * em && gap <= PIECE_GAP * em);
    }
    spaces > gaps
}

/// Returns the runs of a line, which end at gaps without a space that may separate cells, in ems; `None` without glyphs.
fn row(mut line: Vec<Glyph>, cell_gap: f32) -> Option<Row> {
    // Some programs print twice to make text bold.
    line.dedup_by(|b, a| a.char == b.char && (a.x0 - b.x0).abs() < a.size * 0.08);
    // The largest glyphs define the line's baseline.
    let Glyph { y, size, .. } = *largest(&line)?;
    let mut runs: Vec<Run> = Vec::new();
    let mut space = false;
    for glyph in line {
        if glyph.char.is_whitespace() {
            space = true;
            continue;
        }
        let mut begins = true;
        let mut continues = false;
        if let Some(run) = runs.last_mut()
            && let Some(last) = run.glyphs.last().copied()
        {
            let em = last.size.min(glyph.size);
            // The last glyph may end before another one, as a mark that is drawn over its letter does.
            let gap = glyph.x0 - run.x1;
            continues = gap <= PIECE_GAP * em;
            begins = !continues || (!space && gap > cell_gap * em);
            if !begins && (gap > WORD_GAP * em || (space && gap > SPACE_GAP * em)) {
                run.glyphs.push(space_before(&glyph, run.x1, last));
            }
        }
        space = false;
        match runs.last_mut().filter(|_| !begins) {
            Some(run) => {
                run.x1 = run.x1.max(glyph.x1);
                run.glyphs.push(glyph);
            }
            None => runs.push(Run { glyphs: vec![glyph], x0: glyph.x0, x1: glyph.x1, continues }),
        }
    }
    Some(Row { y, size, runs })
}

/// Returns a space from a position to a glyph.
fn space_before(glyph: &Glyph, x0: f32, last: Glyph) -> Glyph {
    Glyph { char: ' ', x0, x1: glyph.x0, ..last }
}

/// Appends the pieces of a line.
fn join(row: Row, pieces: &mut Vec<Piece>) {
    let mut glyphs: Vec<Glyph> = Vec::new();
    let mut end = 0.0;
    for run in row.runs {
        if !run.continues {
            pieces.extend(piece(std::mem::take(&mut glyphs), row.y));
        } else if let (Some(last), Some(first)) = (glyphs.last().copied(), run.glyphs.first()) {
            glyphs.push(space_before(first, end, last));
        }
        end = run.x1;
        glyphs.extend(run.glyphs);
    }
    pieces.extend(piece(glyphs, row.y));
}

fn piece(mut run: Vec<Glyph>, y: f32) -> Option<Piece> {
    // A word that is divided ends in a hyphen.
    let is_divided = run.last().is_some_and(|glyph| glyph.char == SOFT_HYPHEN);
    run.retain(|glyph| glyph.char != SOFT_HYPHEN);
    if let Some(end) = run.last().copied().filter(|_| is_divided) {
        run.push(Glyph { char: '-', x0: end.x1, ..end });
    }
    let (x0, x1) = (run.first()?.x0, run.iter().map(|glyph| glyph.x1).fold(f32::MIN, f32::max));
    let letters = run.iter().filter(|glyph| glyph.char.is_alphanumeric()).count();
    let bold = run.iter().filter(|glyph| glyph.bold && glyph.char.is_alphanumeric()).count();
    let size = median_size(&run)?;
    let text = bidi::logical(raised::mark(run));
    Some(Piece { text, x0, x1, y, size, bold: letters > 0 && bold * 10 >= letters * 9 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(glyphs: &[(char, f32, f32)]) -> Vec<String> {
        let glyph = |&(char, x0, x1)| Glyph { char, x0, x1, y: 0.0, size: 10.0, rise: 0.0, bold: false };
        pieces(glyphs.iter().map(glyph).collect()).into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn marks_neither_open_nor_close_a_gap() {
        // Drawn at the end of its letter, then in the middle.
        assert_eq!(read(&[('क', 0.0, 5.0), ('\u{947}', 5.0, 5.0), (' ', 5.0, 7.5), ('ल', 7.5, 12.5)]), ["के ल"]);
        assert_eq!(read(&[('क', 0.0, 5.0), ('\u{947}', 2.0, 2.0), ('ल', 5.0, 10.0)]), ["केल"]);
        assert_eq!(read(&[('क', 0.0, 5.0), ('\u{947}', 2.0, 2.0), (' ', 5.0, 6.0), ('ल', 6.0, 11.0)]), ["के ल"]);
        assert_eq!(read(&[('क', 0.0, 9.0), ('\u{947}', 1.0, 1.0), ('ल', 12.0, 17.0)]), ["के ल"]);
    }

    /// Returns the pieces of lines of words at positions, joined by `|`. Each character is half an em wide.
    fn read_lines(lines: &[&[(&str, f32)]]) -> Vec<String> {
        let mut glyphs = Vec::new();
        for (number, words) in lines.iter().enumerate() {
            for &(word, x) in *words {
                glyphs.extend(word.chars().enumerate().map(|(at, char)| {
                    let (x0, y) = (x + at as f32 * 5.0, 700.0 - number as f32 * 12.0);
                    Glyph { char, x0, x1: x0 + 5.0, y, size: 10.0, rise: 0.0, bold: false }
                }));
            }
        }
        let pieces = pieces(glyphs);
        let lines = pieces.chunk_by(|one, other| one.y == other.y);
        lines.map(|line| line.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>().join("|")).collect()
    }

    #[test]
    fn cells_that_fill_their_columns_are_pieces() {
        let names: &[_] = &[("Year", 50.0), ("Revenue", 76.8), ("Profit", 118.6)];
        let [one, other]: [&[_]; 2] =
            [&[("2022", 50.0), ("100", 80.0), ("5", 120.0)], &[("2023", 50.0), ("120", 80.0), ("9", 120.0)]];
        assert_eq!(read_lines(&[names, one, other]), ["Year|Revenue|Profit", "2022|100|5", "2023|120|9"]);
        assert_eq!(read_lines(&[one, other, names]), ["2022|100|5", "2023|120|9", "Year|Revenue|Profit"]);
        let years: &[_] = &[("Year", 50.0), ("Before", 76.8), ("After", 112.0)];
        assert_eq!(read_lines(&[years, names, one, other])[..2], ["Year|Before|After", "Year|Revenue|Profit"]);
        // With an empty cell.
        assert_eq!(read_lines(&[names, one, &other[..2]])[0], "Year|Revenue|Profit");
        // Glued in part.
        let wide: &[_] = &[("Year", 50.0), ("Revenue", 80.0), ("Profit", 121.8)];
        assert_eq!(read_lines(&[wide, one, other])[0], "Year|Revenue|Profit");
    }

    #[test]
    fn words_that_are_no_cells_of_two_lines_are_one_piece() {
        let names: &[_] = &[("Year", 50.0), ("Revenue", 76.8), ("Profit", 118.6)];
        let row: &[_] = &[("2022", 50.0), ("100", 80.0), ("5", 120.0)];
        for (case, words, below) in [
            ("one line", names, &[row] as &[&[_]]),
            ("a cell across two", names, &[row, &[("2023 and later", 50.0), ("9", 130.0)]]),
            ("two cells", names, &[row, &[("2", 50.0), ("0", 65.0), ("9", 130.0)]]),
            ("spaces", &[("Year ", 50.0), ("Revenue ", 76.8), ("Profit", 118.6)], &[row, row]),
            ("no cell below", &[("Year", 10.0), ("Revenue", 36.8), ("Profit", 78.6)], &[row, row]),
        ] {
            let lines: Vec<_> = [words].into_iter().chain(below.iter().copied()).collect();
            assert_eq!(read_lines(&lines)[0], "Year Revenue Profit", "{case}");
        }
    }

    #[test]
    fn gaps_like_spaces_separate_cells_on_pages_with_spaces() {
        let row: &[_] = &[("100", 50.0), ("200", 88.0), ("300", 126.0)];
        let months: &[_] = &[("Month 1", 50.0), ("Month 2", 88.0), ("Month 3", 126.0)];
        assert_eq!(read_lines(&[months, row, row])[0], "Month 1|Month 2|Month 3");
        let words: &[_] = &[("January", 50.0), ("Februar", 88.0), ("March", 126.0)];
        assert_eq!(read_lines(&[words, row, row])[0], "January Februar March");
    }
}
