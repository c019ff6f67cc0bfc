use super::{found, found_by, id, page, put_web, request, search};
use crate::{FirstStageRequest, IndexDocument, SearchEngine};

pub async fn all_words_are_optional(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "a valve for steam"), page(2, "a pump for water"), page(3, "nothing of it")]).await;
    let mut both = found_by(engine, "which valve and which pump should we order").await;
    both.sort();
    assert_eq!(both, {
        let mut ids = [id(1), id(2)];
        ids.sort();
        ids
    });
    // More matching words rank higher.
    put_web(engine, vec![page(4, "a pump with a valve")]).await;
    assert_eq!(found_by(engine, "pump valve").await.first(), Some(&id(4)));
}

pub async fn rare_words_rank_higher(engine: &dyn SearchEngine) {
    let mut documents: Vec<IndexDocument> = (10..30).map(|n| page(n, "report about water")).collect();
    documents.push(page(1, "report about zirconium"));
    put_web(engine, documents).await;
    assert_eq!(found_by(engine, "water report zirconium").await.first(), Some(&id(1)));
}

pub async fn title_words_rank_higher(engine: &dyn SearchEngine) {
    let titled = IndexDocument { title: "Grease".into(), ..page(2, "for bearings and gears") };
    put_web(engine, vec![page(1, "grease for bearings gears"), titled]).await;
    assert_eq!(found_by(engine, "grease").await, [id(2), id(1)]);
}

pub async fn inflected_words_match(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "The STATIONS pumped water"), page(2, "Café crème")]).await;
    assert_eq!(found_by(engine, "pumping station").await, [id(1)]);
    assert_eq!(found_by(engine, "cafe creme").await, [id(2)]);
    // Documents of unknown language are found too.
    put_web(engine, vec![IndexDocument { language: None, ..page(3, "turbines") }]).await;
    assert_eq!(found_by(engine, "turbine").await, [id(3)]);
}

pub async fn each_language_uses_its_stemmer(engine: &dyn SearchEngine) {
    let german = IndexDocument { language: Some("de".into()), ..page(1, "Die Häuser der Städte") };
    let french = IndexDocument { language: Some("fr".into()), ..page(2, "les chevaux nationaux") };
    put_web(engine, vec![german, french, page(3, "several nations")]).await;
    assert_eq!(found_by(engine, "Haus").await, [id(1)]);
    assert_eq!(found_by(engine, "cheval").await, [id(2)]);
    assert_eq!(found_by(engine, "nation").await.first(), Some(&id(3)));
}

pub async fn best_matching_text_counts(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "copper pipe fitting"), page(2, "brass tap handle"), page(3, "wooden door")]).await;
    let rewritten = FirstStageRequest { texts: vec!["brass".into(), "copper pipe".into()], ..request("") };
    assert_eq!(found(engine, &rewritten).await, [id(1), id(2)]);
    // Duplicate texts do not change the scores.
    let once = search(engine, &request("copper")).await;
    let twice = search(engine, &FirstStageRequest { texts: vec!["copper".into(); 2], ..request("") }).await;
    assert_eq!(once.hits, twice.hits);
}

pub async fn sixteen_texts_are_searched(engine: &dyn SearchEngine) {
    put_web(engine, (1..=16).map(|number| page(number, &format!("word{number}"))).collect()).await;
    let texts: Vec<String> = (1..=16).map(|number| format!("word{number}")).collect();
    for exact_phrase in [false, true] {
        let all = FirstStageRequest { texts: texts.clone(), exact_phrase, ..request("") };
        assert_eq!(found(engine, &all).await.len(), 16);
    }
}

pub async fn long_text_does_not_crowd_out_short_one(engine: &dyn SearchEngine) {
    let long = "copper pipe fitting valve wrench solder flange gasket";
    let mut documents: Vec<IndexDocument> =
        (10..40).map(|n| page(n, "copper pipe fitting valve of the plant")).collect();
    documents.push(page(1, "brass tap"));
    put_web(engine, documents).await;
    let both = FirstStageRequest { texts: vec![long.into(), "brass tap".into()], limit: 10, ..request("") };
    let hits = search(engine, &both).await.hits;
    assert_eq!(hits.first().map(|hit| hit.doc_id), Some(id(1)), "a full match of one text beats half of the other");
}

pub async fn ties_are_broken_by_document_id(engine: &dyn SearchEngine) {
    // Put in several batches, so that ordering by time of arrival fails.
    for number in [30, 4, 17, 9, 1, 22, 8, 13] {
        put_web(engine, vec![page(number, "the same words")]).await;
    }
    let mut ids: Vec<_> = [30, 4, 17, 9, 1, 22, 8, 13].map(id).into();
    ids.sort();
    assert_eq!(found_by(engine, "same words").await, ids);
    let few = search(engine, &FirstStageRequest { limit: 3, ..request("same words") }).await;
    assert_eq!(few.hits.iter().map(|hit| hit.doc_id).collect::<Vec<_>>(), ids[..3]);
    let again = search(engine, &FirstStageRequest { limit: 3, ..request("same words") }).await;
    assert_eq!(few.hits, again.hits);
}

pub async fn limit_and_total(engine: &dyn SearchEngine) {
    put_web(engine, (0..25).map(|n| page(n, "a common word")).collect()).await;
    for limit in [1, 7, 25, 1000] {
        let response = search(engine, &FirstStageRequest { limit, ..request("word") }).await;
        assert_eq!(response.hits.len(), limit.min(25));
        assert_eq!(response.total, 25);
    }
}

pub async fn scripts_without_spaces_match(engine: &dyn SearchEngine) {
    let of = |number, language: &str, body: &str| IndexDocument {
        language: Some(language.to_owned()),
        ..page(number, body)
    };
    put_web(
        engine,
        vec![
            of(1, "ja", "東京は日本の首都であり、世界最大の都市のひとつです。"),
            of(2, "th", "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย"),
            of(3, "ko", "서울특별시는 대한민국의 수도이다"),
            of(4, "zh", "水是生命之源"),
        ],
    )
    .await;
    assert_eq!(found_by(engine, "日本の首都").await.first(), Some(&id(1)));
    assert_eq!(found_by(engine, "ประเทศไทย").await, [id(2)]);
    assert_eq!(found_by(engine, "수도").await, [id(3)]);
    assert_eq!(found_by(engine, "水").await, [id(4)]);
}

pub async fn compounds_match(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "send an e-mail"), page(2, "call parseUrl twice"), page(3, "NLGI 2 grease")]).await;
    assert_eq!(found_by(engine, "email").await, [id(1)]);
    assert_eq!(found_by(engine, "url").await, [id(2)]);
    assert_eq!(found_by(engine, "nlgi2").await, [id(3)]);
}
