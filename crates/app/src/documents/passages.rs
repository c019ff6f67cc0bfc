//! Views of passages that a response contains.

use docstore::Passage;

use super::PassageView;
use crate::excerpt::Excerpt;

pub fn views(excerpt: &Excerpt, chosen: &[usize], offsets: bool) -> Vec<PassageView> {
    let view = |position: &usize| {
        let passage = excerpt.passages().get(*position)?;
        Some(passage_view(passage, excerpt.text(*position), offsets))
    };
    chosen.iter().filter_map(view).collect()
}

fn passage_view(passage: &Passage, text: &str, offsets: bool) -> PassageView {
    PassageView {
        passage_id: passage.passage_id,
        doc_id: passage.doc_id,
        ordinal: u32::try_from(passage.ordinal).unwrap_or(0),
        text: text.to_owned(),
        chars: offsets.then_some((unsigned(passage.char_start), unsigned(passage.char_end))),
        section_heading: passage.section_path.0.last().cloned(),
        section_path: passage.section_path.0.clone(),
    }
}

fn unsigned(n: i32) -> u64 {
    u64::try_from(n).unwrap_or(0)
}
