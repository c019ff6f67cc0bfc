use compat::openwebui::{LoadRequest, SearchRequest};
use compat::{ForeignRead, ForeignSearch};
use serde_json::json;

use crate::fixtures::*;

#[test]
fn a_search_is_mapped() {
    assert_eq!(search::<SearchRequest>(json!({"query": "q", "count": 3})).max_results, 3);
    let request = asked::<SearchRequest>(json!({"query": "q"})).unwrap();
    let snippet = "Passage 1.\n\nPassage 2.\n\nPassage 3.";
    let expected = json!([{"link": URL, "title": "Tides", "snippet": snippet}]);
    assert_eq!(request.answer(vec![hit(vec![])], moment()), expected);
}

#[test]
fn unreadable_pages_are_left_out() {
    let request = asked::<LoadRequest>(json!({"urls": ["x", URL]})).unwrap();
    assert_eq!(request.reads().unwrap().len(), 2);
    let body = request.answer(vec![vec![invalid()], vec![document()]], moment()).body;
    assert_eq!(body, json!([{"page_content": "# Tides", "metadata": {"source": URL, "title": "Tides"}}]));
}
