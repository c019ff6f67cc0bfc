#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::passages::{PassageSpan, split};

struct Document {
    title: &'static str,
    content: String,
    spans: Vec<PassageSpan>,
    language: Option<&'static str>,
    published_at: Option<i64>,
}

fn document(title: &'static str, content: &str) -> Document {
    Document { title, content: content.into(), spans: split(content), language: Some("en"), published_at: None }
}

fn vectors(documents: &[Document]) -> Vec<TermVector> {
    let text = |document: &Document| {
        let Document { title, content, spans, language, .. } = document;
        let text = DocumentText { title, content, passages: spans, language: *language, ..DocumentText::default() };
        TermVector::of(&text, usize::MAX, &mut Analyzers::default())
    };
    documents.iter().map(text).collect()
}

fn ranked_by(query: &Query<'_>, documents: &[Document], statistics: &CollectionStatistics) -> Vec<Ranked> {
    let vectors = vectors(documents);
    let candidate = |(document, terms): (&Document, _)| Candidate {
        terms,
        first_stage_score: 0.0,
        published_at: document.published_at,
    };
    let candidates: Vec<Candidate<'_>> = documents.iter().zip(&vectors).map(candidate).collect();
    rerank(query, &candidates, statistics)
}

fn ranked(query: &Query<'_>, documents: &[Document]) -> Vec<Ranked> {
    ranked_by(query, documents, &CollectionStatistics::default())
}

fn order(text: &str, documents: &[Document]) -> Vec<usize> {
    ranked(&query(text), documents).iter().map(|ranked| ranked.index).collect()
}

fn query(text: &str) -> Query<'_> {
    Query { text, now: None }
}

#[test]
fn the_matching_document_ranks_first() {
    let documents = [
        document("Gardening", "How to water roses in a dry summer, and when to cut them."),
        document("Pump manual", "The bearing of the pump takes NLGI 2 grease. Grease it every year."),
        document("Pumps", "A pump moves water. There are many kinds of pumps."),
        document("Cooking", "Boil water, add salt."),
    ];
    assert_eq!(order("which grease does the pump bearing need?", &documents)[..2], [1, 2]);
    assert_eq!(order("roses", &documents)[0], 0);
    let all = ranked(&query("roses"), &documents);
    assert_eq!(all.len(), 4);
    assert!(all[0].score > 0.0 && all[1..].iter().all(|ranked| ranked.score == 0.0));
}

#[test]
fn title_and_proximity_are_evidence() {
    let filler = "Some other words that are about nothing in particular stand here. ";
    let title = [
        document("Notes", &format!("{filler} alpha {filler}")),
        document("Alpha", &format!("{filler} alpha {filler}")),
    ];
    assert_eq!(order("alpha", &title), [1, 0]);
    let near = [
        document("", &format!("solar {filler}{filler} panel {filler}")),
        document("", &format!("solar panel {filler}{filler}{filler}")),
    ];
    assert_eq!(order("solar panel", &near), [1, 0]);
}

#[test]
fn a_rare_word_outweighs_a_common_one() {
    let documents = [document("", "engine engine engine of a car"), document("", "engine with a carburettor")];
    let mut statistics = CollectionStatistics { documents: 10_000, average_length: 6.0, ..Default::default() };
    statistics.document_frequency.insert("engin".into(), 9_000);
    statistics.document_frequency.insert("carburettor".into(), 3);
    assert_eq!(ranked_by(&query("engine carburettor"), &documents, &statistics)[0].index, 1);
}

#[test]
fn a_long_document_ranks_by_its_best_passage() {
    let filler = "Completely different matters are treated at length in this place of the book. ".repeat(12);
    let long =
        format!("# One\n\n{filler}\n\n# Two\n\nThe melting point of gallium is 29.76 degrees.\n\n# Three\n\n{filler}");
    let documents = [document("Book", &long), document("Metals", &"Gallium was found in 1875. ".repeat(3))];
    let all = ranked(&query("melting point of gallium"), &documents);
    assert_eq!(all[0].index, 0);
    let best = documents[0].spans[all[0].passages[0].position].text(&documents[0].content);
    assert!(best.contains("29.76"), "{best}");
    assert!(all[0].complete);
}

#[test]
fn recent_documents_are_preferred_only_on_request() {
    const NOW: i64 = 1_780_000_000_000;
    let dated = |days: i64| Document { published_at: Some(NOW - days * 86_400_000), ..document("", "release notes") };
    let documents = [dated(900), dated(2)];
    let order = |text| {
        let all = ranked(&Query { text, now: Some(NOW) }, &documents);
        all.iter().map(|ranked| ranked.index).collect::<Vec<_>>()
    };
    assert_eq!(order("release notes"), [0, 1]);
    assert_eq!(order("latest release notes"), [1, 0]);
}

#[test]
fn documents_of_several_languages_match_by_their_stems() {
    let german = Document { language: Some("de"), ..document("", "Die Häuser wurden verkauft.") };
    let unknown = Document { language: None, ..document("", "They were selling houses.") };
    let french = Document { language: Some("fr"), ..document("", "Rien à voir ici.") };
    let documents = [french, german, unknown];
    assert_eq!(order("Haus verkaufen", &documents)[0], 1);
    assert_eq!(order("house sell", &documents)[0], 2);
}

#[test]
fn ties_keep_the_first_stage_order() {
    let documents = [document("", "same text"), document("", "same text"), document("", "same text")];
    let vectors = vectors(&documents);
    let candidate = |(terms, first_stage_score)| Candidate { terms, first_stage_score, published_at: None };
    let candidates: Vec<Candidate<'_>> = vectors.iter().zip([1.0, 3.0, 3.0]).map(candidate).collect();
    let order = |text| {
        let all = rerank(&query(text), &candidates, &CollectionStatistics::default());
        all.iter().map(|ranked| ranked.index).collect::<Vec<_>>()
    };
    assert_eq!(order("same"), [1, 2, 0]);
    assert_eq!(order("nothing of it"), [1, 2, 0]);
}

#[test]
fn reading_is_bounded_and_shared_fairly() {
    assert_eq!(fair_share([10, 20].into_iter(), 100), usize::MAX);
    assert_eq!(fair_share([10, 100, 200].into_iter(), 110), 50);
    assert_eq!(fair_share([].into_iter(), 0), usize::MAX);
    let huge = document("", &"Many words of a very long document. ".repeat(READ_BYTES / 30));
    let all = ranked(&query("short"), &[huge, document("", "a short one")]);
    assert_eq!((all[0].index, all[0].complete, all[1].complete), (1, true, false));
}

proptest! {
    #[test]
    fn ranking_is_total_and_deterministic(
        text in "\\PC{0,40}",
        contents in prop::collection::vec("(?s)[a-c日本 .\n#]{0,120}", 0..6),
        now in any::<Option<i64>>(),
    ) {
        let documents: Vec<Document> = contents
            .iter()
            .map(|content| Document { published_at: now, ..document("", content) })
            .collect();
        let query = Query { text: &text, now };
        let all = ranked(&query, &documents);
        prop_assert_eq!(&all, &ranked(&query, &documents));
        prop_assert_eq!(all.len(), documents.len());
        prop_assert!(all.iter().all(|ranked| ranked.score.is_finite() && ranked.score >= 0.0));
        prop_assert!(all.is_sorted_by(|a, b| a.score >= b.score));
        for ranked in &all {
            let spans = documents[ranked.index].spans.len();
            prop_assert!(ranked.passages.iter().all(|passage| passage.position < spans));
            prop_assert_eq!(ranked.passages.is_empty(), spans == 0);
        }
    }
}

#[test]
fn adversarial_queries_are_ranked() {
    let documents = [document("", "some words")];
    let long = "word ".repeat(2_000);
    let distinct: String = (0..3_000).map(|number| format!("w{number} ")).collect();
    for text in ["", "\0", "\"", "AND OR NOT ( {", "😀", &long, &distinct, "the of and"] {
        let all = ranked(&query(text), &documents);
        assert_eq!(all.len(), 1, "{text}");
    }
    assert!(ranked(&query("word"), &[]).is_empty());
    assert!(ranked(&query(&long), &documents).first().unwrap().score > 0.0);
}
