use app::Error;
use app::feedback::FeedbackRequest;
use model::{DocId, FeedbackEvent, SearchId};
use test_support::{TestApp, feedback, page, search};
use uuid::Uuid;

#[tokio::test]
async fn an_event_is_stored_with_what_it_is_about() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let doc_id = world.import_one(page("https://example.com/", "The tides.")).await;
    let outcome = world.app.search(&tenant.viewer, search("tides")).await.unwrap();
    let request = FeedbackRequest {
        search_id: Some(outcome.search_id),
        doc_id: Some(doc_id),
        comment: Some("nul\0 and more".to_owned()),
        rank: Some(u32::MAX),
        client_model: Some("model".to_owned()),
        ..feedback(FeedbackEvent::ResultHelpful)
    };
    let feedback_id = world.app.submit_feedback(&tenant.viewer, request.clone()).await.unwrap();
    let stored = world.recorded_feedback().await;
    let [stored] = &stored[..] else { panic!("{stored:?}") };
    let event = &stored.event;
    assert_eq!(event.feedback_id.to_string(), feedback_id.to_string());
    assert_eq!(event.organization_id.to_string(), tenant.organization_id.to_string());
    assert_eq!(event.identity, tenant.viewer.identity.rate_key());
    assert_eq!(event.session_id.to_string(), request.session_id.to_string());
    assert_eq!(event.comment.as_deref(), Some("nul and more"), "NUL cannot be stored");
    assert_eq!((event.result_rank, event.client_model.as_deref()), (Some(i32::MAX), Some("model")));
    assert_eq!(stored.search.as_ref().unwrap().query, "tides");
    assert_eq!(stored.document.as_ref().unwrap().canonical_url, "https://example.com/");
}

#[tokio::test]
async fn unknown_searches_and_documents_are_not_found() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let ungranted = world.import_one(page("https://example.com/", "The tides.")).await;
    let submit = async |request| world.app.submit_feedback(&tenant.viewer, request).await.unwrap_err();
    let search =
        FeedbackRequest { search_id: Some(SearchId(Uuid::from_u128(1))), ..feedback(FeedbackEvent::ResultHelpful) };
    assert!(matches!(submit(search).await, Error::SearchNotFound));
    for doc_id in [ungranted, DocId(Uuid::from_u128(1))] {
        let document = FeedbackRequest { doc_id: Some(doc_id), ..feedback(FeedbackEvent::StaleResult) };
        assert!(matches!(submit(document).await, Error::DocumentNotFound));
    }
    assert!(world.recorded_feedback().await.is_empty());
}
