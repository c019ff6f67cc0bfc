//! Page offsets in the markdown of a document.

use crate::blocks::{self, Block};
use crate::tidy;

/// Page separator while the markdown is tidied, placed at the end of the block before the page's first block. It is a
/// noncharacter (Unicode, 23.7): a document that contains it gets no page offsets.
const MARK: char = '\u{fdd0}';

/// Markdown of pages, with the byte offset at which each page starts.
#[derive(Default)]
pub(super) struct Pages {
    pub markdown: String,
    pub starts: Vec<u32>,
}

impl Pages {
    /// Appends pages; `first_blocks` has the index of each page's first block.
    pub(super) fn append(&mut self, blocks: &[Block], first_blocks: &[usize]) {
        let (source, starts) = blocks::write_with_starts(blocks);
        if source.contains(MARK) {
            self.push(&tidy::markdown(&source), &vec![0; first_blocks.len()]);
            return;
        }
        let mut marked = String::with_capacity(source.len() + first_blocks.len() * MARK.len_utf8());
        let mut done = 0;
        for first_block in first_blocks {
            let start = starts.get(*first_block).copied().unwrap_or(source.len());
            // Directly behind the text of the last line, so that the mark adds no line.
            let end = source[..start].trim_end_matches('\n').len().max(done);
            marked.push_str(&source[done..end]);
            marked.push(MARK);
            done = end;
        }
        marked.push_str(&source[done..]);
        let tidied = tidy::markdown(&marked);
        let mut markdown = String::with_capacity(tidied.len());
        let mut offsets = Vec::with_capacity(first_blocks.len());
        for (number, part) in tidied.split(MARK).enumerate() {
            if number > 0 {
                offsets.push(markdown.len());
            }
            markdown.push_str(part);
        }
        // A mark at the very start leaves a surplus line end.
        let lead = markdown.len() - markdown.trim_start_matches('\n').len();
        offsets.iter_mut().for_each(|offset| *offset = offset.saturating_sub(lead));
        self.push(&markdown[lead..], &offsets);
    }

    /// Appends a page of finished markdown.
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
    fn pages_start_at_their_first_block() {
        let blocks = [
            Block::Heading { level: 1, text: "One".into() },
            paragraph("first"),
            Block::Item { level: 0, ordered: false, text: "a".into() },
            Block::Item { level: 0, ordered: false, text: "b".into() },
            Block::Table(vec![vec!["x".into()]]),
            paragraph("last"),
        ];
        let mut pages = Pages::default();
        // The third and the last page are empty.
        pages.append(&blocks, &[0, 3, 5, 5, 6]);
        assert_eq!(pages.markdown, tidy::markdown(&blocks::write(&blocks)));
        let rest: Vec<&str> = pages.starts.iter().map(|start| pages.markdown[*start as usize..].trim()).collect();
        assert!(rest[0].starts_with("# One") && rest[1].starts_with("- b"), "{rest:?}");
        assert_eq!(rest[2..], ["last", "last", ""]);
        pages.append_page("## Turned");
        pages.append(&[paragraph("end")], &[0]);
        assert!(pages.markdown.ends_with("last\n\n## Turned\n\nend\n"));
        let rest: Vec<&str> = pages.starts[5..].iter().map(|start| &pages.markdown[*start as usize..]).collect();
        assert_eq!(rest, ["## Turned\n\nend\n", "end\n"]);
    }

    #[test]
    fn document_with_separator_has_no_page_offsets() {
        let mut pages = Pages::default();
        pages.append(&[paragraph("a\u{fdd0}b"), paragraph("c")], &[0, 1]);
        assert_eq!((pages.markdown.as_str(), pages.starts), ("a\u{fdd0}b\n\nc\n", vec![0, 0]));
    }
}
