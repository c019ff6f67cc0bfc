//! Tables with and without ruling lines, found by the alignment of pieces.

use super::columns::reads_from_right;
use super::line::{Line, join};
use super::piece::Piece;

/// Maximum number of lines examined for the tables of one region. Without it, many lines that nearly form tables would
/// take quadratic time.
pub(super) const MAX_EFFORT: usize = 100_000;
/// Maximum number of words of a stretched line.
const MAX_STRETCHED: usize = 20;
/// Maximum difference of the gaps between the words of a stretched line, in ems.
const EQUAL_GAPS: f32 = 0.15;
/// Maximum difference of the edges of two lines of a justified paragraph, in ems.
const SAME_EDGE: f32 = 0.5;
/// Maximum distance of a further line of a cell from the line above it, as a share of the usual distance above a row.
const WITHIN_CELL: f32 = 0.85;

/// Returns the rows of a table that begins at line `start`, and the index of the next line.
///
/// A table is a sequence of lines with several pieces. Its columns are the intervals where pieces of all lines
/// overlap.
pub(super) fn at(lines: &[Line], start: usize, effort: &mut usize) -> Option<(Vec<Vec<String>>, usize)> {
    let mut end = start;
    let mut rows = 0;
    let mut wide = 0;
    while let Some(line) = lines.get(end).filter(|_| *effort > 0) {
        *effort -= 1;
        if !is_row(lines, end) {
            // Continuation line of a cell, between rows.
            let inside = end > start
                && line.pieces.len() < 2
                && is_row(lines, end + 1)
                && near(line, &lines[end + 1])
                && near(&lines[end - 1], line);
            if !inside {
                break;
            }
        } else {
            if end > start && !near_row(&lines[end - 1], line) {
                break;
            }
            rows += 1;
            wide += usize::from(line.pieces.len() >= 3);
        }
        end += 1;
    }
    if !(rows >= 3 || (rows >= 2 && wide >= 2)) {
        return None;
    }
    let run = &lines[start..end];
    let columns = table_columns(run);
    if columns.len() < 2 {
        return None;
    }
    let mut grid: Vec<Vec<String>> = Vec::new();
    let mut clashes = 0;
    let reach = WITHIN_CELL * distance_above_rows(run);
    for (at, line) in run.iter().enumerate() {
        let mut row = vec![String::new(); columns.len()];
        for piece in &line.pieces {
            let middle = (piece.x0 + piece.x1) / 2.0;
            let column = columns.iter().position(|(_, right)| middle <= *right).unwrap_or(columns.len() - 1);
            clashes += usize::from(!row[column].is_empty());
            join(&mut row[column], &piece.text);
        }
        let is_close = at > 0 && run[at - 1].y() - line.y() < reach;
        let continues = |above: &Vec<String>| line.pieces.len() == 1 && (is_close || is_sentence(above, &row));
        match grid.last_mut().filter(|above| continues(above)) {
            Some(above) => {
                for (cell, more) in above.iter_mut().zip(row).filter(|(_, more)| !more.is_empty()) {
                    join(cell, &more);
                }
            }
            None => grid.push(row),
        }
    }
    if reads_from_right(&run.iter().flat_map(|line| line.pieces.clone()).collect::<Vec<_>>()) {
        grid.iter_mut().for_each(|row| row.reverse());
    }
    (clashes * 4 <= rows).then_some((grid, end))
}

/// Checks for a line of several pieces that are no words of running text.
fn is_row(lines: &[Line], at: usize) -> bool {
    lines.get(at).is_some_and(|line| line.pieces.len() >= 2 && !is_stretched(lines, at))
}

/// Checks for a line of a narrow justified paragraph, where the gaps between words are as wide as those between cells.
fn is_stretched(lines: &[Line], at: usize) -> bool {
    let line = &lines[at];
    let is_cell = |piece: &Piece| piece.text.contains(|c: char| c == ' ' || c.is_numeric());
    if line.pieces.len() > MAX_STRETCHED || line.pieces.iter().any(is_cell) {
        return false;
    }
    // Names are cells too.
    let lower = line.pieces.iter().filter(|piece| piece.text.starts_with(char::is_lowercase)).count();
    if lower < 2 || lower * 2 < line.pieces.len() {
        return false;
    }
    let em = line.size();
    let gaps = line.pieces.windows(2).map(|pair| pair[1].x0 - pair[0].x1);
    let (least, most) = gaps.fold((f32::MAX, f32::MIN), |(least, most), gap| (least.min(gap), most.max(gap)));
    let has_edges_of = |other: &Line| {
        (other.x0() - line.x0()).abs() <= SAME_EDGE * em && (other.x1() - line.x1()).abs() <= SAME_EDGE * em
    };
    let above = at.checked_sub(1).and_then(|above| lines.get(above));
    most - least <= EQUAL_GAPS * em
        && (above.is_some_and(|above| near(above, line) && has_edges_of(above))
            || lines.get(at + 1).is_some_and(|below| near(line, below) && has_edges_of(below)))
}

/// Returns the merged horizontal intervals of the lines' pieces, from left to right.
fn table_columns(run: &[Line]) -> Vec<(f32, f32)> {
    let mut intervals: Vec<(f32, f32)> = run
        .iter()
        .filter(|line| line.pieces.len() >= 2)
        .flat_map(|line| line.pieces.iter().map(|piece| (piece.x0, piece.x1)))
        .collect();
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut columns: Vec<(f32, f32)> = Vec::new();
    for (left, right) in intervals {
        match columns.last_mut() {
            Some(column) if left < column.1 => column.1 = column.1.max(right),
            _ => columns.push((left, right)),
        }
    }
    columns
}

/// Returns the median distance of the rows from the lines above them.
fn distance_above_rows(run: &[Line]) -> f32 {
    let rows = run.windows(2).filter(|pair| pair[1].pieces.len() >= 2);
    let mut distances: Vec<f32> = rows.map(|pair| pair[0].y() - pair[1].y()).collect();
    distances.sort_by(f32::total_cmp);
    distances.get(distances.len() / 2).copied().unwrap_or_default()
}

/// Checks that a row continues in lower case a cell of the row above that begins otherwise. In a table whose cells all begin in
/// lower case, a section may do so too.
fn is_sentence(above: &[String], row: &[String]) -> bool {
    let begins = |cell: &str, is_lower: bool| cell.starts_with(|c: char| c.is_lowercase() == is_lower);
    above.iter().zip(row).any(|(cell, more)| begins(cell, false) && begins(more, true))
}

/// Checks for the line distance of text within a cell.
fn near(above: &Line, line: &Line) -> bool {
    above.y() - line.y() < line.size().max(above.size()) * 1.6
}

/// Checks for the line distance of table rows, which may be wider.
fn near_row(above: &Line, line: &Line) -> bool {
    above.y() - line.y() < line.size().max(above.size()) * 4.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns lines of pieces `(text, x0, x1)` at equal distances.
    fn lines(source: &[&[(&str, f32, f32)]]) -> Vec<Line> {
        let line = |(number, pieces): (usize, &&[(&str, f32, f32)])| {
            let piece = |&(text, x0, x1): &(&str, f32, f32)| Piece {
                text: text.to_owned(),
                x0,
                x1,
                y: 700.0 - number as f32 * 12.0,
                size: 10.0,
                bold: false,
            };
            Line { pieces: pieces.iter().map(piece).collect() }
        };
        source.iter().enumerate().map(line).collect()
    }

    #[test]
    fn stretched_lines_of_a_paragraph_are_no_rows() {
        let lines = lines(&[
            &[("The council met on Tuesday in the old", 50.0, 250.0)],
            &[
                ("alternatives", 50.0, 102.0),
                ("with", 118.0, 136.0),
                ("different", 152.0, 190.0),
                ("duties,", 206.0, 250.0),
            ],
            &[("consequences for the people of the town", 50.0, 250.0)],
            &[("representatives", 50.0, 118.0), ("emphasised", 135.0, 187.0), ("throughout", 204.0, 250.0)],
            &[("international", 50.0, 110.0), ("collaboration", 190.0, 250.0)],
            &[("that it is open.", 50.0, 120.0)],
        ]);
        for start in 0..lines.len() {
            assert_eq!(at(&lines, start, &mut MAX_EFFORT.clone()), None, "{start}");
        }
    }

    #[test]
    fn cells_at_equal_distances_are_a_table() {
        let row =
            |cells: [&'static str; 3]| [(cells[0], 50.0, 80.0), (cells[1], 135.0, 165.0), (cells[2], 220.0, 250.0)];
        let rows = [row(["name", "Size", "Unit"]), row(["bolt", "1200", "mm"]), row(["nut", "3400", "mm"])];
        let lines = lines(&[&rows[0], &rows[1], &rows[2]]);
        let (grid, end) = at(&lines, 0, &mut MAX_EFFORT.clone()).expect("a table");
        assert_eq!((grid.len(), end), (3, 3));
    }

    /// Returns the rows of a table with a line of one piece between the second row and the third one, at a distance from the line
    /// above, each with its cells joined by `|`.
    fn rows_around(label: &str, single: &str, distance: f32) -> Vec<String> {
        let row =
            |cells: [&'static str; 3]| [(cells[0], 50.0, 90.0), (cells[1], 135.0, 165.0), (cells[2], 220.0, 250.0)];
        let [first, last] = [row(["Items", "2024", "2023"]), row(["Staff", "3", "4"])];
        let second = [(label, 50.0, 90.0), ("1", 135.0, 165.0), ("2", 220.0, 250.0)];
        let mut lines = lines(&[&first, &second, &[(single, 50.0, 90.0)], &last]);
        lines[2].pieces[0].y = lines[1].y() - distance;
        let (grid, _) = at(&lines, 0, &mut MAX_EFFORT.clone()).expect("a table");
        grid.iter().map(|row| row.join("|")).collect()
    }

    #[test]
    fn a_section_is_a_row_and_a_further_line_of_a_cell_is_not() {
        for (label, single) in [("Products", "Costs"), ("Products", "Café"), ("products", "costs"), ("産物", "費用")]
        {
            let second = format!("{label}|1|2");
            let section = format!("{single}||");
            let expected = ["Items|2024|2023", second.as_str(), section.as_str(), "Staff|3|4"];
            assert_eq!(rows_around(label, single, 12.0), expected, "{label} {single}");
        }
        let rows = ["Items|2024|2023", "Products costs|1|2", "Staff|3|4"];
        assert_eq!(rows_around("Products", "costs", 12.0), rows);
        assert_eq!(rows_around("Products", "costs", 9.0), rows);
        let rows = ["Items|2024|2023", "products Costs|1|2", "Staff|3|4"];
        assert_eq!(rows_around("products", "Costs", 9.0), rows);
    }
}
