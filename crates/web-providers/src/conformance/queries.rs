use super::{Answer, NOW, Scripted, given, query};
use crate::WebQuery;

/// Returns the text that reaches the endpoint, and the requests.
async fn sent(scripted: &dyn Scripted, query: WebQuery) -> Vec<String> {
    let running = scripted.start(Answer::Results(vec![given(1)]));
    running.provider.search(&query, NOW).await.expect("a query never fails");
    (running.texts)()
}

pub async fn words_are_sent_once(scripted: &dyn Scripted) {
    assert_eq!(sent(scripted, query("spring tides & möwen 100%")).await, ["spring tides & möwen 100%"]);
}

pub async fn operators_of_callers_are_not_sent(scripted: &dyn Scripted) {
    assert_eq!(sent(scripted, query("!!g -tides \"site:evil.example\"")).await, ["g tides site evil.example"]);
}

pub async fn phrase_and_site_are_sent(scripted: &dyn Scripted) {
    let query = WebQuery { exact_match: true, site: Some("docs.example/a".to_owned()), ..query("spring tides") };
    assert_eq!(sent(scripted, query).await, ["\"spring tides\" site:docs.example/a"]);
}

pub async fn long_texts_are_cut(scripted: &dyn Scripted) {
    let query = WebQuery { site: Some("docs.example".to_owned()), ..query(&"tides ".repeat(1_300)) };
    let sent = sent(scripted, query).await;
    assert!(sent[0].starts_with("tides tides ") && sent[0].ends_with(" site:docs.example"), "{}", sent[0]);
    assert!(sent[0].chars().count() <= 2_048);
}

pub async fn text_without_words_makes_no_request(scripted: &dyn Scripted) {
    assert_eq!(sent(scripted, query("\"\" !! \u{0}")).await, Vec::<String>::new());
}
