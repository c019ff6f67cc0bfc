//! Pages: sections end where a page starts, so that a passage cites one page.

use super::sections::{MANY_SECTIONS, Section, Strength, TINY_SECTION};

/// Cuts the sections at the page starts that a passage can end at. A page that starts inside a sentence cuts nothing.
pub(super) fn cut(content: &str, sections: Vec<Section>, page_starts: &[usize]) -> Vec<Section> {
    // As with tiny sections: a hostile file must not become a passage for every few bytes.
    if page_starts.len() > MANY_SECTIONS && content.len() / page_starts.len() < TINY_SECTION {
        return sections;
    }
    let mut starts = page_starts.iter().filter_map(|start| first_text(content, *start)).peekable();
    let mut pieces = Vec::with_capacity(sections.len());
    for mut section in sections {
        let end = section.bytes.end;
        let joined_headings = std::mem::take(&mut section.joined_headings);
        for found in std::mem::take(&mut section.breaks) {
            while starts.next_if(|start| *start < found.at).is_some() {}
            if starts.next_if_eq(&found.at).is_some() && found.strength > Strength::Line {
                section.bytes.end = found.at;
                let rest = Section { begins_whole: found.whole, ..Section::at(found.at) };
                pieces.push(std::mem::replace(&mut section, rest));
            } else {
                section.breaks.push(found);
            }
        }
        while starts.next_if(|start| *start < end).is_some() {}
        section.bytes.end = end;
        section.joined_headings = joined_headings;
        pieces.push(section);
    }
    pieces
}

/// The first character at or behind `start` that is not white space.
fn first_text(content: &str, start: usize) -> Option<usize> {
    let rest = content.get(start..)?;
    Some(start + rest.len() - rest.trim_start().len())
}

/// The pages of a passage, from 1: its first and its last. `None` for a document without pages.
///
/// `page_starts` as in [`split_pages`](super::split_pages); `text` is the passage at byte `start`.
pub fn pages_of(text: &str, start: usize, page_starts: &[usize]) -> Option<(usize, usize)> {
    let page_of = |byte: usize| page_starts.partition_point(|page_start| *page_start <= byte);
    let first = page_of(start + text.len() - text.trim_start().len());
    let last = page_of(start + text.trim_end().len().saturating_sub(1));
    (first > 0).then_some((first, last.max(first)))
}

#[cfg(test)]
mod tests {
    use super::super::split_pages;
    use super::*;

    /// The content of pages with a blank line between them, and where each starts.
    fn document(pages: &[&str]) -> (String, Vec<usize>) {
        let mut content = String::new();
        let mut starts = Vec::new();
        for page in pages {
            starts.push(content.len());
            if !content.is_empty() {
                content.push_str("\n\n");
            }
            content.push_str(page);
        }
        (content, starts)
    }

    fn cited(pages: &[&str]) -> Vec<(String, (usize, usize))> {
        let (content, starts) = document(pages);
        let passages = split_pages(&content, &starts);
        let joined: String = passages.iter().map(|passage| passage.text(&content)).collect();
        assert_eq!(joined, content);
        let cite = |text: &str, start| pages_of(text, start, &starts).expect("a page");
        passages.iter().map(|p| (p.text(&content).trim().to_owned(), cite(p.text(&content), p.bytes.start))).collect()
    }

    #[test]
    fn passages_end_where_pages_start() {
        let passages = cited(&["# One\n\nfirst text", "second text\n\n- item", "# Two\n\nthird text"]);
        let expected = [("# One\n\nfirst text", 1), ("second text\n\n- item", 2), ("# Two\n\nthird text", 3)];
        assert_eq!(passages, expected.map(|(text, page)| (text.to_owned(), (page, page))));
    }

    #[test]
    fn a_page_inside_a_sentence_makes_a_passage_of_two_pages() {
        let content = "This sentence goes on to the next page and ends there.\n\nMore.";
        let starts = [0, content.find("next").expect("the word")];
        let passages = split_pages(content, &starts);
        assert_eq!(passages.len(), 1);
        assert_eq!(pages_of(passages[0].text(content), 0, &starts), Some((1, 2)));
    }

    #[test]
    fn many_tiny_pages_do_not_cut() {
        let pages = vec!["word"; 2_000];
        let (content, starts) = document(&pages);
        assert!(split_pages(&content, &starts).len() < 30);
        assert!(split_pages("short", &[9, 12]).len() == 1, "starts beyond the content are ignored");
        assert_eq!(pages_of("text", 0, &[]), None);
    }
}
