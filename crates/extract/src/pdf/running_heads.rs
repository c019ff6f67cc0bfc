//! Removal of running heads and feet: lines repeated at the edge of most pages.

use std::collections::HashMap;

use super::piece::Piece;

/// Number of lines examined at the top and bottom of each page.
const EDGE_LINES: usize = 3;
/// Minimum share and minimum number of pages that repeat a line.
const SHARE: f32 = 0.5;
const MIN_PAGES: usize = 3;

/// Removes lines repeated at the same edge of most pages, ignoring digits. This includes page numbers.
pub(super) fn remove(pages: &mut [Vec<Piece>]) {
    if pages.len() < MIN_PAGES {
        return;
    }
    let mut seen: HashMap<(bool, String), usize> = HashMap::new();
    for page in pages.iter() {
        let mut of_page: Vec<(bool, String)> = edges(page).into_iter().map(|(_, top, key)| (top, key)).collect();
        of_page.sort();
        of_page.dedup();
        for key in of_page {
            *seen.entry(key).or_default() += 1;
        }
    }
    let enough = ((pages.len() as f32 * SHARE) as usize).max(MIN_PAGES);
    for page in pages {
        let gone: Vec<f32> = edges(page)
            .into_iter()
            .filter(|(_, top, key)| seen.get(&(*top, key.clone())).is_some_and(|count| *count >= enough))
            .map(|(y, ..)| y)
            .collect();
        page.retain(|piece| !gone.contains(&piece.y));
    }
}

/// Returns baseline, edge (true for the top) and text (digits as `#`) of the first and last lines.
fn edges(page: &[Piece]) -> Vec<(f32, bool, String)> {
    let mut lines: Vec<(f32, String)> = Vec::new();
    for piece in page {
        match lines.last_mut() {
            Some((y, text)) if *y == piece.y => text.push_str(&piece.text),
            _ => lines.push((piece.y, piece.text.clone())),
        }
    }
    let last = lines.len().saturating_sub(EDGE_LINES);
    let mut found = Vec::new();
    for (at, (y, text)) in lines.iter().enumerate() {
        let key = || {
            text.chars()
                .filter(|c| !c.is_whitespace())
                .map(|c| if c.is_ascii_digit() { '#' } else { c })
                .collect::<String>()
                .replace("##", "#")
        };
        if at < EDGE_LINES {
            found.push((*y, true, key()));
        }
        if at >= last {
            found.push((*y, false, key()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_on_every_page_are_removed() {
        let piece = |text: String, y| Piece { text, x0: 0.0, x1: 50.0, y, size: 10.0, bold: false };
        let mut pages: Vec<Vec<Piece>> = (1..=4)
            .map(|number| {
                let mut page = vec![piece("Acme Report".into(), 780.0)];
                page.extend((0..8).map(|line| {
                    piece(format!("{} {}", "text".repeat(number), "x".repeat(line)), 700.0 - line as f32 * 12.0)
                }));
                page.push(piece(format!("Page {number} of 4"), 20.0));
                page
            })
            .collect();
        remove(&mut pages);
        assert!(pages.iter().all(|page| page.len() == 8), "{pages:?}");
    }
}
