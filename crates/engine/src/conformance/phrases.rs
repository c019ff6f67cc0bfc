use super::{NONE, found, found_by, found_by_phrase, id, page, put_web, request};
use crate::{FirstStageRequest, IndexDocument, SearchEngine};

pub async fn phrase_words_are_adjacent_and_in_order(engine: &dyn SearchEngine) {
    put_web(
        engine,
        vec![
            page(1, "the red pump station"),
            page(2, "station for a red pump"),
            page(3, "red and pump"),
            page(4, "pump red"),
        ],
    )
    .await;
    let mut both = found_by_phrase(engine, "red pump").await;
    both.sort();
    assert_eq!(both, {
        let mut ids = [id(1), id(2)];
        ids.sort();
        ids
    });
    assert_eq!(found_by_phrase(engine, "red pump station").await, [id(1)]);
    assert_eq!(found_by_phrase(engine, "red station").await, NONE);
    assert_eq!(found_by_phrase(engine, "\"pump red\"").await, [id(4)]);
    assert_eq!(found_by_phrase(engine, "red pump unheard").await, NONE);
}

pub async fn phrases_are_folded_but_not_stemmed(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "Pumping stations, a Café"), page(2, "the pumped station")]).await;
    assert_eq!(found_by_phrase(engine, "pumping STATIONS").await, [id(1)]);
    assert_eq!(found_by_phrase(engine, "pump station").await, NONE);
    assert_eq!(found_by_phrase(engine, "a cafe").await, [id(1)]);
    // A single word is a phrase too.
    assert_eq!(found_by_phrase(engine, "pumped").await, [id(2)]);
    assert_eq!(found_by_phrase(engine, "pumps").await, NONE);
}

pub async fn phrases_may_consist_of_stop_words(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "to be or not to be"), page(2, "not to or be to be")]).await;
    assert_eq!(found_by_phrase(engine, "to be or not to be").await, [id(1)]);
    assert_eq!(found_by_phrase(engine, "or be").await, [id(2)]);
}

pub async fn phrases_do_not_cross_fields(engine: &dyn SearchEngine) {
    let document = IndexDocument {
        title: "Alpha beta".into(),
        headings: "Gamma delta\nEpsilon zeta".into(),
        ..page(1, "eta theta")
    };
    put_web(engine, vec![document]).await;
    for inside in ["alpha beta", "gamma delta", "epsilon zeta", "eta theta"] {
        assert_eq!(found_by_phrase(engine, inside).await, [id(1)], "{inside}");
    }
    for across in ["beta gamma", "delta epsilon", "zeta eta"] {
        assert_eq!(found_by_phrase(engine, across).await, NONE, "{across}");
    }
}

pub async fn phrases_pass_over_addresses_of_links(engine: &dyn SearchEngine) {
    let linked = "Grease [the bearings](https://example.org/eng/detail.html) once a year.";
    put_web(engine, vec![page(1, linked), page(2, "once a year, grease the bearings")]).await;
    for phrase in ["the bearings once a year", linked] {
        assert_eq!(found_by_phrase(engine, phrase).await, [id(1)], "{phrase}");
    }
    assert_eq!(found_by_phrase(engine, "bearings https").await, NONE);
    assert_eq!(found_by_phrase(engine, "html once").await, NONE);
    // Words of an address are no part of phrases, but found.
    assert_eq!(found_by(engine, "detail").await, [id(1)]);
}

pub async fn any_of_several_phrases_matches(engine: &dyn SearchEngine) {
    let pages = ["a red pump station", "the brass tap", "a red tap and a brass pump", "pump and tap"];
    put_web(engine, pages.iter().zip(1..).map(|(body, number)| page(number, body)).collect()).await;
    let exact = |texts: &[&str]| FirstStageRequest {
        texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        exact_phrase: true,
        ..request("")
    };
    let mut both = found(engine, &exact(&["red pump", "brass tap"])).await;
    both.sort();
    let mut expected = [id(1), id(2)];
    expected.sort();
    assert_eq!(both, expected);
    assert_eq!(found(engine, &exact(&["unheard of", "...", "brass pump"])).await, [id(3)]);
    assert_eq!(found(engine, &exact(&["unheard of", "..."])).await, NONE);
}

pub async fn phrases_match_in_scripts_without_spaces(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "東京都の天気"), page(2, "京都の天気、東都")]).await;
    assert_eq!(found_by_phrase(engine, "東京").await, [id(1)]);
    assert_eq!(found_by_phrase(engine, "東都").await, [id(2)]);
    assert_eq!(found_by_phrase(engine, "都の天気").await.len(), 2);
}
