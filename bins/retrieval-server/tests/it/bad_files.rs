//! Damaged, mislabelled, unsupported and oversized files.

use serde_json::json;

use crate::support::{Database, Server, files};

on_both_databases!(bad_file_does_not_fail_others, presign_refuses_unsupported_and_oversized_files);

fn bad_file_does_not_fail_others(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let mut truncated_pdf = files::pdf("The walrus eats clams.");
    truncated_pdf.truncate(120);
    let mut damaged_docx = files::docx("The walrus eats clams.");
    let middle = damaged_docx.len() / 3;
    damaged_docx[middle..middle + 200].fill(0xff);
    let bad = [
        ("image.pdf", files::PNG.to_vec()),
        ("encrypted.pdf", files::encrypted_pdf("The walrus eats clams.")),
        ("half.pdf", truncated_pdf),
        ("noise.docx", files::noise(4_000)),
        ("damaged.docx", damaged_docx),
        ("binary.txt", files::noise(4_000)),
        ("image.md", files::PNG.to_vec()),
        ("program.csv", [b"\x7fELF\x02\x01\x01\0", files::noise(500).as_slice()].concat()),
        ("pages.html", files::docx("The walrus eats clams.")),
    ];
    for (name, bytes) in &bad {
        client.upload(name, bytes);
    }
    client.upload("good.txt", "The observatory opens after sunset.");
    client.upload("good.pdf", files::pdf("The observatory closes at dawn."));

    let run = client.index();
    assert_eq!((&run["state"], &run["error"]), (&"completed".into(), &json!(null)), "{run:#}");
    let stats = &run["stats"];
    assert_eq!(stats["enumerated"], bad.len() + 2, "{run:#}");
    assert_eq!((&stats["failed"], &stats["indexed"]), (&bad.len().into(), &2.into()), "{run:#}");
    assert_eq!(client.search_workspace("observatory")["integration_results"]["total"], 2);
    assert_eq!(client.search_workspace("walrus")["results"], json!([]));
    assert_eq!(client.file_names().len(), bad.len() + 2, "failed files are listed, so that they can be deleted");

    let shown = server.command(&["admin", "run", "show", run["sync_id"].as_str().unwrap()]).lines();
    let reason = |name: &str| {
        let line = shown.iter().find(|line| line["name"] == name).unwrap_or_else(|| panic!("{name} in {shown:#?}"));
        (line["outcome"].as_str().unwrap().to_owned(), line["reason"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(shown.len(), bad.len() + 2);
    assert_eq!(reason("good.txt"), ("indexed".to_owned(), String::new()));
    for (name, expected) in [("image.pdf", "wrong_type"), ("encrypted.pdf", "encrypted"), ("half.pdf", "corrupt")] {
        let (outcome, reason) = reason(name);
        assert!(outcome == "failed" && reason.starts_with(expected), "{name}: {reason}");
    }
    let unknown = server.command(&["admin", "run", "show", &client.organization.to_string()]);
    assert!(unknown.code() == Some(1) && unknown.stderr.contains("there is no run"), "id of another object");

    // Failed files are not retried until they change. A good version replaces a bad one and the reverse.
    assert_eq!(client.index()["stats"]["fetched"], 0);
    client.upload("image.pdf", files::pdf("The walrus sleeps."));
    client.upload("good.txt", files::noise(300));
    let run = client.index();
    assert_eq!((&run["stats"]["indexed"], &run["stats"]["failed"]), (&1.into(), &1.into()), "{run:#}");
    assert_eq!(client.search_workspace("walrus sleeps")["integration_results"]["total"], 1);
    assert_eq!(client.search_workspace("observatory")["integration_results"]["total"], 1);
}

fn presign_refuses_unsupported_and_oversized_files(database: Database) {
    let server = Server::start_with(database, "[files]\nmax_object_bytes = 1000\n");
    let client = server.tenant("acme");
    for name in ["tool.exe", "archive.zip", "noextension", "photo.png", "dot.", "a.txt.gz", "文書"] {
        let error = client.presign(name, 10).error(415, "unsupported_file_type");
        assert_eq!(error["details"]["field"], "filename");
    }
    let fits = client.presign("a.TXT", 1_000).ok();
    assert_eq!(fits["max_object_bytes"], 1_000);
    let error = client.presign("a.txt", 1_001).error(413, "file_too_large");
    assert_eq!(error["details"]["max_object_bytes"], 1_000);
    let huge = json!({ "filename": "a.txt", "size": i64::MAX });
    client.post("/v1/files/presign", &huge).error(413, "file_too_large");
    for (field, value) in [
        ("size", json!(-1)),
        ("size", json!(1.5)),
        ("size", json!("10")),
        ("filename", json!("")),
        ("filename", json!("x".repeat(513))),
        ("filename", json!("...")),
        ("filename", json!("/\u{7}\\")),
        ("filename", json!(null)),
        ("content_type", json!("x".repeat(256))),
    ] {
        let mut body = json!({ "filename": "a.txt", "size": 10, "content_type": "text/plain" });
        body[field] = value;
        let error = client.post("/v1/files/presign", &body).error(400, "validation_error");
        assert_eq!(error["details"]["field"], field, "{error:#}");
    }
    assert_eq!(client.file_names(), [] as [&str; 0]);
}
