//! Tables with and without ruling lines, found by the alignment of pieces.

use super::columns::reads_from_right;
use super::line::{Line, join};

/// Maximum number of lines examined for the tables of one region. Without it, many lines that nearly form tables would
/// take quadratic time.
pub(super) const MAX_EFFORT: usize = 100_000;

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
        if line.pieces.len() < 2 {
            // Continuation line of a cell, between rows.
            let next = lines.get(end + 1);
            let inside = end > start
                && next.is_some_and(|next| next.pieces.len() >= 2 && near(line, next))
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
    for line in run {
        let mut row = vec![String::new(); columns.len()];
        for piece in &line.pieces {
            let middle = (piece.x0 + piece.x1) / 2.0;
            let column = columns.iter().position(|(_, right)| middle <= *right).unwrap_or(columns.len() - 1);
            clashes += usize::from(!row[column].is_empty());
            join(&mut row[column], &piece.text);
        }
        let continues = line.pieces.len() == 1;
        match grid.last_mut().filter(|_| continues) {
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

/// Checks for the line distance of text within a cell.
fn near(above: &Line, line: &Line) -> bool {
    above.y() - line.y() < line.size().max(above.size()) * 1.6
}

/// Checks for the line distance of table rows, which may be wider.
fn near_row(above: &Line, line: &Line) -> bool {
    above.y() - line.y() < line.size().max(above.size()) * 4.0
}
