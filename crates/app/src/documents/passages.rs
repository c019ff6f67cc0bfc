//! Views of passages that a response contains.

use docstore::Passage;
use retrieval_core::chars;

use super::PassageView;
use super::returned::ReturnedPassage;
use crate::excerpt::Excerpt;
use crate::files::quota::unsigned;

pub fn views(excerpt: &Excerpt, returned: &[ReturnedPassage], offsets: bool) -> Vec<PassageView> {
    let view = |ReturnedPassage { position, bytes }: &ReturnedPassage| {
        let passage = excerpt.passages().get(*position)?;
        let (before, rest) = excerpt.text(*position).split_at_checked(bytes.start)?;
        let text = rest.get(..bytes.len())?;
        let mut view = passage_view(passage, text, offsets);
        if text.len() < excerpt.text(*position).len() {
            let start = unsigned(passage.char_start.into()) + chars::count(before) as u64;
            view.chars = offsets.then_some((start, start + chars::count(text) as u64));
        }
        Some(view)
    };
    returned.iter().filter_map(view).collect()
}

fn passage_view(passage: &Passage, text: &str, offsets: bool) -> PassageView {
    PassageView {
        passage_id: passage.passage_id,
        doc_id: passage.doc_id,
        ordinal: u32::try_from(passage.ordinal).unwrap_or(0),
        text: text.to_owned(),
        chars: offsets.then_some((unsigned(passage.char_start.into()), unsigned(passage.char_end.into()))),
        section_heading: passage.section_path.0.last().cloned(),
        section_path: passage.section_path.0.clone(),
    }
}
