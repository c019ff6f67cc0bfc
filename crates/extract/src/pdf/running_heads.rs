//! Running headers, running footers and page numbers: lines that repeat in the outer margins of the pages.
//!
//! Removing text that a reader would miss is worse than keeping a line too many. A line goes only if
//!
//! - it lies in the outer margin of its sheet, apart from the body,
//! - everything on it either repeats word for word on most pages or counts the pages, and
//! - its page keeps most of its text.
//!
//! A line that the file marks as header or footer need not stand apart, and goes if everything on it is on one page more.
//!
//! The first copy of a repeated text stays, unless the body contains it and the file does not mark it.

use std::collections::{HashMap, HashSet};

use super::pagination::Pagination;
use super::piece::Piece;

/// The outer margin as a share of the sheet's height: 30 mm of A4.
const MARGIN: f32 = 0.1;
/// Lines of a header or footer.
const MAX_LINES: usize = 3;
/// Lines of a header or footer that the file marks, such as a letterhead. Where it marks more, the mark is wrong.
const MAX_MARKED_LINES: usize = 8;
/// Least distance of a header or footer from the body, in distances of the page's lines from each other.
const APART: f32 = 1.45;
/// Pages with fewer lines have no usual distance to compare with.
const MIN_LINES: usize = 4;
/// The share of pages that a text repeats on, and the least number of them.
const SHARE: f32 = 0.5;
const MIN_PAGES: usize = 3;
/// The least number of pages that a text repeats on where the file marks it as header or footer.
const MIN_MARKED: usize = 2;
/// The share of its characters that a page may lose.
const MAX_LOSS: f32 = 0.2;
/// Maximum difference of the baselines of a line, in points.
const SAME: f32 = 0.5;
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
    /// The lines that the file marks as headers and footers.
    pub marked: Pagination,
    /// The marked headers and footers that [`remove`] keeps, apart from the text that they would interrupt.
    pub header: Vec<Piece>,
    pub footer: Vec<Piece>,
}

impl Page {
    /// Returns all pieces of the page.
    pub(super) fn all(&self) -> impl Iterator<Item = &Piece> {
        self.header.iter().chain(&self.pieces).chain(&self.footer)
    }

    fn lines(&self) -> Vec<&[Piece]> {
        self.pieces.chunk_by(|one, other| one.y == other.y).collect()
    }

    /// Returns the number of marked lines at the top and at the bottom of the page.
    fn marked_lines(&self, lines: &[&[Piece]]) -> (usize, usize) {
        let header = marked_lines(lines.iter(), &self.marked.headers);
        (header, marked_lines(lines[header..].iter().rev(), &self.marked.footers))
    }

    /// Moves the marked headers and footers out of the text.
    fn set_marked_apart(&mut self) {
        let lines = self.lines();
        let (header, footer) = self.marked_lines(&lines);
        let pieces = |lines: &[&[Piece]]| lines.iter().map(|line| line.len()).sum::<usize>();
        let (header, footer) = (pieces(&lines[..header]), pieces(&lines[lines.len() - footer..]));
        self.footer = self.pieces.split_off(self.pieces.len() - footer);
        self.header = self.pieces.drain(..header).collect();
    }
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

/// Returns the number of lines with one of the baselines before the first line without; none if they are too many for a header.
fn marked_lines<'a>(lines: impl Iterator<Item = &'a &'a [Piece]>, baselines: &[f32]) -> usize {
    let is_marked = |line: &&&[Piece]| baselines.iter().any(|y| (y - line[0].y).abs() < SAME);
    let marked = lines.take(MAX_MARKED_LINES + 1).take_while(is_marked).count();
    if marked > MAX_MARKED_LINES { 0 } else { marked }
}

/// A line in the margin of a page.
struct MarginLine {
    edge: Edge,
    /// The baseline: the same for all pieces of the line.
    y: f32,
    parts: Vec<Part>,
    chars: usize,
    /// True if the file marks it as header or footer.
    is_marked: bool,
}

/// Removes running headers, running footers and page numbers. Moves the marked ones that stay out of the text.
pub(super) fn remove(pages: &mut [Page]) {
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
        margin.retain(|line| {
            let enough = if line.is_marked { MIN_MARKED } else { enough };
            let repeats = |part: &Part| seen.get(&(line.edge, part.clone())).is_some_and(|n| *n >= enough);
            pages.len() >= enough && line.parts.iter().all(repeats)
        });
        let lost: usize = margin.iter().filter(|line| !line.is_marked).map(|line| line.chars).sum();
        if lost as f32 > characters(page) as f32 * MAX_LOSS {
            margin.retain(|line| line.is_marked);
        }
    }
    keep_first_copies(&mut margins, pages);
    for (margin, page) in margins.iter().zip(pages) {
        page.pieces.retain(|piece| margin.iter().all(|line| line.y != piece.y));
        page.set_marked_apart();
    }
}

/// Takes the first line with a text that the body does not contain off the list of lines to remove. That of a marked line is not
/// looked for in the body: there may be as many of them as pages.
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
            let is_in_body = |text: &str| !line.is_marked && body.contains(text);
            let new = texts.filter(|text| !kept.contains(*text) && !is_in_body(text)).cloned();
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

/// The lines in the outer margins that are marked or stand apart from the body.
fn margin_lines(page: &Page, position: usize) -> Vec<MarginLine> {
    let lines = page.lines();
    let (marked_header, marked_footer) = page.marked_lines(&lines);
    let (header, footer) = lines_apart(page.sheet, &lines);
    let header = header.max(marked_header).min(lines.len() - marked_footer);
    let footer = footer.max(marked_footer).min(lines.len() - header);
    let mut found = Vec::with_capacity(header + footer);
    for (at, line) in lines[..header].iter().enumerate() {
        found.push(MarginLine::of(line, Edge::Top, position, at < marked_header));
    }
    for (at, line) in lines.iter().rev().take(footer).enumerate() {
        found.push(MarginLine::of(line, Edge::Bottom, position, at < marked_footer));
    }
    found
}

/// Returns the number of lines in the outer margins that stand apart from the body, at the top and at the bottom.
fn lines_apart(sheet: Option<(f32, f32)>, lines: &[&[Piece]]) -> (usize, usize) {
    let Some((bottom, top)) = sheet.filter(|_| lines.len() >= MIN_LINES) else { return (0, 0) };
    let mut distances: Vec<f32> = lines.windows(2).map(|pair| pair[0][0].y - pair[1][0].y).collect();
    distances.sort_by(f32::total_cmp);
    let apart = distances[distances.len() / 2] * APART;
    let margin = (top - bottom).abs() * MARGIN;
    let header = (1..=MAX_LINES.min(lines.len() - 1))
        .take_while(|count| lines[count - 1][0].y >= top - margin)
        .filter(|count| lines[count - 1][0].y - lines[*count][0].y > apart)
        .last();
    let footer = (1..=MAX_LINES.min(lines.len() - 1))
        .take_while(|count| lines[lines.len() - count][0].y <= bottom + margin)
        .filter(|count| lines[lines.len() - count - 1][0].y - lines[lines.len() - count][0].y > apart)
        .last();
    (header.unwrap_or(0), footer.unwrap_or(0))
}

impl MarginLine {
    fn of(line: &[Piece], edge: Edge, position: usize, is_marked: bool) -> Self {
        let parts = line.iter().flat_map(|piece| piece.text.split(SEPARATORS)).map(str::trim);
        Self {
            edge,
            y: line[0].y,
            parts: parts.filter(|part| !part.is_empty()).map(|part| Part::of(part, position)).collect(),
            chars: line.iter().map(|piece| visible(&piece.text)).sum(),
            is_marked,
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
            Page { pieces: pieces.collect(), sheet: Some(A4), ..Page::default() }
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
            Page { pieces: pieces.collect(), sheet: Some(A4), ..Page::default() }
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

    /// Pages with a marked header and footer, as near to the body as its lines are to each other.
    fn marked(pages: usize, header: impl Fn(usize) -> String) -> Vec<Page> {
        let page = |number: usize| {
            let texts = [
                header(number),
                format!("The body of sheet {number}"),
                "Total".into(),
                format!("report.html | {number}/{pages}"),
            ];
            let pieces = texts.into_iter().enumerate().map(|(line, text)| piece(text, 800.0 - line as f32 * 12.0));
            let marked = Pagination { headers: vec![800.0], footers: vec![764.0] };
            Page { pieces: pieces.collect(), sheet: Some(A4), marked, ..Page::default() }
        };
        (1..=pages).map(page).collect()
    }

    fn apart(pages: &[Page]) -> Vec<Vec<&str>> {
        let apart = pages.iter().map(|page| page.header.iter().chain(&page.footer));
        apart.map(|pieces| pieces.map(|piece| piece.text.as_str()).collect()).collect()
    }

    #[test]
    fn marked_headers_and_footers_need_not_stand_apart() {
        for count in [2, 4] {
            let mut pages = marked(count, |number| format!("Part {}", (number - 1) / 2));
            remove(&mut pages);
            let text = texts(&pages);
            assert!(
                text.iter().all(|page| matches!(page[..], [body, "Total"] if body.starts_with("The body"))),
                "{text:?}"
            );
            let apart = apart(&pages);
            assert_eq!(apart[..2], [vec!["Part 0", &format!("report.html | 1/{count}")], vec![]]);
            assert!(count == 2 || apart[2..] == [vec!["Part 1"], vec![]], "{apart:?}");
        }
    }

    #[test]
    fn marked_headers_without_a_copy_stay() {
        let mut pages = marked(3, |number| format!("Invoice {}", 1000 + number * number));
        remove(&mut pages);
        assert_eq!(
            apart(&pages),
            [vec!["Invoice 1001", "report.html | 1/3"], vec!["Invoice 1004"], vec!["Invoice 1009"]]
        );
        let mut pages = marked(1, |_| "2024".into());
        remove(&mut pages);
        assert_eq!(apart(&pages), [["2024", "report.html | 1/1"]]);
    }

    #[test]
    fn a_body_that_is_marked_as_a_header_is_text() {
        let mut pages = report(2, 20, |_| "Acme Report".into(), |_| String::new());
        for page in &mut pages {
            page.marked.headers = page.pieces.iter().map(|piece| piece.y).collect();
            page.pieces[1].text = "the same on each page".into();
        }
        remove(&mut pages);
        assert!(pages.iter().all(|page| page.pieces.len() == 22 && page.header.is_empty()));
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
