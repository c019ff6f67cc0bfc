//! Presigned uploads: exact size, single use, interruption, quota.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Client, Database, Server, put, put_chunked, until};

on_both_databases!(
    browsers_may_upload_from_any_page,
    upload_of_another_size_is_refused,
    presigned_url_is_single_use,
    interrupted_upload_stores_nothing,
    file_quota_is_enforced
);

fn presigned_url(client: &Client, name: &str, size: usize) -> String {
    client.presign(name, size).ok()["url"].as_str().unwrap().to_owned()
}

/// Sends a request without a body from a page of another origin, and returns the response in lower case.
fn from_page(url: &str, method: &str, headers: &str) -> String {
    let (address, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let origin = "Origin: http://console.example:8080";
    write!(stream, "{method} /{path} HTTP/1.1\r\nHost: {address}\r\n{origin}\r\n{headers}Connection: close\r\n\r\n")
        .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.to_lowercase()
}

fn browsers_may_upload_from_any_page(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let url = presigned_url(&client, "a.txt", 0);
    let preflight = "Access-Control-Request-Method: PUT\r\nAccess-Control-Request-Headers: content-type\r\n";
    let permitted = from_page(&url, "OPTIONS", preflight);
    assert!(permitted.starts_with("http/1.1 204"), "{permitted}");
    for header in ["allow-origin: *", "allow-methods: put", "allow-headers: content-type"] {
        assert!(permitted.contains(&format!("access-control-{header}")), "{permitted}");
    }
    // Neither other methods nor unsigned addresses are for pages.
    let unsigned = url.split('?').next().unwrap();
    let delete = preflight.replace("PUT", "DELETE");
    for (target, headers) in [(url.as_str(), delete.as_str()), (unsigned, preflight)] {
        let refused = from_page(target, "OPTIONS", headers);
        assert!(refused.starts_with("http/1.1 403") && !refused.contains("allow-origin"), "{refused}");
    }
    let console = client.get("/console/");
    let policy = console.header("content-security-policy").unwrap();
    assert!(policy.contains(&format!("connect-src 'self' http://{};", server.storage_address())), "{policy}");
    let stored = from_page(&url, "PUT", "Content-Length: 0\r\n");
    assert!(stored.starts_with("http/1.1 200") && stored.contains("access-control-allow-origin: *"), "{stored}");
}

fn upload_of_another_size_is_refused(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let presigned = client.presign("a.txt", 10);
    let presigned = presigned.ok();
    assert_eq!(presigned["expires_in_seconds"], 900);
    assert_eq!(presigned["max_object_bytes"], 104_857_600);
    let url = presigned["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("http://{}/", server.storage_address())), "{url}");

    assert_eq!(put(url, b"shorter").status, 403);
    assert_eq!(put(url, b"longer than it said").status, 403);
    assert_eq!(put(url, b"").status, 403);
    assert_eq!(put_chunked(url, b"shorter").status, 403);
    assert_eq!(put_chunked(url, b"longer than it said").status, 403);
    assert_eq!(put(&url.replace("X-Amz-Expires=900", "X-Amz-Expires=901"), b"ten bytes.").status, 403);
    assert_eq!(client.file_names(), [] as [&str; 0]);
    assert_eq!(client.index()["stats"]["enumerated"], 0);

    // Refused uploads do not consume the URL.
    assert_eq!(put(url, b"ten bytes.").status, 200);
    assert_eq!(client.file_names(), ["a.txt"]);
    let empty = presigned_url(&client, "empty.txt", 0);
    assert_eq!(put(&empty, b"x").status, 403);
    assert_eq!(put(&empty, b"").status, 200);
    assert_eq!(client.file_names(), ["a.txt", "empty.txt"]);
}

fn presigned_url_is_single_use(database: Database) {
    let mut server = Server::start(database);
    let client = server.tenant("acme");
    let url = presigned_url(&client, "a.txt", 6);
    assert_eq!(put(&url, b"first.").status, 200);
    assert_eq!(put(&url, b"again.").status, 403);
    assert_eq!(client.delete("/v1/files/a.txt").ok()["deleted"], true);
    assert_eq!(put(&url, b"again.").status, 403, "a deleted file does not reappear");
    // A restart keeps used and unused URLs as they are.
    let unused = presigned_url(&client, "b.txt", 6);
    server.kill();
    server.resume();
    assert_eq!(put(&url, b"again.").status, 403);
    assert_eq!(put(&unused, b"first.").status, 200);
    // A URL is valid for one method only.
    let other = presigned_url(&client, "c.txt", 6);
    assert_eq!(raw_status("GET", &other), 403);
    assert_eq!(raw_status("DELETE", &other), 403);
    assert_eq!(client.file_names(), ["b.txt"]);
}

fn raw_status(method: &str, url: &str) -> u16 {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

fn interrupted_upload_stores_nothing(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    client.upload("a.txt", "The walrus eats clams.");
    client.index();
    let url = presigned_url(&client, "a.txt", 1_000_000);
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "PUT /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000000\r\n\r\n").unwrap();
    stream.write_all(&[b'x'; 300_000]).unwrap();
    stream.shutdown(Shutdown::Both).unwrap();

    let size = |files: Value| files["files"][0]["size"].as_u64();
    assert_eq!(size(client.get("/v1/files").ok()), Some(22), "the previous file is kept");
    let run = client.index();
    assert_eq!((&run["stats"]["enumerated"], &run["stats"]["fetched"]), (&1.into(), &0.into()));
    assert_eq!(client.search_workspace("walrus")["results"].as_array().unwrap().len(), 1);
    // The URL accepts the whole file once the server has noticed the disconnect.
    let whole = vec![b'y'; 1_000_000];
    until("the URL accepts the whole file", Duration::from_secs(10), || {
        (put(&url, &whole).status == 200).then_some(())
    });
    assert_eq!(size(client.get("/v1/files").ok()), Some(1_000_000));
}

fn file_quota_is_enforced(database: Database) {
    let server = Server::start_with(database, "[files]\nmax_per_organization = 3\n");
    let (full, other) = (server.tenant("full"), server.tenant("other"));
    for name in ["a.txt", "b.txt", "c.txt"] {
        full.upload(name, "some text");
    }
    let refused = |name: &str| {
        let error = full.presign(name, 9).error(507, "quota_exceeded");
        assert_eq!((&error["details"]["quota"], &error["details"]["limit"]), (&"files".into(), &3.into()));
    };
    refused("d.txt");
    // Replacing a file is allowed, and other organizations have their own quota.
    full.upload("a.txt", "other text");
    other.upload("d.txt", "some text");
    assert_eq!(full.delete("/v1/files/b.txt").ok()["deleted"], true);
    full.upload("d.txt", "some text");
    refused("e.txt");
    refused("b.txt");
}
