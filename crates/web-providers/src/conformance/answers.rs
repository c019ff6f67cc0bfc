use super::{Answer, Given, Scripted, given, search};
use crate::{MAX_RESULTS, MAX_SNIPPET_CHARS, MAX_TITLE_CHARS, WebResult, parse_date};

async fn results(scripted: &dyn Scripted, given: Vec<Given>) -> Vec<WebResult> {
    search(scripted, Answer::Results(given)).await.expect("a list is an answer").results
}

fn urls(results: &[WebResult]) -> Vec<&str> {
    results.iter().map(|result| result.url.as_str()).collect()
}

pub async fn results_keep_their_order_and_values(scripted: &dyn Scripted) {
    let dated = Given { published: Some("2026-01-02T03:04:05".to_owned()), ..given(1) };
    let found = results(scripted, vec![given(2), dated, given(3)]).await;
    assert_eq!(
        urls(&found),
        ["https://site2.example/page", "https://site1.example/page", "https://site3.example/page"]
    );
    assert_eq!((found[0].title.as_str(), found[0].snippet.as_str()), ("Title 2", "Snippet 2"));
    assert_eq!(found[1].published_at, parse_date("2026-01-02T03:04:05Z"));
    assert_eq!(found[0].published_at, None);
}

pub async fn results_without_a_page_are_skipped(scripted: &dyn Scripted) {
    let hostile = ["javascript:alert(1)", "file:///etc/passwd", "", "not a url", "https://user:password@a.example/"];
    let mut list: Vec<Given> = hostile.iter().map(|url| Given { url: (*url).to_owned(), ..given(1) }).collect();
    list.push(Given { url: format!("https://a.example/{}", "x".repeat(100_000)), ..given(1) });
    list.push(given(7));
    assert_eq!(urls(&results(scripted, list).await), ["https://site7.example/page"]);
}

pub async fn hostile_texts_are_plain_and_bounded(scripted: &dyn Scripted) {
    let long = Given { title: "t ".repeat(200_000), snippet: "\u{202e}é".repeat(100_000), ..given(1) };
    let marked = Given {
        title: "A\u{0}\u{1b}[2J <strong>title</strong>".to_owned(),
        snippet: "Q &amp; <b>A</b>\r\nnext".to_owned(),
        ..given(2)
    };
    let found = results(scripted, vec![long, marked]).await;
    assert!(found[0].title.chars().count() <= MAX_TITLE_CHARS && found[0].snippet.chars().count() <= MAX_SNIPPET_CHARS);
    assert!(!found[0].snippet.contains('\u{202e}'));
    assert_eq!((found[1].title.as_str(), found[1].snippet.as_str()), ("A [2J title", "Q & A next"));
}

pub async fn pages_are_listed_once(scripted: &dyn Scripted) {
    let tracked = Given { url: "https://SITE1.example/page?utm_source=x#top".to_owned(), ..given(1) };
    assert_eq!(results(scripted, vec![given(1), tracked, given(2)]).await.len(), 2);
}

pub async fn lists_are_bounded(scripted: &dyn Scripted) {
    assert_eq!(results(scripted, (0..300).map(given).collect()).await.len(), MAX_RESULTS);
}

pub async fn empty_list_is_an_answer(scripted: &dyn Scripted) {
    assert_eq!(results(scripted, Vec::new()).await, []);
}

pub async fn odd_values_are_ignored(scripted: &dyn Scripted) {
    let odd = Given {
        url: "https://odd.example/".to_owned(),
        title: String::new(),
        snippet: String::new(),
        published: Some("soon".to_owned()),
    };
    let found = results(scripted, vec![odd]).await;
    assert_eq!((found[0].title.as_str(), found[0].snippet.as_str(), found[0].published_at), ("", "", None));
}
