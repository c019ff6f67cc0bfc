use mcp::Upload;
use serde_json::{Value, json};

use crate::fake::{DOC, Fake, call, failed, text};
use crate::reading::sizes;

/// Names in the structured content, which the text repeats.
fn names(result: &Value) -> Vec<String> {
    let files = result["structuredContent"]["files"].as_array().unwrap();
    let names: Vec<String> = files.iter().map(|file| file["name"].as_str().unwrap().to_owned()).collect();
    let listed: Vec<&str> =
        text(result).lines().filter_map(|line| line.strip_prefix("- ")?.split(" | ").next()).collect();
    assert_eq!(listed, names);
    names
}

#[tokio::test]
async fn pages_name_every_file_once() {
    for (files, arguments) in [(232, json!({})), (1_000, json!({"limit": 1_000})), (40, json!({"limit": "7"}))] {
        let fake = Fake { files, ..Fake::default() };
        let (mut arguments, mut listed, mut pages) = (arguments, Vec::new(), 0);
        loop {
            let result = call(&fake, "list_files", arguments.clone()).await;
            assert!(sizes(&result).into_iter().all(|size| size <= 20_000));
            let page = names(&result);
            let cursor = result["structuredContent"]["next_cursor"].clone();
            let head = match (pages, cursor.is_null()) {
                (0, _) => format!("Files 1 to {}, more follow:", page.len()),
                (_, false) => format!("The next {} files, more follow:", page.len()),
                (_, true) => format!("The last {} files:", page.len()),
            };
            assert!(text(&result).starts_with(&head), "{}", text(&result));
            listed.extend(page);
            pages += 1;
            assert_eq!(text(&result).contains("Next: the list continues"), !cursor.is_null());
            if cursor.is_null() {
                break;
            }
            assert!(text(&result).contains(&format!("{{\"cursor\": {cursor}}}")));
            arguments["cursor"] = cursor;
        }
        let mut expected: Vec<_> = (0..files).map(|number| format!("file-{number}.txt")).collect();
        expected.sort();
        assert_eq!(listed, expected);
        assert!(pages > 1);
        // The service makes the pages: the whole list is never asked for.
        assert!(fake.listings.borrow().iter().all(|query| query.limit.is_some()));
    }
}

#[tokio::test]
async fn an_empty_page_says_that_the_list_continues() {
    let fake = Fake { files: 1, names_without_file: 2, ..Fake::default() };
    let mut arguments = json!({"limit": 1});
    for _ in 0..2 {
        let empty = call(&fake, "list_files", arguments.clone()).await;
        let cursor = empty["structuredContent"]["next_cursor"].clone();
        let expected = format!(
            "No files on this page; more may follow.\nNext: the list continues: call list_files with {{\"cursor\": {cursor}}}"
        );
        assert_eq!(text(&empty), expected);
        assert_eq!(empty["structuredContent"]["files"], json!([]));
        arguments["cursor"] = cursor;
    }
    let last = call(&fake, "list_files", arguments).await;
    assert!(text(&last).starts_with("The last 1 files:"), "{}", text(&last));
}

#[tokio::test]
async fn one_page_tells_the_state_of_each_file() {
    let result = call(&Fake::default(), "list_files", json!({})).await;
    let url = |number: usize| format!("workspace://{DOC}/file-{number}.txt");
    let expected = format!(
        "Files 1 to 2 of 2:\n\
        - file-0.txt | 5 bytes | 2026-01-01 | failed (encrypted: the file is locked) | {}\n\
        - file-1.txt | 5 bytes | 2026-01-01 | indexed | labels: finance | {}",
        url(0),
        url(1)
    );
    assert_eq!(text(&result), expected);
    let structured = &result["structuredContent"];
    assert_eq!(structured["total"], 2);
    let [failed, indexed] = &structured["files"].as_array().unwrap()[..] else { panic!("{structured}") };
    assert_eq!((&failed["status"], &failed["reason"]), (&json!("failed"), &json!("encrypted: the file is locked")));
    assert_eq!((&indexed["status"], &indexed["labels"]), (&json!("indexed"), &json!(["finance"])));
    assert_eq!((&failed["canonical_url"], &indexed["canonical_url"]), (&json!(url(0)), &json!(url(1))));
}

#[tokio::test]
async fn list_can_start_anywhere() {
    let fake = Fake { files: 5, ..Fake::default() };
    let last = call(&fake, "list_files", json!({"start": 3})).await;
    assert_eq!(names(&last), ["file-3.txt", "file-4.txt"]);
    assert!(text(&last).starts_with("Files 4 to 5 of 5:"), "{}", text(&last));
    let middle = call(&fake, "list_files", json!({"start": 1, "limit": 2})).await;
    assert_eq!(names(&middle), ["file-1.txt", "file-2.txt"]);
    assert!(text(&middle).contains("{\"start\": 3}"), "{}", text(&middle));
    // The file of the cursor may be gone.
    assert_eq!(names(&call(&fake, "list_files", json!({"cursor": "file-2.txtx"})).await), ["file-3.txt", "file-4.txt"]);
    assert_eq!(text(&call(&fake, "list_files", json!({"start": u64::MAX})).await), "No more files; there are 5.");
    assert_eq!(text(&call(&Fake { files: 0, ..Fake::default() }, "list_files", Value::Null).await), "No files.");
}

#[tokio::test]
async fn upload_stores_and_indexes_in_one_call() {
    let fake = Fake::default();
    let result = call(&fake, "upload_file", json!({"name": "notes.md", "text": "# Notes\n"})).await;
    let sync_id = "00000000-0000-0000-0000-000000000004";
    let expected = format!("Stored as notes.md (8 bytes); indexing run {sync_id} is queued.\nNext: once indexed");
    assert!(text(&result).starts_with(&expected), "{}", text(&result));
    let structured = &result["structuredContent"];
    assert_eq!(
        (&structured["name"], &structured["sync_id"], &structured["size"]),
        (&json!("notes.md"), &json!(sync_id), &json!(8))
    );
    call(&fake, "upload_file", json!({"filename": "notes", "content": "x"})).await;
    let stored = |name: &str, text: &str| Upload { name: name.to_owned(), text: text.to_owned() };
    assert_eq!(*fake.uploads.borrow(), [stored("notes.md", "# Notes\n"), stored("notes.md", "x")]);
    assert_eq!(*fake.begun.borrow(), ["presignFile", "presignFile"]);
}

#[tokio::test]
async fn upload_refuses_what_it_cannot_store() {
    let fake = Fake::default();
    for (arguments, field) in [
        (json!({"name": "a.pdf", "text": "x"}), "name"),
        (json!({"name": "a.md", "text": " \n"}), "text"),
        (json!({"name": "a.md", "text": "x".repeat(200_001)}), "text"),
        (json!({"name": "a.md"}), "text"),
        // Not ignored: the call may mean to keep an older file.
        (json!({"name": "a.md", "text": "x", "overwrite": false}), "overwrite"),
    ] {
        assert_eq!(failed(&fake, "upload_file", arguments).await["details"]["field"], field);
    }
    assert!(fake.uploads.borrow().is_empty());
    call(&fake, "upload_file", json!({"name": "a.md", "text": "x".repeat(200_000)})).await;
}
