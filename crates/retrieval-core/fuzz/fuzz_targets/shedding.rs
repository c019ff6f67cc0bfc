#![no_main]
//! Fuzzes shaping: the result fits the budget unless that is impossible, and always has a hit.

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use retrieval_core::shape::{HitPassage, SearchHit, Shaped, Verbosity, shape};
use uuid::Uuid;

#[derive(Arbitrary, Debug)]
struct Hit {
    title: Option<String>,
    snippet: Option<String>,
    labels: Option<Vec<String>>,
    passages: Option<Vec<String>>,
}

fn size(shaped: &Shaped) -> u64 {
    let text = |text: &Option<String>| text.as_ref().map_or(0, |text| text.chars().count() + 10);
    let hit = |hit: &SearchHit| {
        let passages: usize = hit.passages.iter().flatten().map(|passage| 60 + passage.text.chars().count()).sum();
        let labels: usize = hit.labels.iter().flatten().map(|label| label.chars().count() + 3).sum();
        50 + text(&hit.title) + text(&hit.snippet) + passages + labels
    };
    let page = if shaped.access { 80 } else { 0 } + if shaped.ranking { 40 } else { 0 } + 30 * shaped.shed.len();
    (20 + page + shaped.hits.iter().map(hit).sum::<usize>()) as u64
}

fuzz_target!(|input: (Vec<Hit>, u8, Option<u64>)| {
    let (hits, verbosity, budget) = input;
    let verbosity =
        [Verbosity::IdsOnly, Verbosity::Compact, Verbosity::Standard, Verbosity::Full][usize::from(verbosity) % 4];
    let passage = |text: String| HitPassage {
        passage_id: Uuid::nil(),
        doc_id: Uuid::nil(),
        ordinal: 0,
        text,
        char_start: None,
        char_end: None,
        section_heading: None,
        section_path: Vec::new(),
    };
    let hits: Vec<SearchHit> = hits
        .into_iter()
        .zip(1..)
        .map(|(hit, rank)| SearchHit {
            rank,
            title: hit.title,
            snippet: hit.snippet,
            labels: hit.labels,
            passages: hit.passages.map(|texts| texts.into_iter().map(passage).collect()),
            ..SearchHit::default()
        })
        .collect();
    let asked = hits.len();
    let shaped = shape(hits, verbosity, budget, &size);
    assert!(shaped.hits.len() <= asked && (asked == 0 || !shaped.hits.is_empty()));
    if let Some(budget) = budget {
        assert!(shaped.unsatisfiable || size(&shaped) <= budget, "{} of {budget}", size(&shaped));
    } else {
        assert!(shaped.shed.is_empty() && !shaped.unsatisfiable && shaped.hits.len() == asked);
    }
});
