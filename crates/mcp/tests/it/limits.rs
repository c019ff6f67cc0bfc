use api_types::Passage;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fake::{CAPTURE, DOC, Fake, call, document, text};

const LIMIT: usize = 20_000;

/// Default size of a result in characters.
fn size(result: &Value) -> usize {
    text(result).chars().count() + result["structuredContent"].to_string().chars().count()
}

#[tokio::test]
async fn long_document_is_truncated_with_continuation() {
    for unit in ["a", "\n", "\"", "潮", "🦀", "\u{1}", "word \\ \"quoted\"\n\n"] {
        let fake = Fake::default();
        // As the service does: at most the requested number of characters.
        *fake.document.borrow_mut() = document(&unit.repeat(17_000).chars().take(17_000).collect::<String>());
        let result = call(&fake, "read_document", json!({"doc_id": DOC.to_string()})).await;
        assert_eq!(fake.reads.borrow()[0].content.max_chars, Some(17_000));
        assert!(size(&result) <= LIMIT, "{unit:?} {}", size(&result));
        let content = &result["structuredContent"]["content"];
        let count = content["text"].as_str().unwrap().chars().count();
        assert_eq!(content["char_count"], count);
        assert!(count > 2_000, "{unit:?} {count}");
        if count < 17_000 {
            assert_eq!(content["truncated"], true);
            let next = format!("{{\"start_char\": {count}, \"capture_id\": \"{CAPTURE}\"}}");
            assert!(text(&result).contains(&next), "{}", text(&result));
            assert_eq!(result["structuredContent"]["warnings"][0]["code"], "content_truncated");
        }
    }
}

#[tokio::test]
async fn continuations_return_the_whole_document() {
    let whole: String = (0..9_000).map(|n| format!("{n}\n")).collect();
    let mut read = String::new();
    while read.len() < whole.len() {
        let fake = Fake::default();
        let rest: String = whole[read.len()..].chars().take(17_000).collect();
        let mut part = document(&rest);
        let content = part.content.as_mut().unwrap();
        content.start_char = read.len() as i64;
        content.truncated = read.len() + rest.len() < whole.len();
        *fake.document.borrow_mut() = part;
        let range = json!({"start_char": read.len(), "capture_id": CAPTURE.to_string()});
        let result =
            call(&fake, "read_document", json!({"doc_id": DOC.to_string(), "content": {"range": range}})).await;
        read.push_str(result["structuredContent"]["content"]["text"].as_str().unwrap());
        let says_more = text(&result).contains(&format!("\"start_char\": {}", read.len()));
        assert_eq!(says_more, read.len() < whole.len());
    }
    assert_eq!(read, whole);
}

#[tokio::test]
async fn callers_own_limit_is_kept() {
    for content in [json!({"max_chars": 50_000}), json!({"range": {"start_char": 0, "max_chars": 50_000}})] {
        let fake = Fake::default();
        *fake.document.borrow_mut() = document(&"a".repeat(50_000));
        let result = call(&fake, "read_document", json!({"doc_id": DOC.to_string(), "content": content})).await;
        assert_eq!(result["structuredContent"]["content"]["char_count"], 50_000);
        assert_eq!(result["structuredContent"]["usage"]["bytes_returned"], 9);
    }
}

#[tokio::test]
async fn passages_and_headings_are_dropped_from_the_end() {
    let fake = Fake::default();
    let passage = |ordinal: i64| Passage {
        passage_id: Uuid::from_u128(ordinal as u128),
        doc_id: DOC,
        ordinal,
        text: "A passage of some length. ".repeat(20),
        char_start: None,
        char_end: None,
        section_heading: None,
        section_path: None,
    };
    let mut long = document("");
    long.content = None;
    long.passages = Some((0..200).map(passage).collect());
    long.doc.headings = vec!["A heading".to_owned(); 50];
    *fake.document.borrow_mut() = long;
    let result = call(&fake, "read_document", json!({"doc_id": DOC.to_string(), "include": ["passages"]})).await;
    assert!(size(&result) <= LIMIT && size(&result) > LIMIT / 2, "{}", size(&result));
    let passages = result["structuredContent"]["passages"].as_array().unwrap();
    assert_eq!(passages[0]["ordinal"], 0);
    let left_out = format!("to fit: {} passages", 200 - passages.len());
    assert!(text(&result).contains(&left_out) && text(&result).contains("query_relevant"), "{}", text(&result));
    assert_eq!(result["structuredContent"]["doc"]["headings"].as_array().map(Vec::len), Some(50));
    assert!(result["structuredContent"].get("usage").is_none(), "it would state another length");
}

#[tokio::test]
async fn headings_are_shortened_for_the_content() {
    let fake = Fake::default();
    let mut long = document(&"word ".repeat(3_400));
    long.doc.headings = (0..5_000).map(|number| format!("Heading {number}")).collect();
    *fake.document.borrow_mut() = long;
    let result = call(&fake, "read_document", json!({"doc_id": DOC.to_string()})).await;
    assert!(size(&result) <= LIMIT);
    assert!(result["structuredContent"]["content"]["char_count"].as_i64() > Some(12_000));
    assert_eq!(result["structuredContent"]["doc"]["headings"][0], "Heading 0");
}

#[tokio::test]
async fn file_list_continues_without_gaps() {
    let fake = Fake { files: 1_000, ..Fake::default() };
    let (mut start, mut names) = (0, Vec::new());
    while start < 1_000 {
        let result = call(&fake, "list_files", json!({"start": start})).await;
        assert!(size(&result) <= LIMIT);
        let files = result["structuredContent"]["files"].as_array().unwrap();
        names.extend(files.iter().map(|file| file["name"].as_str().unwrap().to_owned()));
        start += files.len();
        assert_eq!(text(&result).contains(&format!("{{\"start\": {start}}}")), start < 1_000);
    }
    assert_eq!(names, (0..1_000).map(|number| format!("file-{number}.txt")).collect::<Vec<_>>());
    let result = call(&fake, "list_files", json!({"start": u64::MAX})).await;
    assert_eq!(text(&result), "No files from 1000 on, of 1000.");
}

#[tokio::test]
async fn long_summary_states_omitted_results() {
    let fake = Fake { results: 50, ..Fake::default() };
    let result = call(&fake, "search", json!({"query": "x", "max_results": 50})).await;
    let text = text(&result);
    assert!(text.chars().count() <= 2_000, "{text}");
    assert!(text.contains(" more\nNext:"), "{text}");
    let fake = Fake { results: 0, ..Fake::default() };
    assert!(crate::fake::text(&call(&fake, "search", json!({"query": "x"})).await).starts_with("Nothing found"));
}

#[tokio::test]
async fn best_passages_keep_their_default_number() {
    for selection in ["query_relevant", "top_passages"] {
        let fake = Fake::default();
        let arguments = json!({"doc_id": DOC.to_string(), "query": "x", "content": {"selection": selection}});
        call(&fake, "read_document", arguments).await;
        assert_eq!(fake.reads.borrow()[0].content.max_chars, None, "{selection}");
    }
}

#[tokio::test]
async fn text_tells_the_reason_of_an_unavailable_page() {
    let fake = Fake::default();
    let mut unavailable = document("");
    unavailable.content = None;
    unavailable.warnings = serde_json::from_value(json!([{
        "code": "content_unavailable",
        "message": "the content could not be fetched: the host returned status `404`",
        "details": {"reason": "http_status", "status": 404},
    }]))
    .unwrap();
    assert_eq!(unavailable.warnings[0].reason(), Some("http_status"));
    *fake.document.borrow_mut() = unavailable;
    let result = call(&fake, "read_document", json!({"doc_id": DOC.to_string()})).await;
    assert!(text(&result).contains("Warning content_unavailable: the content could not be fetched: the host returned"));
    assert_eq!(result["structuredContent"]["warnings"][0]["details"]["reason"], "http_status");
}
