#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use model::Timestamp;
use proptest::prelude::*;

use super::reading::{fair_share, reading_limit};
use super::*;
use crate::passages::{PassageSpan, split};

struct Text {
    title: &'static str,
    content: String,
    spans: Vec<PassageSpan>,
    language: Option<&'static str>,
    published_at: Option<Timestamp>,
}

fn document(title: &'static str, content: &str) -> Text {
    Text { title, content: content.into(), spans: split(content), language: Some("en"), published_at: None }
}

fn vectors(documents: &[Text]) -> Vec<TermVector> {
    let text = |document: &Text| {
        let Text { title, content, spans, language, .. } = document;
        let text = DocumentText { title, content, passages: spans, language: *language, ..DocumentText::default() };
        TermVector::of(&text, usize::MAX, &mut Analyzers::default())
    };
    documents.iter().map(text).collect()
}

fn evidence_by(query: &Query<'_>, documents: &[Text], statistics: &CollectionStatistics) -> Vec<Evidence> {
    let vectors = vectors(documents);
    let view = |(document, terms): (&Text, _)| Document { terms, published_at: document.published_at, by_words: true };
    let views: Vec<Document<'_>> = documents.iter().zip(&vectors).map(view).collect();
    score(query, &views, statistics)
}

fn evidence(query: &Query<'_>, documents: &[Text]) -> Vec<Evidence> {
    evidence_by(query, documents, &CollectionStatistics::default())
}

/// Returns the positions of the documents, best first; equal ones in their order.
fn order(text: &str, documents: &[Text]) -> Vec<usize> {
    best_first(&evidence(&query(text), documents))
}

fn best_first(evidence: &[Evidence]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..evidence.len()).collect();
    order.sort_by(|a, b| evidence[*b].score.total_cmp(&evidence[*a].score));
    order
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
    let all = evidence(&query("roses"), &documents);
    assert_eq!(all.len(), 4);
    assert!(all[0].score > 0.0 && all[1..].iter().all(|evidence| evidence.score == 0.0));
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
    assert_eq!(best_first(&evidence_by(&query("engine carburettor"), &documents, &statistics)), [1, 0]);
}

#[test]
fn a_long_document_ranks_by_its_best_passage() {
    let filler = "Completely different matters are treated at length in this place of the book. ".repeat(12);
    let long =
        format!("# One\n\n{filler}\n\n# Two\n\nThe melting point of gallium is 29.76 degrees.\n\n# Three\n\n{filler}");
    let documents = [document("Book", &long), document("Metals", &"Gallium was found in 1875. ".repeat(3))];
    let all = evidence(&query("melting point of gallium"), &documents);
    assert_eq!(best_first(&all), [0, 1]);
    let best = documents[0].spans[all[0].passages[0]].text(&documents[0].content);
    assert!(best.contains("29.76"), "{best}");
    assert!(all[0].complete);
}

#[test]
fn recent_documents_are_preferred_only_on_request() {
    const NOW: Timestamp = Timestamp::from_millis(1_780_000_000_000);
    const DAY: Duration = Duration::from_secs(86_400);
    let dated = |days: u32| Text { published_at: Some(NOW - DAY * days), ..document("", "release notes") };
    let documents = [dated(900), dated(2)];
    let order = |text| best_first(&evidence(&Query { text, now: Some(NOW) }, &documents));
    assert_eq!(order("release notes"), [0, 1]);
    assert_eq!(order("latest release notes"), [1, 0]);
}

#[test]
fn function_words_of_a_second_language_expand_nothing() {
    let english = |body: &str| Text { language: Some("en"), ..document("", body) };
    let german = |body: &str| Text { language: Some("de"), ..document("", body) };
    let filler = |n: usize| format!("report {n} about the market, the plans of the owners and the prices of the year");
    let mut documents: Vec<Text> = (0..24).map(|n| english(&filler(n))).collect();
    let best = "Die Turbine von Siemens und der Generator: die Turbine ist von der Firma Siemens und aus der Fabrik.";
    documents.extend((0..3).map(|_| german(best)));
    let good = documents.len();
    documents.push(english("Siemens sells one turbine to the owners of the plant in the north."));
    let weak = documents.len();
    documents.push(german("Siemens und der Vorstand und die Zahlen und der Plan und die Bank und der Rat der Stadt."));
    let all = evidence(&query("siemens turbine"), &documents);
    assert!(all[good].score > 1.3 * all[weak].score, "{} {}", all[good].score, all[weak].score);
}

#[test]
fn documents_found_by_meaning_alone_do_not_affect_the_others() {
    let about = |subject: &str| format!("The pump has a {subject}. A {subject} of a pump needs grease and care.");
    let mut documents: Vec<Text> =
        ["bearing", "valve", "seal", "rotor"].map(|subject| document("Pump", &about(subject))).into();
    let other = |number: usize| {
        let text = "Roses and tulips in a garden need care, much light and a valve for water. ".repeat(number + 1);
        Text { language: Some("de"), ..document("A garden of many flowers", &text) }
    };
    let scores = |documents: &[Text], by_words: usize| {
        let vectors = vectors(documents);
        let view = |(index, terms)| Document { terms, published_at: None, by_words: index < by_words };
        let views: Vec<Document<'_>> = vectors.iter().enumerate().map(view).collect();
        let document_frequency = [("pump", 20), ("valv", 20)].map(|(stem, count)| (stem.to_owned(), count)).into();
        let statistics = CollectionStatistics { documents: 1_000, average_length: 15.0, document_frequency };
        let evidence = score(&query("pump valve"), &views, &statistics);
        evidence.into_iter().take(4).map(|evidence| evidence.score).collect::<Vec<_>>()
    };
    let alone = scores(&documents, 4);
    documents.extend((0..6).map(other));
    assert!(alone[1] > alone[0] && alone != scores(&documents, documents.len()), "{alone:?}");
    assert_eq!(scores(&documents, 4), alone);
}

#[test]
fn documents_found_by_meaning_alone_do_not_shorten_what_is_read_of_the_others() {
    const BYTES: usize = 100 << 10;
    let filler = "The harbour is closed in winter, and boats are repaired in its yard.\n\n";
    let text = |before: usize| {
        let content = filler.repeat(before / filler.len()) + "The pump stands here.\n\n";
        document("", &(content + &filler.repeat((BYTES - before) / filler.len())))
    };
    let texts = [text(40_000), document("", &filler.repeat(BYTES / filler.len())), text(0)];
    let vectors = vectors(&texts);
    let views = |others: usize| {
        let found = std::iter::once(&vectors[0]).chain(std::iter::repeat_n(&vectors[1], 39)).map(|terms| (terms, true));
        let documents = found.chain(std::iter::repeat_n((&vectors[2], false), others));
        documents.map(|(terms, by_words)| Document { terms, published_at: None, by_words }).collect::<Vec<_>>()
    };
    let scored = |others: usize| score(&query("pump"), &views(others), &CollectionStatistics::default());
    let (alone, all) = (scored(0), scored(40));
    assert!(alone[0].is_match && alone[0].score > 0.0 && !alone[0].complete);
    assert_eq!(all[..40], alone);
    assert!(all[40].is_match && !all[40].complete);
}

#[test]
fn what_is_read_of_documents_found_by_meaning_alone_is_bounded_too() {
    let limits = |by_words: &[usize], others: &[usize]| {
        let found = by_words.iter().map(|length| (*length, true));
        let limits = ReadingLimits::of(found.chain(others.iter().map(|length| (*length, false))));
        (limits.limit(true), limits.limit(false))
    };
    let all = usize::MAX;
    for (by_words, others, expected) in [
        (vec![], vec![], (all, all)),
        (vec![READ_BYTES], vec![], (all, all)),
        (vec![10], vec![READ_BYTES; 4], (all, READ_BYTES / 4)),
        (vec![READ_BYTES; 4], vec![READ_BYTES; 8], (READ_BYTES / 4, READ_BYTES / 8)),
        (vec![READ_BYTES; 4], vec![READ_BYTES], (READ_BYTES / 4, READ_BYTES / 4)),
        (vec![], vec![READ_BYTES; 4], (READ_BYTES / 4, READ_BYTES / 4)),
    ] {
        assert_eq!(limits(&by_words, &others), expected, "{by_words:?} {others:?}");
    }
}

#[test]
fn frequencies_are_those_of_documents_found_by_words() {
    let about = |subject: &str| format!("The pump has a {subject}. A {subject} of a pump needs grease and care.");
    let documents = ["bearing", "valve", "seal", "hose"].map(|subject| document("Pump", &about(subject)));
    let others = document("", "A valve and a rotor, and another valve of a rotor.");
    let (vectors, others) = (vectors(&documents), vectors(&[others]));
    let scores = |others: &[TermVector], statistics: &CollectionStatistics| {
        let found = vectors.iter().map(|terms| Document { terms, published_at: None, by_words: true });
        // Many copies: the words of these are common among all documents.
        let others = others.iter().flat_map(|terms| std::iter::repeat_n(terms, 20));
        let others = others.map(|terms| Document { terms, published_at: None, by_words: false });
        let views: Vec<Document<'_>> = found.chain(others).collect();
        let evidence = score(&query("pump valve rotor"), &views, statistics);
        evidence.into_iter().take(vectors.len()).map(|evidence| evidence.score).collect::<Vec<_>>()
    };
    // Statistics may be missing, or older than the documents.
    let older = CollectionStatistics {
        documents: 10,
        average_length: 15.0,
        document_frequency: [("pump", 4), ("valv", 1)].map(|(stem, count)| (stem.to_owned(), count)).into(),
    };
    for statistics in [CollectionStatistics::default(), older] {
        let alone = scores(&[], &statistics);
        assert!(alone[1] > alone[0], "{alone:?}");
        assert_eq!(scores(&others, &statistics), alone);
    }
}

#[test]
fn scores_do_not_depend_on_what_is_analysed_beyond_the_limit() {
    const BYTES: usize = 1 << 20;
    let words = "bcdfghjklm".chars().flat_map(|first| "npqrst".chars().map(move |last| format!("{first}o{last}ax")));
    let words: Vec<String> = words.collect();
    let (some, others) = words.split_at(30);
    let filler = "The harbour is closed in winter, and boats are repaired in its yard.\n\n";
    let beginning = format!("The pump stands here.\n\n{}", filler.repeat(1_000));
    let content = format!("{beginning}{}\n\n{}", others.join(" "), filler.repeat(500));
    let spans = split(&content);
    let of = |content: &str, passages: &[PassageSpan], limit: usize| {
        let text = DocumentText { content, passages, language: Some("en"), ..DocumentText::default() };
        TermVector::of_prefix(&text, BYTES, limit, &mut Analyzers::default())
    };
    let long = |limit: usize| {
        let count = spans.iter().take_while(|span| span.bytes.end <= limit).count();
        of(&content[..spans[count - 1].bytes.end], &spans[..count], limit)
    };
    let short = |text: &str| of(text, &split(text), BYTES);
    let about = |words: &[String]| short(&format!("The pump: {}", words.join(" ")));
    // The words of both kinds are equally good for the expansion, which has room for half of them.
    let mut candidates: Vec<TermVector> = (0..9).flat_map(|_| [about(some), about(others)]).collect();
    candidates.extend((0..22).map(|_| short("Bread and flour.")));
    assert!(reading_limit((0..=candidates.len()).map(|_| BYTES)) < 64 << 10);
    let statistics = CollectionStatistics { documents: 1_000, average_length: 5.0, ..Default::default() };
    let scores = |long: &TermVector| {
        let terms = std::iter::once(long).chain(&candidates);
        let documents: Vec<Document<'_>> =
            terms.map(|terms| Document { terms, published_at: None, by_words: true }).collect();
        score(&query("pump"), &documents, &statistics)
    };
    let (part, whole) = (long(64 << 10), long(BYTES));
    assert!(part.units.len() < whole.units.len());
    assert_eq!(scores(&part), scores(&whole));
}

#[test]
fn documents_of_several_languages_match_by_their_stems() {
    let german = Text { language: Some("de"), ..document("", "Die Häuser wurden verkauft.") };
    let unknown = Text { language: None, ..document("", "They were selling houses.") };
    let french = Text { language: Some("fr"), ..document("", "Rien à voir ici.") };
    let documents = [french, german, unknown];
    assert_eq!(order("Haus verkaufen", &documents)[0], 1);
    assert_eq!(order("house sell", &documents)[0], 2);
}

#[test]
fn a_word_with_two_stems_counts_once() {
    let matched = |text: &str| {
        let content = format!("# La {text}\n\nUne recette.");
        let passages = split(&content);
        let document =
            DocumentText { content: &content, description: text, passages: &passages, language: Some("fr"), title: "" };
        let vector = TermVector::of(&document, usize::MAX, &mut Analyzers::default());
        let matcher = QueryMatcher::new("brûlée", &[Language::French]);
        matching::match_candidate(&vector, usize::MAX, &mut Vocabulary::new(&matcher), &mut Scratch::default())
    };
    for text in ["brûlée", "brulee"] {
        let MatchedCandidate { headings, passages, .. } = matched(text);
        assert_eq!(headings.length, 3, "{text} in the description, and two words of the heading");
        assert_eq!(headings.occurrences.len(), 2, "{text} in both");
        assert_eq!(passages.iter().map(|passage| passage.heading_terms.len()).collect::<Vec<_>>(), [1], "{text}");
    }
}

#[test]
fn reading_is_bounded_and_shared_fairly() {
    assert_eq!(fair_share([10, 20].into_iter(), 100), usize::MAX);
    assert_eq!(fair_share([10, 100, 200].into_iter(), 110), 50);
    assert_eq!(fair_share([].into_iter(), 0), usize::MAX);
    let huge = document("", &"Many words of a very long document. ".repeat(READ_BYTES / 30));
    let all = evidence(&query("short"), &[huge, document("", "a short one")]);
    assert_eq!(best_first(&all), [1, 0]);
    assert_eq!((all[0].complete, all[1].complete), (false, true));
}

proptest! {
    #[test]
    fn any_input_is_scored_the_same_twice(
        text in "\\PC{0,40}",
        contents in prop::collection::vec("(?s)[a-c日本 .\n#]{0,120}", 0..6),
        now in any::<Option<i64>>(),
    ) {
        let now = now.map(Timestamp::from_millis);
        let documents: Vec<Text> = contents
            .iter()
            .map(|content| Text { published_at: now, ..document("", content) })
            .collect();
        let query = Query { text: &text, now };
        let all = evidence(&query, &documents);
        prop_assert_eq!(&all, &evidence(&query, &documents));
        prop_assert_eq!(all.len(), documents.len());
        for (evidence, document) in all.iter().zip(&documents) {
            prop_assert!(evidence.score.is_finite() && evidence.score >= 0.0);
            prop_assert!(evidence.passages.iter().all(|position| *position < document.spans.len()));
            prop_assert_eq!(evidence.passages.is_empty(), document.spans.is_empty());
        }
    }
}

#[test]
fn ranking_stops_between_documents() {
    let documents = ["one pump", "two pumps", "no pump"].map(|content| document("", content));
    let vectors = vectors(&documents);
    let view = |terms| Document { terms, published_at: None, by_words: true };
    let views: Vec<Document<'_>> = vectors.iter().map(view).collect();
    let asked = std::cell::Cell::new(0);
    let score = |until: u32| {
        asked.set(0);
        score_while(&query("pump"), &views, &CollectionStatistics::default(), || asked.replace(asked.get() + 1) < until)
    };
    assert_eq!(score(1), None);
    assert_eq!(asked.get(), 2, "the second document is not read");
    assert_eq!(score(3), Some(super::score(&query("pump"), &views, &CollectionStatistics::default())));
}

#[test]
fn adversarial_queries_are_ranked() {
    let documents = [document("", "some words")];
    let long = "word ".repeat(2_000);
    let distinct: String = (0..3_000).map(|number| format!("w{number} ")).collect();
    for text in ["", "\0", "\"", "AND OR NOT ( {", "😀", &long, &distinct, "the of and"] {
        let all = evidence(&query(text), &documents);
        assert_eq!(all.len(), 1, "{text}");
    }
    assert!(evidence(&query("word"), &[]).is_empty());
    assert!(evidence(&query(&long), &documents).first().unwrap().score > 0.0);
}

#[test]
fn rare_words_of_a_long_question_outweigh_its_common_words() {
    let letters = "bcdfghjklmnpqrtvwxz";
    let common: Vec<String> =
        letters.chars().flat_map(|first| letters.chars().take(2).map(move |last| format!("{first}o{last}"))).collect();
    let question = format!("{} zirconium", common.join(" "));
    let documents = [document("A", &common[..3].join(" ")), document("B", "zirconium")];
    let mut frequencies: std::collections::BTreeMap<String, u64> =
        common.iter().map(|word| (word.clone(), 200)).collect();
    frequencies.insert("zirconium".into(), 2);
    let statistics = CollectionStatistics { documents: 1_000, average_length: 3.0, document_frequency: frequencies };
    let scores = |text: &str| {
        let evidence = evidence_by(&query(text), &documents, &statistics);
        evidence[1].score / evidence[0].score
    };
    let short = scores(&format!("{} zirconium", common[..3].join(" ")));
    assert!(scores(&question) > 1.5 * short, "{} {short}", scores(&question));
}
