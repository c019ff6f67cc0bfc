use serde_json::{Value, json};

use super::{Example, REQUEST_ID, schema_url};

const SYNC_ID: &str = "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d";

pub(crate) fn presign_requests() -> Vec<Example> {
    vec![
        Example {
            name: "file",
            summary: "A PDF of 48,213 bytes",
            value: json!({"filename": "quarterly-report.pdf", "size": 48213}),
        },
        Example {
            name: "report",
            summary: "A PDF with its media type and labels",
            value: json!({"filename": "quarterly-report.pdf", "size": 48213, "content_type": "application/pdf", "labels": ["finance", "2026"]}),
        },
    ]
}

pub(crate) fn presign_response() -> Example {
    Example {
        name: "upload",
        summary: "The upload URL",
        value: json!({
            "$schema": schema_url("PresignResponse"),
            "request_id": REQUEST_ID,
            "name": "quarterly-report.pdf",
            "url": "https://storage.example.com/workspace/0190a6d2?X-Amz-Expires=900&X-Amz-Signature=4d1f",
            "expires_in_seconds": 900,
            "max_object_bytes": 104_857_600,
        }),
    }
}

pub(crate) fn list_response() -> Example {
    Example {
        name: "files",
        summary: "One file",
        value: json!({
            "$schema": schema_url("FileListResponse"),
            "request_id": REQUEST_ID,
            "files": [file()],
            "next_cursor": "ZnF1YXJ0ZXJseS1yZXBvcnQucGRmAJ9qtg",
        }),
    }
}

fn file() -> Value {
    json!({
        "name": "quarterly-report.pdf",
        "size": 48213,
        "last_modified": "2026-06-15T11:58:00Z",
        "doc_id": "6d1d1d3c-0f6b-5a53-9f6e-6f0d3c2b1a00",
        "status": "indexed",
        "indexed_at": "2026-06-15T12:00:07Z",
        "labels": ["finance", "2026"],
    })
}

pub(crate) fn file_response() -> Example {
    let mut value = file();
    value["$schema"] = json!(schema_url("FileResponse"));
    value["request_id"] = json!(REQUEST_ID);
    Example { name: "file", summary: "An indexed file", value }
}

pub(crate) fn content_response() -> Example {
    Example {
        name: "download",
        summary: "The download URL",
        value: json!({
            "$schema": schema_url("FileContentResponse"),
            "request_id": REQUEST_ID,
            "url": "https://storage.example.com/workspace/0190a6d2?X-Amz-Expires=900&X-Amz-Signature=5f2a",
            "expires_in_seconds": 900,
        }),
    }
}

pub(crate) fn run_files_response() -> Example {
    Example {
        name: "outcomes",
        summary: "A file that could not be read",
        value: json!({
            "$schema": schema_url("IndexFilesResponse"),
            "request_id": REQUEST_ID,
            "sync_id": SYNC_ID,
            "files": [{
                "name": "scan.pdf",
                "doc_id": "6d1d1d3c-0f6b-5a53-9f6e-6f0d3c2b1a01",
                "status": "failed",
                "reason": "needs_ocr: the document contains images of text only",
            }],
        }),
    }
}

pub(crate) fn delete_response() -> Example {
    Example {
        name: "deleted",
        summary: "The file is deleted",
        value: json!({"$schema": schema_url("FileDeleteResponse"), "request_id": REQUEST_ID, "deleted": true}),
    }
}

pub(crate) fn index_requests() -> Vec<Example> {
    vec![
        Example { name: "changes", summary: "New and changed files", value: json!({}) },
        Example { name: "everything", summary: "All files", value: json!({"mode": "full"}) },
    ]
}

pub(crate) fn index_response() -> Example {
    Example {
        name: "queued",
        summary: "The run is queued",
        value: json!({
            "$schema": schema_url("IndexStartResponse"),
            "request_id": REQUEST_ID,
            "sync_id": SYNC_ID,
            "state": "queued",
        }),
    }
}

pub(crate) fn status_response() -> Example {
    Example {
        name: "completed",
        summary: "A completed run",
        value: json!({
            "$schema": schema_url("IndexStatusResponse"),
            "request_id": REQUEST_ID,
            "sync_id": SYNC_ID,
            "state": "completed",
            "started_at": "2026-06-15T12:00:00Z",
            "completed_at": "2026-06-15T12:00:07Z",
            "error": null,
            "stats": {
                "enumerated": 12,
                "fetched": 3,
                "indexed": 2,
                "failed": 1,
                "skipped_unsupported": 0,
                "deleted": 0,
                "bytes": 310_442,
            },
        }),
    }
}
