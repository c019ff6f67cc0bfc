//! Pieces of a page in reading order: columns of running text one after the other, tables left whole.

use super::piece::Piece;

/// Width of a step in which the page is searched for the space between columns, in points.
const STEP: f32 = 2.0;
/// Columns have at least so many lines, and lines of so many characters (half of them): less is a table.
const MIN_LINES: usize = 4;
const MIN_CHARS: usize = 18;
/// A wider gap than so many ems within a line parts two cells of a table.
const CELL_GAP: f32 = 1.5;
/// Deepest division: pages have up to four columns, within a frame.
const MAX_DEPTH: usize = 6;

/// Parts of the page, each of one column, in the order they are read.
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
    // What runs across the gutter ends the columns above it.
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
    // Text that reads from the right has its first column there.
    let turned = reads_from_right(&left) && reads_from_right(&right);
    let (first, second) = if turned { (right, left) } else { (left, right) };
    divide(first, depth - 1, regions);
    divide(second, depth - 1, regions);
}

pub(super) fn reads_from_right(pieces: &[Piece]) -> bool {
    let letters = pieces.iter().flat_map(|piece| piece.text.chars()).filter(|c| c.is_alphabetic());
    let (right, all) = letters
        .fold((0usize, 0usize), |(right, all), c| (right + usize::from(super::bidi::is_right_to_left(c)), all + 1));
    right * 2 > all
}

/// Where the space between two columns of running text is; `None` without such.
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
    // The emptiest place in the middle part, and of several the middle one.
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

/// Enough lines, most of them long.
fn is_running(side: &[&Piece]) -> bool {
    // A spaceless letter is worth two.
    let length =
        |piece: &Piece| piece.text.chars().map(|c| 1 + usize::from(super::piece::is_spaceless(c))).sum::<usize>();
    let mut lines: Vec<(&Piece, usize)> = Vec::new();
    let mut cells = 0;
    for piece in side {
        match lines.last_mut() {
            Some((last, chars)) if (last.y - piece.y).abs() < 0.1 => {
                *chars += length(piece);
                // Wider than a space that sets sentences apart or fills a line.
                cells += usize::from(piece.x0 - last.x1 > CELL_GAP * piece.size);
                *last = piece;
            }
            _ => lines.push((piece, length(piece))),
        }
    }
    // Several pieces on one line of a side: a table's cells.
    let single = cells * 4 <= lines.len();
    let long = lines.iter().filter(|(_, chars)| *chars >= MIN_CHARS).count();
    single && lines.len() >= MIN_LINES && long * 2 > lines.len()
}
