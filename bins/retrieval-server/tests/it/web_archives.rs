//! Imports of web archives and compressed JSON lines.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::support::{Database, Server, lines};

on_both_databases!(
    archived_pages_are_searchable_and_readable,
    damage_affects_only_touched_records,
    format_is_detected_from_content,
);

fn report(read: u64, imported: u64, unchanged: u64, failed: u64) -> Value {
    json!({ "read": read, "imported": imported, "unchanged": unchanged, "failed": failed })
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn record(kind: &str, uri: &str, content_type: &str, block: &[u8]) -> Vec<u8> {
    let header = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\nWARC-Date: 2026-01-05T10:00:00Z\r\n\
         Content-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [header.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn response(uri: &str, header: &str, body: &[u8]) -> Vec<u8> {
    let block = [b"HTTP/1.1 ", header.as_bytes(), b"\r\n\r\n", body].concat();
    record("response", uri, "application/http; msgtype=response", &block)
}

fn html(word: &str) -> Vec<u8> {
    let page = format!(
        "<html lang=en><head><title>About the {word}</title></head><body><nav><a href=/>Start</a></nav><article>\
         <h1>The {word}</h1><p>The {word} lives in cold seas and eats what it finds on the ground, clams above all.</p>\
         <p>It rests on ice and swims for hours, which few of its relatives do for so long.</p></article></body></html>"
    );
    page.into_bytes()
}

/// Returns the members of a compressed archive, one per record, as crawlers write them.
fn archive() -> Vec<Vec<u8>> {
    let packed = gzip(&html("walrus"));
    let chunked = [format!("{:x}\r\n", packed.len()).as_bytes(), &packed, b"\r\n0\r\n\r\n"].concat();
    let coded = "200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip";
    let cyrillic = b"<title>\xcc\xee\xf0\xe6</title><p>\xcc\xee\xf0\xe6 \xe6\xe8\xe2\xb8\xf2 \xed\xe0 \xf1\xe5\xe2\xe5\xf0\xe5.</p>";
    let records = [
        record("warcinfo", "", "application/warc-fields", b"software: test\r\n"),
        record("request", "https://example.com/walrus", "application/http; msgtype=request", b"GET / HTTP/1.1\r\n\r\n"),
        response("<https://example.com/walrus>", coded, &chunked),
        response("https://example.com/gone", "404 Not Found\r\nContent-Type: text/html", &html("gone")),
        response("https://example.com/logo", "200 OK\r\nContent-Type: image/png", b"\x89PNG\r\n\x1a\n"),
        response("https://example.com/ru", "200 OK\r\nContent-Type: text/html; charset=windows-1251", cyrillic),
        record(
            "resource",
            "https://example.com/notes.txt",
            "text/plain",
            b"Seals are related to the narwhal by ice alone.",
        ),
    ];
    records.iter().map(|record| gzip(record)).collect()
}

fn archived_pages_are_searchable_and_readable(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let path = server.settings_file().with_file_name("crawl.bin");
    std::fs::write(&path, archive().concat()).unwrap();
    let imported = server.command(&["web", "import", path.to_str().unwrap(), "--format", "warc"]);
    assert_eq!((imported.object(), imported.stderr.as_str()), (report(3, 3, 0, 0), ""));

    let found = client.search_web("which animal eats clams in cold seas");
    let top = &found["results"][0];
    assert_eq!(top["canonical_url"], "https://example.com/walrus");
    assert_eq!(top["title"], "About the walrus");
    assert_eq!(top["metadata"]["last_crawled_at"], "2026-01-05T10:00:00Z");
    let read = client.document(json!({ "doc_id": top["doc_id"] })).ok();
    let text = read["content"]["text"].as_str().unwrap();
    assert!(text.contains("swims for hours") && !text.contains("Start"), "main content only: {text}");
    assert_eq!(client.search_web("морж на севере")["results"][0]["canonical_url"], "https://example.com/ru");
    assert_eq!(client.search_web("narwhal")["results"][0]["canonical_url"], "https://example.com/notes.txt");
    assert_eq!(client.search_web("gone")["results"].as_array().unwrap().len(), 0, "error responses are not imported");

    let again = server.command(&["web", "import", path.to_str().unwrap()]);
    assert_eq!(again.object(), report(3, 0, 3, 0));
}

fn damage_affects_only_touched_records(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let mut members = archive();
    let middle = members[5].len() / 2;
    members[5][middle] ^= 0x55;
    members.insert(3, b"some bytes that are no record".to_vec());
    members.push(gzip(&response("https://example.com/seal", "200 OK\r\nContent-Type: text/html", &html("seal"))));
    let mut broken = members.concat();
    let coded = "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip";
    broken.extend(gzip(&response("https://example.com/bad", coded, b"\x1f\x8b\x08\0\0\0")));
    let last = gzip(&response("https://example.com/cut", "200 OK\r\nContent-Type: text/html", &html("cut")));
    broken.extend_from_slice(&last[..last.len() / 2]);

    let path = server.settings_file().with_file_name("broken.warc.gz");
    std::fs::write(&path, &broken).unwrap();
    let imported = server.command(&["web", "import", path.to_str().unwrap()]);
    let counts = imported.object();
    assert_eq!(counts["imported"], 3, "{counts} {}", imported.stderr);
    assert_eq!(counts["read"], 3 + counts["failed"].as_u64().unwrap());
    assert_eq!(counts["failed"], 4, "{}", imported.stderr);
    assert_eq!(imported.stderr.lines().filter(|line| line.starts_with("record ")).count(), 4, "{}", imported.stderr);
    let offset = members[..3].iter().map(Vec::len).sum::<usize>();
    assert!(imported.stderr.contains(&format!("(offset {offset}): ")), "{}", imported.stderr);
    let found = client.search_web("seal");
    assert_eq!(found["results"][0]["canonical_url"], "https://example.com/seal", "after the damage");

    // An uncompressed record with a length beyond the end of the input.
    let lie = "WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 4294967296\r\n\r\nshort\r\n\r\n";
    let plain =
        [lie.as_bytes(), &response("https://example.com/orca", "200 OK\r\nContent-Type: text/html", &html("orca"))];
    let imported = server.command_with_input(&["web", "import", "-"], plain.concat());
    assert_eq!(imported.object(), report(2, 1, 0, 1));
    assert!(imported.stderr.starts_with("record 1 (offset 0): "), "{}", imported.stderr);
    let nothing = server.command_with_input(&["web", "import", "-", "--format", "warc"], "no archive");
    assert_eq!(nothing.code(), Some(1), "{nothing:#?}");
    assert_eq!(serde_json::from_str::<Value>(&nothing.stdout).unwrap(), report(1, 0, 0, 1));
}

fn format_is_detected_from_content(database: Database) {
    let server = Server::start(database);
    let page = |n: usize| json!({ "url": format!("https://example.com/{n}"), "text": format!("Page {n}.") });
    let import = |input: Vec<u8>| server.command_with_input(&["web", "import", "-"], input).object();
    assert_eq!(import(lines(&[page(1), page(2)]).into_bytes()), report(2, 2, 0, 0));
    let members = [gzip(lines(&[page(2)]).as_bytes()), gzip(lines(&[page(3)]).as_bytes())];
    assert_eq!(import(members.concat()), report(2, 1, 1, 0), "compressed lines, two members");
    let plain = response("https://example.com/w", "200 OK\r\nContent-Type: text/plain", b"A page about walruses.");
    assert_eq!(import(plain.clone()), report(1, 1, 0, 0));
    assert_eq!(import(gzip(&[plain.clone(), plain].concat())), report(2, 0, 2, 0), "one member with both records");
}
