//! Running headers, running footers and page numbers: lines that repeat in the outer margins of the pages.
//!
//! Removing text that a reader would miss is worse than keeping a line too many. A line goes only if
//!
//! - it lies in the outer margin of its sheet, apart from the body,
//! - everything on it either repeats word for word on most pages or counts the pages, and
//! - its page keeps most of its text.
//!
//! The first copy of a repeated text stays unless the body contains it.

use std::collections::{HashMap, HashSet};

use super::piece::Piece;

/// The outer margin as a share of the sheet's height: 30 mm of A4.
const MARGIN: f32 = 0.1;
/// Lines of a header or footer.
const MAX_LINES: usize = 3;
/// Least distance of a header or footer from the body, in distances of the page's lines from each other.
const APART: f32 = 1.45;
/// Pages with fewer lines have no usual distance to compare with.
const MIN_LINES: usize = 4;
/// The share of pages that a text repeats on, and the least number of them.
const SHARE: f32 = 0.5;
const MIN_PAGES: usize = 3;
/// The share of its characters that a page may lose.
const MAX_LOSS: f32 = 0.2;
/// Words beside a page number.
const PAGE_WORDS: [&str; 26] = [
    "page",
    "pages",
    "p",
    "pg",
    "pag",
    "of",
    "seite",
    "von",
    "s",
    "sur",
    "de",
    "página",
    "pagina",
    "di",
    "van",
    "sida",
    "av",
    "side",
    "af",
    "strona",
    "z",
    "str",
    "страница",
    "стр",
    "из",
    "sivu",
];
/// Characters beside a page number, in scripts without spaces.
const PAGE_SIGNS: &str = "第页頁ページ共쪽";
/// Marks between the parts of a header.
const SEPARATORS: [char; 6] = ['|', '·', '•', '—', '–', '\t'];

/// The pieces of a page, line by line from above, and the vertical extent of its sheet.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub pieces: Vec<Piece>,
    /// Bottom and top of the media box in points; `None` if the file does not have them.
    pub sheet: Option<(f32, f32)>,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Edge {
    Top,
    Bottom,
}

/// A part of a header that can be recognized on other pages.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Part {
    /// Text without its white space.
    Text(String),
    /// A page number: the text with the number left out, and the number less the page's position.
    Number { text: String, offset: i64 },
}

/// A line in the margin of a page.
struct MarginLine {
    edge: Edge,
    /// The baseline: the same for all pieces of the line.
    y: f32,
    parts: Vec<Part>,
    chars: usize,
}

/// Removes running headers, running footers and page numbers.
pub(super) fn remove(pages: &mut [Page]) {
    if pages.len() < MIN_PAGES {
        return;
    }
    let mut margins: Vec<Vec<MarginLine>> =
        pages.iter().enumerate().map(|(position, page)| margin_lines(page, position)).collect();
    let mut seen: HashMap<(Edge, Part), usize> = HashMap::new();
    for page in &margins {
        let of_page: HashSet<(Edge, &Part)> =
            page.iter().flat_map(|line| line.parts.iter().map(|part| (line.edge, part))).collect();
        for (edge, part) in of_page {
            *seen.entry((edge, part.clone())).or_default() += 1;
        }
    }
    let enough = ((pages.len() as f32 * SHARE) as usize).max(MIN_PAGES);
    for (margin, page) in margins.iter_mut().zip(pages.iter()) {
        let repeats =
            |line: &MarginLine, part: &Part| seen.get(&(line.edge, part.clone())).is_some_and(|n| *n >= enough);
        margin.retain(|line| line.parts.iter().all(|part| repeats(line, part)));
        let lost: usize = margin.iter().map(|line| line.chars).sum();
        if lost as f32 > characters(page) as f32 * MAX_LOSS {
            margin.clear();
        }
    }
    keep_first_copies(&mut margins, pages);
    for (margin, page) in margins.iter().zip(pages) {
        page.pieces.retain(|piece| margin.iter().all(|line| line.y != piece.y));
    }
}

/// Takes the first line with a text that the body does not contain off the list of lines to remove.
fn keep_first_copies(margins: &mut [Vec<MarginLine>], pages: &[Page]) {
    let mut body = String::new();
    for (margin, page) in margins.iter().zip(pages) {
        let pieces = page.pieces.iter().filter(|piece| margin.iter().all(|line| line.y != piece.y));
        pieces.for_each(|piece| body.extend(piece.text.chars().filter(|c| !c.is_whitespace())));
    }
    let mut kept: HashSet<String> = HashSet::new();
    for margin in margins {
        margin.retain(|line| {
            let texts = line.parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text),
                Part::Number { .. } => None,
            });
            // All of them count as kept, so the search goes on past the first.
            let new = texts.filter(|text| !kept.contains(*text) && !body.contains(text.as_str())).cloned();
            let new: Vec<String> = new.collect();
            let goes = new.is_empty();
            kept.extend(new);
            goes
        });
    }
}

fn characters(page: &Page) -> usize {
    page.pieces.iter().map(|piece| visible(&piece.text)).sum()
}

fn visible(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

/// The lines in the outer margins that stand apart from the body.
fn margin_lines(page: &Page, position: usize) -> Vec<MarginLine> {
    let Some((bottom, top)) = page.sheet else { return Vec::new() };
    let lines: Vec<&[Piece]> = page.pieces.chunk_by(|one, other| one.y == other.y).collect();
    if lines.len() < MIN_LINES {
        return Vec::new();
    }
    let mut distances: Vec<f32> = lines.windows(2).map(|pair| pair[0][0].y - pair[1][0].y).collect();
    distances.sort_by(f32::total_cmp);
    let apart = distances[distances.len() / 2] * APART;
    let margin = (top - bottom).abs() * MARGIN;
    let mut found = Vec::new();
    let header = (1..=MAX_LINES.min(lines.len() - 1))
        .take_while(|count| lines[count - 1][0].y >= top - margin)
        .filter(|count| lines[count - 1][0].y - lines[*count][0].y > apart)
        .last();
    for line in &lines[..header.unwrap_or(0)] {
        found.push(MarginLine::of(line, Edge::Top, position));
    }
    let footer = (1..=MAX_LINES.min(lines.len() - 1))
        .take_while(|count| lines[lines.len() - count][0].y <= bottom + margin)
        .filter(|count| lines[lines.len() - count - 1][0].y - lines[lines.len() - count][0].y > apart)
        .last();
    for line in &lines[lines.len() - footer.unwrap_or(0)..] {
        found.push(MarginLine::of(line, Edge::Bottom, position));
    }
    found
}

impl MarginLine {
    fn of(line: &[Piece], edge: Edge, position: usize) -> Self {
        let parts = line.iter().flat_map(|piece| piece.text.split(SEPARATORS)).map(str::trim);
        Self {
            edge,
            y: line[0].y,
            parts: parts.filter(|part| !part.is_empty()).map(|part| Part::of(part, position)).collect(),
            chars: line.iter().map(|piece| visible(&piece.text)).sum(),
        }
    }
}

impl Part {
    fn of(part: &str, position: usize) -> Self {
        let text: String = part.chars().filter(|c| !c.is_whitespace()).collect();
        match page_number(part) {
            Some(number) => Self::Number {
                text: text.replacen(&number.to_string(), "#", 1),
                offset: i64::from(number) - i64::try_from(position).unwrap_or(i64::MAX),
            },
            None => Self::Text(text),
        }
    }
}

/// The number of `12`, `- 12 -`, `Page 12`, `12/20` and `Seite 12 von 20`; `None` where other words stand beside it.
fn page_number(part: &str) -> Option<u32> {
    let mut numbers = part.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let (number, rest) = (numbers.next()?, numbers.count());
    let words = part.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let beside =
        |word: &str| PAGE_WORDS.contains(&word.to_lowercase().as_str()) || word.chars().all(|c| PAGE_SIGNS.contains(c));
    (rest <= 1 && !number.starts_with('0') && words.into_iter().all(beside)).then(|| number.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A4: (f32, f32) = (0.0, 842.0);

    fn piece(text: impl Into<String>, y: f32) -> Piece {
        Piece { text: text.into(), x0: 0.0, x1: 50.0, y, size: 10.0, bold: false }
    }

    /// Pages of `lines` body lines with a header and a footer each.
    fn report(
        pages: usize,
        lines: usize,
        header: impl Fn(usize) -> String,
        footer: impl Fn(usize) -> String,
    ) -> Vec<Page> {
        let page = |number: usize| {
            let body = (0..lines).map(|line| {
                piece(format!("body line {line} of sheet {number}, as long as usual"), 740.0 - line as f32 * 12.0)
            });
            let pieces = std::iter::once(piece(header(number), 800.0)).chain(body).chain([piece(footer(number), 30.0)]);
            Page { pieces: pieces.collect(), sheet: Some(A4) }
        };
        (1..=pages).map(page).collect()
    }

    fn texts(pages: &[Page]) -> Vec<Vec<&str>> {
        pages.iter().map(|page| page.pieces.iter().map(|piece| piece.text.as_str()).collect()).collect()
    }

    #[test]
    fn headers_and_page_numbers_are_removed_and_the_first_header_stays() {
        let mut pages = report(4, 20, |_| "Acme Report".into(), |number| format!("Page {number} of 4"));
        remove(&mut pages);
        let texts = texts(&pages);
        assert_eq!(texts[0][0], "Acme Report");
        assert!(texts[1..].iter().all(|page| page.len() == 20 && page[0].starts_with("body")), "{texts:?}");
        assert!(texts.iter().flatten().all(|text| !text.contains("of 4")));
    }

    #[test]
    fn a_header_that_the_body_repeats_goes_from_every_page() {
        let mut pages = report(4, 20, |_| "Acme Report".into(), |number| format!("- {} -", number + 230));
        pages[0].pieces[1].text = "The Acme Report of this year".into();
        remove(&mut pages);
        assert!(texts(&pages).iter().all(|page| page.len() == 20), "{:?}", texts(&pages));
    }

    #[test]
    fn numbers_that_do_not_count_the_pages_stay() {
        for header in [
            |number: usize| format!("Invoice {}", 1000 + number),
            |number: usize| format!("Certificate {number}"),
            |number: usize| format!("Total {} EUR", number * 17),
            |number: usize| (number * number * 31).to_string(),
        ] {
            let mut pages = report(5, 20, header, |_| String::new());
            remove(&mut pages);
            let texts = texts(&pages);
            assert!(texts.iter().enumerate().all(|(at, page)| page[0] == header(at + 1)), "{texts:?}");
        }
    }

    #[test]
    fn repeated_lines_of_the_body_stay() {
        // A form: the same labels on each page, as far from each other as from the edge.
        let page = |number: usize| {
            let lines = [
                format!("Invoice {number}"),
                "Customer Anna Berg".into(),
                "Item Quantity Price".into(),
                "Terms: 30 days".into(),
            ];
            let pieces = lines.into_iter().enumerate().map(|(line, text)| piece(text, 800.0 - line as f32 * 24.0));
            Page { pieces: pieces.collect(), sheet: Some(A4) }
        };
        let mut pages: Vec<Page> = (1..=4).map(page).collect();
        remove(&mut pages);
        assert!(pages.iter().all(|page| page.pieces.len() == 4));
    }

    #[test]
    fn a_sparse_page_loses_nothing() {
        let mut pages = report(6, 20, |_| "Acme Report, the long title".into(), |_| "Confidential, do not copy".into());
        pages[3].pieces.retain(|piece| piece.y > 720.0 || piece.y < 100.0);
        let before = pages[3].pieces.len();
        remove(&mut pages);
        assert_eq!(pages[3].pieces.len(), before);
        assert_eq!(pages[4].pieces.len(), 20);
    }

    #[test]
    fn page_numbers_have_page_words_alone_beside_them() {
        for (text, number) in
            [("12", 12), ("- 7 -", 7), ("Page 3 of 9", 3), ("Seite 4", 4), ("3/20", 3), ("第5页", 5), ("[8]", 8)]
        {
            assert_eq!(page_number(text), Some(number), "{text}");
        }
        for text in ["Invoice 12", "12 EUR", "Chapter 3", "no number", "1.2.3", "007", "page"] {
            assert_eq!(page_number(text), None, "{text}");
        }
    }
}
