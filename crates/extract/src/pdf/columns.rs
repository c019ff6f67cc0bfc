//! Reading order of a page: columns of running text one after another, tables kept together.

use super::piece::Piece;

/// Step of the search for the gutter between columns, in points.
const STEP: f32 = 2.0;
/// Minimum number of lines of a column, and minimum characters of most of its lines; smaller columns are table cells.
const MIN_LINES: usize = 4;
const MIN_CHARS: usize = 18;
/// Gap that separates two table cells within a line, in ems.
const CELL_GAP: f32 = 1.5;
/// Maximum recursion: pages have up to four columns within a frame.
const MAX_DEPTH: usize = 6;

/// Splits the page into regions of one column each, in reading order.
pub(super) fn regions(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut regions = Vec::new();
    divide(pieces, MAX_DEPTH, &mut regions);
    regions
}

fn divide(pieces: Vec<Piece>, depth: usize, regions: &mut Vec<Vec<Piece>>) {
    if pieces.is_empty() {
        return;
    }
    let Some(gutter) = (depth > 0).then(|| gutter(&pieces)).flatten() else {
        regions.push(pieces);
        return;
    };
    // A piece that crosses the gutter ends the columns above it.
    let (mut left, mut right, mut across) = (Vec::new(), Vec::new(), Vec::new());
    for piece in pieces {
        let crosses = piece.x0 < gutter - STEP && piece.x1 > gutter + STEP;
        if crosses {
            columns(&mut left, &mut right, depth, regions);
            across.push(piece);
            continue;
        }
        if !across.is_empty() {
            divide(std::mem::take(&mut across), 0, regions);
        }
        if (piece.x0 + piece.x1) / 2.0 < gutter { left.push(piece) } else { right.push(piece) }
    }
    divide(across, 0, regions);
    columns(&mut left, &mut right, depth, regions);
}

fn columns(left: &mut Vec<Piece>, right: &mut Vec<Piece>, depth: usize, regions: &mut Vec<Vec<Piece>>) {
    let (left, right) = (std::mem::take(left), std::mem::take(right));
    if left.is_empty() && right.is_empty() {
        return;
    }
    // In right-to-left text the first column is on the right.
    let turned = reads_from_right(&left) && reads_from_right(&right);
    let (first, second) = if turned { (right, left) } else { (left, right) };
    divide(first, depth - 1, regions);
    divide(second, depth - 1, regions);
}

pub(super) fn reads_from_right(pieces: &[Piece]) -> bool {
    let letters = pieces.iter().flat_map(|piece| piece.text.chars()).filter(|c| c.is_alphabetic());
    let (right, all) = letters
        .fold((0usize, 0usize), |(right, all), c| (right + usize::from(super::script::is_right_to_left(c)), all + 1));
    right * 2 > all
}

/// Returns the middle of the gutter between two columns of running text.
fn gutter(pieces: &[Piece]) -> Option<f32> {
    let left = pieces.iter().map(|piece| piece.x0).fold(f32::MAX, f32::min);
    let right = pieces.iter().map(|piece| piece.x1).fold(f32::MIN, f32::max);
    let width = right - left;
    let steps = (width / STEP) as usize;
    if !(20..10_000).contains(&steps) {
        return None;
    }
    let mut cover = vec![0usize; steps + 1];
    for piece in pieces {
        let (from, to) = (((piece.x0 - left) / STEP) as usize, ((piece.x1 - left) / STEP) as usize);
        for count in &mut cover[from.min(steps)..=to.min(steps)] {
            *count += 1;
        }
    }
    // The emptiest position of the middle part; the median of several.
    let middle = steps / 5..steps - steps / 5;
    let least = cover[middle.clone()].iter().copied().min()?;
    let empty: Vec<usize> = middle.filter(|&step| cover[step] == least).collect();
    let at = empty[empty.len() / 2];
    let gutter = left + at as f32 * STEP + STEP / 2.0;
    let (mut sides, mut crossing) = ([Vec::new(), Vec::new()], 0usize);
    for piece in pieces {
        if piece.x0 < gutter - STEP && piece.x1 > gutter + STEP {
            crossing += 1;
        } else {
            sides[usize::from((piece.x0 + piece.x1) / 2.0 >= gutter)].push(piece);
        }
    }
    let running = sides.iter().all(|side| is_running(side));
    (running && crossing * 2 <= sides[0].len().min(sides[1].len())).then_some(gutter)
}

/// Checks for enough lines, most of them long.
fn is_running(side: &[&Piece]) -> bool {
    // A letter of a script without spaces counts twice.
    let length =
        |piece: &Piece| piece.text.chars().map(|c| 1 + usize::from(super::script::is_spaceless(c))).sum::<usize>();
    let mut lines: Vec<(&Piece, usize)> = Vec::new();
    let mut cells = 0;
    for piece in side {
        match lines.last_mut() {
            Some((last, chars)) if (last.y - piece.y).abs() < 0.1 => {
                *chars += length(piece);
                // Wider than the space between sentences or in justified text.
                cells += usize::from(piece.x0 - last.x1 > CELL_GAP * piece.size);
                *last = piece;
            }
            _ => lines.push((piece, length(piece))),
        }
    }
    // Several pieces on one line of a side are table cells.
    let single = cells * 4 <= lines.len();
    let long = lines.iter().filter(|(_, chars)| *chars >= MIN_CHARS).count();
    single && lines.len() >= MIN_LINES && long * 2 > lines.len()
}
