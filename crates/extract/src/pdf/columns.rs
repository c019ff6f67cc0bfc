//! Reading order of a page: columns of running text one after another, tables kept together.

use super::piece::Piece;

/// Step of the search for the gutter between columns, in points.
const STEP: f32 = 2.0;
/// Minimum number of lines of a column, and minimum characters of most of its lines; smaller columns are table cells.
const MIN_LINES: usize = 4;
const MIN_CHARS: usize = 18;
/// Gap that separates two table cells within a line, in ems.
const CELL_GAP: f32 = 1.5;
/// Difference of the baselines of two lines, in points; less within a line.
const SAME_LINE: f32 = 0.1;
/// Gap that separates two paragraphs and gap that separates two labels beside them, in line pitches of the text.
const PARAGRAPH_GAP: f32 = 1.2;
const LABEL_GAP: f32 = 1.5;
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
    let Some(gutter) = gutter(&pieces.iter().collect::<Vec<_>>(), depth) else {
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

/// Returns the middle of the gutter between two columns of running text, between columns of which at most `depth` gutters lie
/// within each other, or between running text and a sidebar.
fn gutter(pieces: &[&Piece], depth: usize) -> Option<f32> {
    let (gutter, sides) = halves(pieces).filter(|_| depth > 0)?;
    let [left, right] = &sides;
    let is_divided = sides.iter().all(|side| is_running(side))
        || sides.iter().all(|side| is_prose(side, depth - 1))
        || is_sidebar(left, right)
        || is_sidebar(right, left);
    is_divided.then_some(gutter)
}

/// Checks for lines beside sentences that have baselines of their own. Cells share those of the text beside them.
fn is_sidebar(side: &[&Piece], text: &[&Piece]) -> bool {
    // Headings between the sentences are shorter. In cells of two lines, beside whose middle another cell may stand, only half of
    // the lines continue a sentence.
    let (within, long) = continuations(text, MIN_CHARS);
    if side.is_empty() || !is_running(text) || within * 2 <= long {
        return false;
    }
    let mut baselines: Vec<f32> = text.iter().map(|piece| piece.y).collect();
    baselines.sort_by(f32::total_cmp);
    let is_shared = |y: f32| {
        let next = baselines.partition_point(|baseline| *baseline <= y - SAME_LINE);
        baselines.get(next).is_some_and(|baseline| *baseline < y + SAME_LINE)
    };
    let lines = side.chunk_by(|one, other| (one.y - other.y).abs() < SAME_LINE).filter_map(|line| line.first());
    let (all, shared) =
        lines.fold((0usize, 0usize), |(all, shared), piece| (all + 1, shared + usize::from(is_shared(piece.y))));
    shared * 2 <= all && !are_labels(side, text)
}

/// Checks for several groups of lines, most of which stand alone beside one paragraph of the text: labels, terms and dates.
/// Their size and alignment may differ from those of the text, so their baselines tell nothing.
fn are_labels(side: &[&Piece], text: &[&Piece]) -> bool {
    let lines = text.windows(2).filter_map(|pair| Some(pair.first()?.y - pair.get(1)?.y));
    let mut pitches: Vec<f32> = lines.filter(|pitch| *pitch >= SAME_LINE).collect();
    pitches.sort_by(f32::total_cmp);
    let Some(&pitch) = pitches.get(pitches.len() / 2) else { return false };
    let paragraphs: Vec<(f32, f32)> = groups(text, pitch * PARAGRAPH_GAP).collect();
    // Paragraphs are further apart than the sum of both margins.
    let margin = pitch / 2.0;
    let beside = |(first, last): (f32, f32)| {
        let at = paragraphs.partition_point(|(_, bottom)| *bottom > last + margin);
        paragraphs.get(at).filter(|(top, _)| first <= *top + margin).map(|_| at)
    };
    let labels: Vec<Option<usize>> = groups(side, pitch * LABEL_GAP).map(beside).collect();
    let alone = labels.chunk_by(|one, other| one == other).filter(|same| matches!(same, [Some(_)])).count();
    labels.len() > 1 && alone * 4 >= labels.len() * 3
}

/// Returns the baselines of the first and the last line of each group of lines with no gap larger than `gap`, in points.
fn groups(pieces: &[&Piece], gap: f32) -> impl Iterator<Item = (f32, f32)> {
    let groups = pieces.chunk_by(move |above, below| above.y - below.y <= gap);
    groups.filter_map(|group| Some((group.first()?.y, group.last()?.y)))
}

/// Checks for one or more columns of lines that continue sentences. Beside several columns of other lines, such as those of
/// cells, a gutter may be that of a table.
fn is_prose(side: &[&Piece], depth: usize) -> bool {
    if is_running(side) {
        return continues_sentences(side);
    }
    let halves = halves(side).filter(|_| depth > 0);
    halves.is_some_and(|(_, sides)| sides.iter().all(|side| is_prose(side, depth - 1)))
}

/// Returns the middle of the emptiest gap and the pieces on its left and right, `None` if many pieces cross it.
fn halves<'a>(pieces: &[&'a Piece]) -> Option<(f32, [Vec<&'a Piece>; 2])> {
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
    for &piece in pieces {
        if piece.x0 < gutter - STEP && piece.x1 > gutter + STEP {
            crossing += 1;
        } else {
            sides[usize::from((piece.x0 + piece.x1) / 2.0 >= gutter)].push(piece);
        }
    }
    (crossing * 2 <= sides[0].len().min(sides[1].len())).then_some((gutter, sides))
}

/// Checks that at least half of the lines continue a sentence.
fn continues_sentences(side: &[&Piece]) -> bool {
    let (within, lines) = continuations(side, 0);
    within * 2 >= lines
}

/// Returns the number of lines that begin in lower case or in a script without case, and the number of all lines, both of those
/// whose first piece has a minimum length.
fn continuations(side: &[&Piece], least: usize) -> (usize, usize) {
    let begins_line = |at: usize| at == 0 || (side[at - 1].y - side[at].y).abs() >= SAME_LINE;
    let (mut within, mut lines) = (0usize, 0usize);
    for at in (0..side.len()).filter(|&at| begins_line(at) && length(side[at]) >= least) {
        lines += 1;
        within += usize::from(side[at].text.starts_with(|c: char| c.is_alphabetic() && !c.is_uppercase()));
    }
    (within, lines)
}

/// Returns the number of characters; a letter of a script without spaces counts twice.
fn length(piece: &Piece) -> usize {
    piece.text.chars().map(|c| 1 + usize::from(super::script::is_spaceless(c))).sum()
}

/// Checks for enough lines, most of them long.
fn is_running(side: &[&Piece]) -> bool {
    let mut lines: Vec<(&Piece, usize)> = Vec::new();
    let mut cells = 0;
    for piece in side {
        match lines.last_mut() {
            Some((last, chars)) if (last.y - piece.y).abs() < SAME_LINE => {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns lines of three columns, from above; those of a column have the text of one of `texts` in turn.
    fn page(texts: [&str; 4]) -> Vec<Piece> {
        let piece = |line: usize, column: usize| {
            let text = texts[(line + column) % 4];
            let x0 = 60.0 + column as f32 * 160.0;
            let x1 = x0 + text.chars().count() as f32 * 5.0;
            Piece { text: text.to_owned(), x0, x1, y: 700.0 - line as f32 * 12.0, size: 10.0, bold: false }
        };
        (0..9).flat_map(|line| (0..3).map(move |column| piece(line, column))).collect()
    }

    #[test]
    fn three_columns_of_sentences_are_read_one_after_another() {
        let prose = [
            "the council met in spring",
            "to hear what they had found",
            "out about it. Nobody",
            "Knew where they were",
        ];
        let regions = regions(page(prose));
        let starts: Vec<f32> = regions.iter().map(|region| region[0].x0).collect();
        assert_eq!(starts, [60.0, 220.0, 380.0]);
        assert!(regions.iter().all(|region| region.iter().all(|piece| piece.x0 == region[0].x0)));
    }

    #[test]
    fn three_columns_of_long_cells_stay_together() {
        let cells = [
            "Bolt of galvanised steel",
            "Washer, large, of copper",
            "Nut that fits the bolt",
            "Delivered since spring",
        ];
        assert_eq!(regions(page(cells)).len(), 1);
        let scripts = [
            "橋の状態について技術者が見つけた",
            "ことを聞くために春に集まった町の",
            "議会は秋まで決定を延期しました。",
            "図面がどこにあるか誰も知らない。",
        ];
        assert_eq!(regions(page(scripts)).len(), 3);
    }

    /// Returns 12 lines of sentences, and lines of one word on their left or right at a distance from each other.
    fn sidebar(words: usize, pitch: f32, is_left: bool) -> Vec<Piece> {
        let line = |text: &str, x0: f32, y: f32| Piece {
            text: text.to_owned(),
            x0,
            x1: x0 + text.chars().count() as f32 * 5.0,
            y,
            size: 10.0,
            bold: false,
        };
        let [side, text] = if is_left { [60.0, 200.0] } else { [420.0, 60.0] };
        let sentence = "of the programme that met its objectives, which the council had set for the year";
        let lines = (0..12).map(|at| line(&sentence[..60], text, 700.0 - at as f32 * 12.0));
        let mut pieces: Vec<Piece> =
            lines.chain((0..words).map(|at| line("Python", side, 700.0 - at as f32 * pitch))).collect();
        pieces.sort_by(|a, b| b.y.total_cmp(&a.y).then(a.x0.total_cmp(&b.x0)));
        pieces
    }

    #[test]
    fn sidebars_are_read_apart_from_the_text_beside_them() {
        for is_left in [true, false] {
            for words in [8, 3] {
                let regions = regions(sidebar(words, 16.0, is_left));
                assert_eq!(regions.len(), 2, "{words} {is_left}");
                assert!(regions.iter().all(|region| region.iter().all(|piece| piece.x0 == region[0].x0)));
            }
            // Cells of the lines.
            for words in [8, 3, 1] {
                assert_eq!(regions(sidebar(words, 12.0, is_left)).len(), 1, "{words} {is_left}");
            }
        }
        assert_eq!(regions(sidebar(0, 12.0, true)).len(), 1);
    }

    #[test]
    fn cells_beside_the_middle_of_two_lines_stay_with_them() {
        let mut pieces = sidebar(6, 24.0, true);
        for piece in &mut pieces {
            let line = (700.0 - piece.y) / 12.0;
            if piece.x0 == 60.0 {
                piece.y -= 6.0;
            } else if line % 2.0 == 0.0 {
                piece.text.replace_range(..1, "O");
            }
        }
        pieces.sort_by(|a, b| b.y.total_cmp(&a.y));
        assert_eq!(regions(pieces).len(), 1);
    }

    #[test]
    fn labels_beside_paragraphs_stay_with_them() {
        // Eight labels, each of some lines, beside paragraphs of four lines. The first label is `below` the first line.
        let labels = |count: usize, lines: usize, below: f32| {
            let mut pieces: Vec<Piece> = sidebar(0, 12.0, true);
            let line = pieces.remove(0);
            let top = |paragraph: usize| 700.0 - paragraph as f32 * 54.0;
            let text = |at: usize| Piece { y: top(at / 4) - (at % 4) as f32 * 12.0, ..line.clone() };
            let label = |at: usize| Piece {
                text: "Budget".to_owned(),
                x0: 60.0,
                x1: 84.0,
                y: top(at / lines) - below - (at % lines) as f32 * 10.0,
                size: 8.0,
                bold: false,
            };
            pieces = (0..32).map(text).chain((0..count * lines).map(label)).collect();
            pieces.sort_by(|a, b| b.y.total_cmp(&a.y).then(a.x0.total_cmp(&b.x0)));
            pieces
        };
        for below in [-2.0, 2.0, 18.0] {
            for (count, lines) in [(8, 1), (2, 1), (8, 2)] {
                assert_eq!(regions(labels(count, lines, below)).len(), 1, "{count} {lines} {below}");
            }
        }
        // Lines beside several paragraphs are none of theirs.
        let mut pieces = labels(8, 1, 2.0);
        for piece in pieces.iter_mut().filter(|piece| piece.x0 == 60.0) {
            piece.y = 702.0 - (702.0 - piece.y) / 3.0;
        }
        pieces.sort_by(|a, b| b.y.total_cmp(&a.y).then(a.x0.total_cmp(&b.x0)));
        assert_eq!(regions(pieces).len(), 2);
    }
}
