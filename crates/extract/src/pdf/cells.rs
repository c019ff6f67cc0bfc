//! Narrow gaps between the cells of tables, such as those of headings that fill their columns.

use super::glyph::Glyph;

/// Maximum distance of a line from one whose cells are below or above its own, in its ems.
const NEAR: f32 = 4.0;

/// Line of text.
pub(super) struct Row {
    /// Baseline.
    pub y: f32,
    /// Size of its largest glyphs.
    pub size: f32,
    /// From left to right, without overlaps.
    pub runs: Vec<Run>,
}

/// Glyphs between two gaps that may separate cells.
pub(super) struct Run {
    pub glyphs: Vec<Glyph>,
    pub x0: f32,
    pub x1: f32,
    /// True if the gap before the run separates no cells.
    pub continues: bool,
}

/// Separates the runs of each line that are above or below the cells of two lines.
pub(super) fn separate(rows: &mut [Row]) {
    // A heading of several lines from its last line, and the other rows from above.
    for at in (0..rows.len()).rev() {
        separate_by(rows, at, [at.checked_add(1), at.checked_add(2)]);
    }
    for at in 0..rows.len() {
        separate_by(rows, at, [at.checked_sub(1), at.checked_sub(2)]);
    }
}

/// Separates the runs of a line by the cells of the next line and the one behind it, if there are any.
fn separate_by(rows: &mut [Row], at: usize, lines: [Option<usize>; 2]) {
    let Some(row) = rows.get(at).filter(|row| row.runs.iter().any(|run| run.continues)) else { return };
    let [Some(next), Some(second)] = lines.map(|line| line.and_then(|line| rows.get(line))) else { return };
    let is_near = |one: &Row, other: &Row| (one.y - other.y).abs() < NEAR * one.size.max(other.size);
    if !is_near(row, next) || !is_near(next, second) {
        return;
    }
    let (next, second) = (pieces(next), pieces(second));
    let mut separated = Vec::new();
    let mut begin = 0;
    for piece in row.runs.chunk_by(|_, run| run.continues) {
        let end = begin + piece.len();
        let parts = || piece.iter().map(|run| (run.x0, run.x1));
        // A cell of the second line may be empty.
        let are_cells = covered(parts(), &next) == Some(piece.len()) && covered(parts(), &second) >= Some(2);
        if piece.len() > 1 && are_cells {
            separated.push(begin..end);
        }
        begin = end;
    }
    for run in separated.into_iter().flatten() {
        rows[at].runs[run].continues = false;
    }
}

/// Returns the horizontal intervals of the pieces of a line.
fn pieces(row: &Row) -> Vec<(f32, f32)> {
    let piece = |runs: &[Run]| Some((runs.first()?.x0, runs.last()?.x1));
    row.runs.chunk_by(|_, run| run.continues).filter_map(piece).collect()
}

/// Returns the number of parts above or below a piece, `None` if one of the pieces or parts overlaps several.
fn covered(parts: impl Iterator<Item = (f32, f32)>, pieces: &[(f32, f32)]) -> Option<usize> {
    let mut covered = 0;
    // Pieces left of the next part, or of a part before it.
    let mut passed = 0;
    for (x0, x1) in parts {
        let first = pieces.partition_point(|piece| piece.1 <= x0);
        let end = pieces.partition_point(|piece| piece.0 < x1);
        if (first < passed && first < end) || end > first + 1 {
            return None;
        }
        covered += usize::from(end > first);
        passed = end;
    }
    Some(covered)
}
