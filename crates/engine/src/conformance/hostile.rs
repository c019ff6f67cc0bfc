use model::Timestamp;

use super::{NONE, found, found_by, id, page, put_web, request, search};
use crate::{FirstStageRequest, IndexDocument, SearchEngine};

pub async fn query_syntax_is_not_interpreted(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "copper pipe"), page(2, "brass tap")]).await;
    for text in [
        "copper AND tap NOT brass",
        "+copper -pipe",
        "title:copper",
        "\"copper",
        "copper\"",
        "(copper",
        "copper)",
        "{copper}",
        "[copper TO brass]",
        "copper~2",
        "copper^9",
        "cop* copper",
        "copper\\",
        "/copper/",
        "copper\0",
        "😀 copper 👩‍👩‍👧",
        "organization:* copper",
        "copper\n\r\t",
        "'; DROP TABLE copper; --",
        "cöppér copper \u{301}",
        "<copper>",
        "copper:copper",
        "*:* copper",
        "NOT copper",
        "\u{202e}copper",
    ] {
        let hits = found_by(engine, text).await;
        assert!(hits.contains(&id(1)), "{text:?}");
        // A phrase may match nothing, but never fails.
        search(engine, &FirstStageRequest { exact_phrase: true, ..request(text) }).await;
    }
}

pub async fn long_queries_never_fail(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "copper pipe"), page(2, "w77 w78 w79")]).await;
    let words: String = (0..2000).map(|n| format!("w{n} ")).collect();
    assert_eq!(found_by(engine, &format!("{words} copper")).await, [id(2)]);
    assert_eq!(found_by(engine, &format!("copper {words}")).await.len(), 2);
    let phrase = FirstStageRequest { exact_phrase: true, ..request(&words) };
    assert_eq!(found(engine, &phrase).await, NONE);
    // The complete text of a long document as a phrase.
    put_web(engine, vec![page(3, &words)]).await;
    assert_eq!(found(engine, &phrase).await, [id(3)]);
    for text in ["東".repeat(2700), "ก".repeat(2700), "x".repeat(8192), "a ".repeat(4096), "é".repeat(4096)] {
        search(engine, &request(&text)).await;
        search(engine, &FirstStageRequest { exact_phrase: true, ..request(&text) }).await;
    }
    search(engine, &FirstStageRequest { texts: vec!["copper".into(); 500], ..request("") }).await;
}

pub async fn queries_without_words_match_nothing(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "copper pipe of the plant"), page(2, "😀 --- …")]).await;
    for text in ["", " ", "\0", "...", "\"\"", "😀", "\u{301}"] {
        assert_eq!(found_by(engine, text).await, NONE, "{text:?}");
        assert_eq!(found(engine, &FirstStageRequest { exact_phrase: true, ..request(text) }).await, NONE, "{text:?}");
    }
    assert_eq!(found(engine, &FirstStageRequest { texts: Vec::new(), ..request("") }).await, NONE);
    // A text without words does not affect the others, and stop words count as words.
    let with_empty = FirstStageRequest { texts: vec!["...".into(), "copper".into()], ..request("") };
    assert_eq!(found(engine, &with_empty).await, [id(1)]);
    assert_eq!(found_by(engine, "of the").await, [id(1)]);
}

pub async fn hostile_documents_are_indexed(engine: &dyn SearchEngine) {
    let all = IndexDocument {
        title: "\0\u{1}\u{2}\n\n marker".into(),
        headings: "\n\n\0\n".into(),
        host: "ex\0ample..com.".into(),
        language: Some("not a language".into()),
        country: Some(String::new()),
        published_at: Some(Timestamp::MIN),
        ..page(1, &format!("{} {} \u{301}\u{301} end", "x".repeat(100_000), "😀".repeat(1000)))
    };
    let empty = IndexDocument { host: String::new(), ..page(2, "") };
    put_web(engine, vec![all, empty]).await;
    assert_eq!(found_by(engine, "marker").await, [id(1)]);
    assert_eq!(found_by(engine, "end").await, [id(1)]);
    assert_eq!(found_by(engine, &"x".repeat(8000)).await, [id(1)]);
}
