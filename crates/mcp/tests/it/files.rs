use mcp::Upload;
use serde_json::{Value, json};

use crate::fake::{Fake, call, failed, text};
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
            assert_eq!(result["structuredContent"]["total"], files);
            let page = names(&result);
            let range = format!("Files {} to {} of {files}:", listed.len() + 1, listed.len() + page.len());
            assert!(text(&result).starts_with(&range), "{}", text(&result));
            listed.extend(page);
            pages += 1;
            let cursor = result["structuredContent"]["next_cursor"].clone();
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
    }
}

#[tokio::test]
async fn list_can_start_anywhere() {
    let fake = Fake { files: 5, ..Fake::default() };
    assert_eq!(names(&call(&fake, "list_files", json!({"start": 3})).await), ["file-3.txt", "file-4.txt"]);
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
