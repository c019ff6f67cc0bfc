use model::{Collection, IndexName};

use super::{NONE, file, found, id, organization, page, put, put_web, request, search};
use crate::{Change, Filters, FirstStageRequest, SearchEngine};

fn within(number: u128, text: &str) -> FirstStageRequest {
    FirstStageRequest { collection: Collection::Workspace(organization(number)), ..request(text) }
}

pub async fn organizations_are_isolated(engine: &dyn SearchEngine) {
    let first = vec![file(1, organization(1), "secret copper plan"), file(2, organization(1), "copper")];
    let second = vec![file(3, organization(2), "copper mine")];
    put(engine, IndexName::Workspace, first).await;
    put(engine, IndexName::Workspace, second).await;
    put_web(engine, vec![page(4, "copper on the web")]).await;
    assert_eq!(found(engine, &within(2, "secret copper")).await, [id(3)]);
    assert_eq!(found(engine, &within(1, "copper")).await.len(), 2);
    assert_eq!(found(engine, &within(3, "copper")).await, NONE);
    assert_eq!(found(engine, &request("copper")).await, [id(4)]);
    let phrase = |number, text: &str| FirstStageRequest { exact_phrase: true, ..within(number, text) };
    assert_eq!(found(engine, &phrase(1, "secret copper")).await, [id(1)]);
    assert_eq!(found(engine, &phrase(2, "secret copper")).await, NONE);
    // A document that changes its owner is hidden from the previous one.
    put(engine, IndexName::Workspace, vec![file(1, organization(2), "secret copper plan")]).await;
    assert_eq!(found(engine, &within(1, "secret")).await, NONE);
    assert_eq!(found(engine, &within(2, "secret")).await, [id(1)]);
}

pub async fn statistics_are_per_scope(engine: &dyn SearchEngine) {
    let documents = vec![
        file(1, organization(1), "copper copper pipe"),
        file(2, organization(1), "pipe"),
        file(3, organization(2), "copper pipe valve tap hinge"),
    ];
    put(engine, IndexName::Workspace, documents).await;
    let statistics = search(engine, &within(1, "copper pipes valve")).await.statistics;
    assert_eq!(statistics.documents, 2);
    assert_eq!(statistics.average_length, 2.0);
    let expected = [("copper", 1), ("pipe", 2)].map(|(term, count)| (term.to_owned(), count));
    assert_eq!(statistics.document_frequency, expected.into());
    let statistics = search(engine, &within(2, "copper")).await.statistics;
    assert_eq!((statistics.documents, statistics.average_length), (1, 5.0));
}

pub async fn statistics_cover_rerank_text(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "copper pipe"), page(2, "valve")]).await;
    let request = FirstStageRequest { rerank_text: Some("valves".to_owned()), ..request("pipe") };
    let response = search(engine, &request).await;
    assert_eq!(response.hits.iter().map(|hit| hit.doc_id).collect::<Vec<_>>(), [id(1)]);
    let expected = [("pipe", 1), ("valv", 1)].map(|(term, count)| (term.to_owned(), count));
    assert_eq!(response.statistics.document_frequency, expected.into());
}

pub async fn statistics_follow_changes(engine: &dyn SearchEngine) {
    put_web(engine, (0..20).map(|n| page(n, "copper pipe")).collect()).await;
    put_web(engine, (0..5).map(|n| page(n, "brass")).collect()).await;
    engine.apply(IndexName::Web, vec![Change::Remove { doc_id: id(10) }]).await.expect("a removal");
    let statistics = search(engine, &request("copper brass")).await.statistics;
    assert_eq!(statistics.documents, 19);
    let expected = [("brass", 5), ("copper", 14)].map(|(term, count)| (term.to_owned(), count));
    assert_eq!(statistics.document_frequency, expected.into());
    assert!((statistics.average_length - (14.0 * 2.0 + 5.0) / 19.0).abs() < 1e-9);
}

pub async fn statistics_ignore_filters(engine: &dyn SearchEngine) {
    put_web(engine, (0..4).map(|n| page(n, "copper")).collect()).await;
    let filters = Filters { country: Some("us".into()), ..Filters::default() };
    let response = search(engine, &FirstStageRequest { filters, ..request("copper") }).await;
    assert_eq!(response.total, 0);
    assert_eq!(response.statistics.documents, 4);
    assert_eq!(response.statistics.document_frequency.get("copper"), Some(&4));
}
