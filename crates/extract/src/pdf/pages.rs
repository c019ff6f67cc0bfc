//! The places in the markdown of a document where its pages start.

use std::collections::HashSet;

use super::glyph::{PAGE_MARK, RAISED, RAISED_END};
use super::{layout, line};
use crate::blocks::{self, Block};
use crate::tidy;

/// Markdown of pages, and the byte at which each page starts.
#[derive(Default)]
pub(super) struct Pages {
    pub markdown: String,
    pub starts: Vec<u32>,
}

/// The start of a page in a list of blocks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PageStart {
    /// In front of the block at this index.
    Block(usize),
    /// At a mark inside a paragraph of an earlier page.
    Inside,
}

/// Appends the blocks of a page's next region. A paragraph that goes on from the last of `blocks` is added to it.
pub(super) fn append_region(blocks: &mut Vec<Block>, mut region: Vec<Block>, page_start: &mut PageStart) {
    let begins_page = *page_start == PageStart::Block(blocks.len());
    if let Some((paragraph, next)) = layout::continuation(blocks, &mut region) {
        line::join(paragraph, &next);
        if begins_page {
            paragraph.insert(paragraph.len() - next.len(), PAGE_MARK);
            *page_start = PageStart::Inside;
        }
    }
    blocks.append(&mut region);
}

/// Lets the pages without text right before a page that starts inside a paragraph start there too. `begin` is the number of blocks
/// of the pages before it, with the starts `page_starts`. Otherwise the page would seem to start behind the paragraph.
pub(super) fn start_empty_inside(blocks: &mut [Block], begin: usize, page_starts: &mut [PageStart]) {
    let empty = page_starts.iter_mut().rev().take_while(|start| **start == PageStart::Block(begin));
    let paragraph = begin.checked_sub(1).and_then(|last| blocks.get_mut(last));
    let Some(Block::Paragraph(text) | Block::Item { text, .. }) = paragraph else { return };
    let Some(mark) = text.rfind(PAGE_MARK) else { return };
    let count = empty.map(|start| *start = PageStart::Inside).count();
    text.insert_str(mark, &PAGE_MARK.to_string().repeat(count));
}

/// Texts that were turned on earlier pages.
#[derive(Default)]
pub(super) struct MarginNotes {
    seen: HashSet<String>,
}

impl MarginNotes {
    /// Returns the turned text of a page as paragraphs and tables, without those that an earlier page has: publishers print
    /// a note in the margin of each page.
    pub(super) fn new_of(&mut self, blocks: Vec<Block>) -> Vec<Block> {
        let mut new = Vec::new();
        for block in blocks {
            match block {
                Block::Table(_) => new.push(block),
                Block::Heading { text, .. } | Block::Paragraph(text) | Block::Item { text, .. } => {
                    if !self.seen.contains(&text) {
                        new.push(Block::Paragraph(text));
                    }
                }
            }
        }
        self.seen.extend(new.iter().filter_map(|block| match block {
            Block::Paragraph(text) => Some(text.clone()),
            _ => None,
        }));
        new
    }
}

/// Inserts the header of a page, which started at `page_start`, in front of its text. `begin` is the number of blocks of the pages
/// before. A paragraph that continues from these is not interrupted.
pub(super) fn insert_header(blocks: &mut Vec<Block>, header: Vec<Block>, begin: usize, page_start: PageStart) {
    let at = begin.saturating_sub(usize::from(page_start == PageStart::Inside));
    blocks.splice(at..at, header);
}

/// Appends the turned text and the footer of a page, which started at `page_start`. They are placed before the last paragraph of
/// the page, which may continue on the next one.
pub(super) fn append_beside(blocks: &mut Vec<Block>, beside: Vec<Block>, page_start: PageStart) {
    let last = blocks.len().saturating_sub(1);
    let on_page = matches!(page_start, PageStart::Block(start) if start <= last);
    let is_open = layout::is_open(blocks) && on_page;
    let at = if is_open { last } else { blocks.len() };
    blocks.splice(at..at, beside);
}

impl Pages {
    /// Appends pages with the given starts in `blocks`, whose text is literal.
    pub(super) fn append(&mut self, blocks: &[Block], page_starts: &[PageStart]) {
        let (source, starts) = blocks::write_with_starts(&blocks::escaped(blocks));
        let mut marked = String::with_capacity(source.len() + page_starts.len() * PAGE_MARK.len_utf8());
        let mut done = 0;
        for page_start in page_starts {
            let PageStart::Block(block) = page_start else { continue };
            let start = starts.get(*block).copied().unwrap_or(source.len());
            // Behind the last line's text rather than its end, so that no line is added.
            let end = source[..start].trim_end_matches('\n').len().max(done);
            marked.push_str(&source[done..end]);
            marked.push(PAGE_MARK);
            done = end;
        }
        marked.push_str(&source[done..]);
        let tidied = tidy::markdown(&marked).replace(RAISED, "<sup>").replace(RAISED_END, "</sup>");
        let mut markdown = String::with_capacity(tidied.len());
        let mut offsets = Vec::with_capacity(page_starts.len());
        for (number, part) in tidied.split(PAGE_MARK).enumerate() {
            if number > 0 {
                offsets.push(markdown.len());
            }
            markdown.push_str(part);
        }
        // With nothing in front of the first mark, its line end is one too many.
        let lead = markdown.len() - markdown.trim_start_matches('\n').len();
        offsets.iter_mut().for_each(|offset| *offset = offset.saturating_sub(lead));
        self.push(&markdown[lead..], &offsets);
    }

    /// Appends a page that is markdown already.
    pub(super) fn append_page(&mut self, markdown: &str) {
        self.push(&tidy::markdown(markdown), &[0]);
    }

    fn push(&mut self, part: &str, offsets: &[usize]) {
        if !part.is_empty() && !self.markdown.is_empty() {
            self.markdown.push('\n');
        }
        let base = self.markdown.len();
        self.starts.extend(offsets.iter().map(|offset| u32::try_from(base + offset).unwrap_or(u32::MAX)));
        self.markdown.push_str(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraph(text: &str) -> Block {
        Block::Paragraph(text.into())
    }

    #[test]
    fn pages_begin_where_their_first_block_does() {
        let blocks = [
            Block::Heading { level: 1, text: "One".into() },
            paragraph("first"),
            Block::Item { level: 0, number: None, text: "a".into() },
            Block::Item { level: 0, number: None, text: "b".into() },
            Block::Table(vec![vec!["x".into()]]),
            paragraph("last"),
        ];
        let mut pages = Pages::default();
        // The third page is empty, and the last one too.
        pages.append(&blocks, &[0, 3, 5, 5, 6].map(PageStart::Block));
        assert_eq!(pages.markdown, tidy::markdown(&blocks::write(&blocks)));
        let rest: Vec<&str> = pages.starts.iter().map(|start| pages.markdown[*start as usize..].trim()).collect();
        assert!(rest[0].starts_with("# One") && rest[1].starts_with("- b"), "{rest:?}");
        assert_eq!(rest[2..], ["last", "last", ""]);
        pages.append_page("## Turned");
        pages.append(&[paragraph("end")], &[PageStart::Block(0)]);
        assert!(pages.markdown.ends_with("last\n\n## Turned\n\nend\n"));
        let rest: Vec<&str> = pages.starts[5..].iter().map(|start| &pages.markdown[*start as usize..]).collect();
        assert_eq!(rest, ["## Turned\n\nend\n", "end\n"]);
    }

    #[test]
    fn turned_text_neither_breaks_paragraphs_nor_repeats() {
        let mut blocks = Vec::new();
        let mut notes = MarginNotes::default();
        for page in ["It begins here and", "goes on. The end."] {
            let mut start = PageStart::Block(blocks.len());
            append_region(&mut blocks, vec![paragraph(page)], &mut start);
            let note = Block::Heading { level: 1, text: "In the margin".into() };
            append_beside(&mut blocks, notes.new_of(vec![note]), start);
        }
        let text = format!("It begins here and {PAGE_MARK}goes on. The end.");
        assert_eq!(blocks, [paragraph("In the margin"), paragraph(&text)]);
        append_beside(&mut blocks, vec![paragraph("Axis")], PageStart::Block(1));
        assert_eq!(blocks[2], paragraph("Axis"));
    }

    #[test]
    fn a_paragraph_may_go_on_over_pages_without_text() {
        let mut blocks = Vec::new();
        let mut starts: Vec<PageStart> = Vec::new();
        for page in [Some("It begins here and"), None, None, Some("goes on. The end."), None, Some("Another.")] {
            let begin = blocks.len();
            let mut start = PageStart::Block(begin);
            append_region(&mut blocks, page.into_iter().map(paragraph).collect(), &mut start);
            if start == PageStart::Inside {
                start_empty_inside(&mut blocks, begin, &mut starts);
            }
            starts.push(start);
        }
        let mut pages = Pages::default();
        pages.append(&blocks, &starts);
        assert_eq!(pages.markdown, "It begins here and goes on. The end.\n\nAnother.\n");
        let rest: Vec<&str> = pages.starts.iter().map(|start| pages.markdown[*start as usize..].trim()).collect();
        assert!(rest[1..4].iter().all(|rest| rest.starts_with("goes on")), "{rest:?}");
        assert_eq!(rest[4..], ["Another.", "Another."]);
    }

    #[test]
    fn headers_do_not_interrupt_paragraphs() {
        let mut blocks = Vec::new();
        for (page, header) in [("It begins here and", "One"), ("goes on. The end.", "Two"), ("Another.", "Three")] {
            let begin = blocks.len();
            let mut start = PageStart::Block(begin);
            append_region(&mut blocks, vec![paragraph(page)], &mut start);
            insert_header(&mut blocks, vec![paragraph(header)], begin, start);
        }
        let text = format!("It begins here and {PAGE_MARK}goes on. The end.");
        assert_eq!(blocks, ["One", "Two", &text, "Three", "Another."].map(paragraph));
    }

    #[test]
    fn a_page_may_start_inside_a_paragraph() {
        let mut blocks = Vec::new();
        let mut starts = Vec::new();
        for page in [vec!["It begins here and"], vec!["goes on over a divi-"], vec!["sion", "Another"]] {
            let mut start = PageStart::Block(blocks.len());
            append_region(&mut blocks, page.into_iter().map(paragraph).collect(), &mut start);
            starts.push(start);
        }
        assert_eq!(starts, [PageStart::Block(0), PageStart::Inside, PageStart::Inside]);
        let mut pages = Pages::default();
        pages.append(&blocks, &starts);
        assert_eq!(pages.markdown, "It begins here and goes on over a division\n\nAnother\n");
        let rest: Vec<&str> = pages.starts.iter().map(|start| &pages.markdown[*start as usize..]).collect();
        assert!(rest[1].starts_with("goes on") && rest[2].starts_with("sion\n\nAnother"), "{rest:?}");
    }
}
